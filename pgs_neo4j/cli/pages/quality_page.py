"""The quality report of a generation, on one screen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgs_neo4j.cli import output
from pgs_neo4j.cli.pages.text import labeled
from pgs_neo4j.export.rows.generation import generation_rows
from pgs_neo4j.model import Generation

COLUMN = 14  # columns of the labels on the left
LONGEST_BAR = 40
EIGHTHS = " ▏▎▍▌▋▊▉"
STEPS = (1, 2, 5)  # of each decade, where bins begin


@dataclass(frozen=True, slots=True)
class Bin:
    """How many partitions have ``first`` to ``last`` nodes, both included."""

    first: int
    last: int
    partitions: int


def histogram(sizes: Sequence[int]) -> tuple[Bin, ...]:
    """Count sizes in bins from 1, 2, 5, 10, 20, …, ascending."""
    if not sizes:
        return ()
    edges = [step * 10**power for power in range(len(str(max(sizes))) + 1) for step in STEPS]
    counts, _ = np.histogram(sizes, edges)
    filled = np.flatnonzero(counts)
    return tuple(
        Bin(edges[at], edges[at + 1] - 1, int(counts[at]))
        for at in range(int(filled[0]), int(filled[-1]) + 1)
    )


def report(generation: Generation, width: int, *, blocks: bool) -> list[str]:
    """Return all figures, with sizes as bars of block characters or ``#``."""
    lines = [
        line
        for label, text in generation_rows(generation)
        for line in labeled(label, text, width, COLUMN)
    ]
    return [*lines, "", *bars(histogram(generation.sizes), width, blocks=blocks)]


def can_show_blocks() -> bool:
    """Whether stdout is a terminal that shows more than ASCII."""
    return output.is_terminal(sys.stdout) and "utf" in (sys.stdout.encoding or "").lower()


def bars(bins: Sequence[Bin], width: int, *, blocks: bool) -> list[str]:
    """Return the bins as rows with bars.

    A bin that is not empty gets a bar of at least one mark.
    """
    names = [f"{each.first:,} to {each.last:,}" for each in bins]
    room = max(map(len, ("nodes", *names)))
    longest = min(LONGEST_BAR, width - room - len("partitions") - 4)
    most = max((each.partitions for each in bins), default=0)
    rows = [f"{'nodes':>{room}}  partitions"]
    for name, each in zip(names, bins, strict=True):
        drawn = bar(each.partitions / most, longest, blocks=blocks)
        rows.append(f"{name:>{room}}  {each.partitions:>10,}  {drawn}".rstrip())
    return rows


def bar(share: float, longest: int, *, blocks: bool) -> str:
    """Return a bar of ``share`` (0 to 1) of ``longest`` columns."""
    if share <= 0:
        return ""
    if not blocks:
        return "#" * max(round(share * longest), 1)
    whole, part = divmod(max(round(share * longest * 8), 1), 8)
    return ("█" * whole + EIGHTHS[part]).rstrip()
