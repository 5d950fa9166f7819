"""The quality report of a generation, on one screen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgs_neo4j.cli import output
from pgs_neo4j.cli.pages.drift_words import origin
from pgs_neo4j.cli.pages.text import labeled
from pgs_neo4j.model import Generation
from pgs_neo4j.text.shown import counted, one_line, percent, seconds

COLUMN = 14  # columns of the labels on the left
LONGEST_BAR = 40
QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)  # smallest, quartiles, largest
EIGHTHS = " ▏▎▍▌▋▊▉"
STEPS = (1, 2, 5)  # of each decade, where bins begin


@dataclass(frozen=True, slots=True)
class Bin:
    """How many partitions have ``first`` to ``last`` nodes, both included."""

    first: int
    last: int
    partitions: int


def quantiles(generation: Generation) -> tuple[float, ...]:
    """Return the smallest size, quartiles, and largest; zeros without partitions."""
    return tuple(float(size) for size in np.quantile(generation.sizes or (0,), QUANTILES))


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
        line for label, text in _rows(generation) for line in labeled(label, text, width, COLUMN)
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


def _rows(generation: Generation) -> list[tuple[str, str]]:
    relationships = counted(generation.relationship_count, "relationship")
    rows = [
        ("graph", f"{one_line(generation.graph)}, generation {generation.id}"),
        ("made", f"{_clock(generation.created_at)}, {origin(generation)}"),
        ("holds", f"{counted(generation.node_count, 'node')}, {relationships}"),
        ("partitions", f"{generation.partition_count:,}, {_pools(generation)}"),
        ("sizes", _sizes(generation)),
        ("largest", f"{percent(generation.largest_fraction)} of the nodes"),
    ]
    if generation.settings:
        rows += _measured(generation)
    else:
        rows.append(("modularity", f"{generation.modularity:.3f}"))
        rows.append(("the rest", "not recorded by the older release that made it"))
    if generation.issues:
        listed = (
            f"{count:,} {name.replace('_', ' ')}" for name, count in generation.issues.items()
        )
        rows.append(("noticed", ", ".join(listed)))
    return rows


def _measured(generation: Generation) -> list[tuple[str, str]]:
    """Return the figures that older releases did not record."""
    steps = ", ".join(f"{name} {seconds(took)}" for name, took in generation.seconds.items())
    return [
        ("limits", _limits(generation)),
        (
            "modularity",
            f"{generation.modularity:.3f}, {generation.raw_modularity:.3f} before the limits",
        ),
        ("conductance", f"{generation.conductance:.3g} on average"),
        ("hierarchy", _levels(generation)),
        ("took", f"{seconds(sum(generation.seconds.values()))}: {steps}" if steps else "-"),
    ]


def _pools(generation: Generation) -> str:
    if not generation.pooled_nodes:
        return "no pool"
    pools = f"{counted(generation.pools, 'pool')} of " if generation.settings else "pools of "
    return f"{pools}{counted(generation.pooled_nodes, 'node')} that no relationship places"


def _limits(generation: Generation) -> str:
    if not generation.split and not generation.merged:
        return "every community was within them"
    return f"{generation.split:,} too large and split, {generation.merged:,} too small and merged"


def _sizes(generation: Generation) -> str:
    least, low, middle, high, most = (f"{size:,.0f}" for size in quantiles(generation))
    return f"{least} to {most} nodes, median {middle}, quartiles {low} and {high}"


def _levels(generation: Generation) -> str:
    if not generation.levels:
        return "none above the partitions"
    first, *further = (counted(units, "unit") for units in generation.levels)
    return ", ".join([f"{first} above the partitions", *(f"then {units}" for units in further)])


def _clock(at: str) -> str:
    return f"{at[:19].replace('T', ' ')} UTC"
