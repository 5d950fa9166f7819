"""Describe partitions in words: how they were made, their quality, and the drift of their graph.

`pgs partition`, `pgs partitions --report`, and `pgs partitions --check` print these lines.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pgs_neo4j.cli import output
from pgs_neo4j.cli.pages.text import labeled, labeled_rows
from pgs_neo4j.export.generation_rows import generation_rows, list_issues, origin
from pgs_neo4j.model import Drift, Generation, Origin
from pgs_neo4j.text.commands import shell_word
from pgs_neo4j.text.shown import counted, one_line, percent, seconds

if TYPE_CHECKING:
    from pgs_neo4j.engine import Partitioning


COLUMN = 14  # columns of the labels on the left
DRIFT_COLUMN = 17  # columns of the labels in a drift check
LONGEST_BAR = 40
EIGHTHS = " ▏▎▍▌▋▊▉"
STEPS = (1, 2, 5)  # bins begin at these multiples of each power of ten
OUTLOOK: dict[Origin | None, str] = {
    None: "these partitions are used as they are",
    "refreshed": "the partitions stay; those affected get new descriptions",
    "seeded": "new partitions grow from these",
    "cold": "new partitions are made from scratch",
}


def describe(partitioning: Partitioning) -> list[str]:
    """Return the result of `pgs partition` in a few lines."""
    generation = partitioning.generation
    how = "unchanged, reused" if partitioning.reused else origin(generation)
    lines = [
        f"{generation.graph}: {counted(generation.partition_count, 'partition')} of "
        f"{counted(generation.node_count, 'node')} and "
        f"{counted(generation.relationship_count, 'relationship')}, {how}, "
        f"{seconds(partitioning.seconds)}",
        f"modularity {generation.modularity:.3f}, the largest holds "
        f"{percent(generation.largest_fraction)} of the nodes, "
        f"{generation.pooled_nodes:,} are pooled",
    ]
    if generation.documents_together is not None:
        lines.append(
            f"{percent(generation.documents_together)} of the passages are in the partition that "
            "holds most of their document"
        )
    if partitioning.drift is not None and not partitioning.reused:
        lines.append(drift_line(partitioning.drift))
    if generation.issues:
        lines.append(f"noticed: {list_issues(generation.issues)}")
    return lines


def report(generation: Generation, width: int, *, blocks: bool) -> list[str]:
    """Return all figures of a generation, and its sizes as bars.

    ``blocks`` draws the bars with block characters instead of ``#``.
    """
    lines = [
        line
        for label, text in generation_rows(generation)
        for line in labeled(label, text, width, COLUMN)
    ]
    return [*lines, "", *bars(histogram(generation.sizes), width, blocks=blocks)]


@dataclass(frozen=True, slots=True)
class Bin:
    """A histogram bin: the number of partitions with ``first`` to ``last`` nodes, inclusive."""

    first: int
    last: int
    partitions: int


def histogram(sizes: Sequence[int]) -> tuple[Bin, ...]:
    """Count sizes in ascending bins that begin at 1, 2, 5, 10, 20, ….

    Empty bins appear only between filled ones.
    """
    if not sizes:
        return ()
    edges = [step * 10**power for power in range(len(str(max(sizes))) + 1) for step in STEPS]
    counts, _ = np.histogram(sizes, edges)
    filled = np.flatnonzero(counts)
    return tuple(
        Bin(edges[at], edges[at + 1] - 1, int(counts[at]))
        for at in range(int(filled[0]), int(filled[-1]) + 1)
    )


def can_show_blocks() -> bool:
    """Return whether stdout is a terminal that shows more than ASCII."""
    return output.is_terminal(sys.stdout) and "utf" in (sys.stdout.encoding or "").lower()


def bars(bins: Sequence[Bin], width: int, *, blocks: bool) -> list[str]:
    """Return a heading and a row with a bar per bin; only an empty bin has no bar."""
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
    """Return a bar that fills ``share`` (0 to 1) of ``longest`` columns."""
    if share <= 0:
        return ""
    if not blocks:
        return "#" * max(round(share * longest), 1)
    whole, part = divmod(max(round(share * longest * 8), 1), 8)
    return ("█" * whole + EIGHTHS[part]).rstrip()


def drift_line(moved: Drift) -> str:
    """Return the drift in one line: ``drift 3 %: 5 texts changed``."""
    return f"drift {percent(moved.fraction)}: {', '.join(changes(moved)) or 'nothing changed'}"


def changes(moved: Drift) -> list[str]:
    """Return a few words for each kind of change; empty if nothing changed."""
    about = counted(moved.relationships_changed, "relationship")
    listed = (
        (moved.settings_changed, "the settings or the mapping changed"),
        (moved.nodes_added, f"{counted(moved.nodes_added, 'node')} added"),
        (moved.nodes_removed, f"{counted(moved.nodes_removed, 'node')} removed"),
        (moved.texts_changed, f"{counted(moved.texts_changed, 'text')} changed"),
        (
            moved.facts_changed,
            f"{counted(moved.facts_changed, 'node')} with another weight or embedding",
        ),
        (moved.relationships_changed, f"about {about} changed"),
    )
    return [words for happened, words in listed if happened]


def check_lines(graph: str, moved: Drift | None, outlook: Origin | None, width: int) -> list[str]:
    """Return the result of a drift check as lines; ``moved`` is None before the first generation.

    ``outlook`` says how the next generation would be built, and is None if none is needed.
    """
    name = one_line(graph)
    if moved is None:
        return [
            f"graph {name} is not partitioned yet, so there is nothing to compare it with; "
            f"'pgs partition --graph {shell_word(name)}' makes the first partitions"
        ]
    rows = [("graph", name), ("committed since", _commit_text(moved))]
    rows += _scan_rows(moved) if moved.committed else []
    settings = "the settings or the mapping changed" if moved.settings_changed else "unchanged"
    rows.append(("settings", settings))
    rows.append(("drift", percent(moved.fraction) if moved.changed else "none"))
    rows.append(("next time", OUTLOOK[outlook]))
    return labeled_rows(rows, width, DRIFT_COLUMN)


def _commit_text(moved: Drift) -> str:
    if not moved.committed:
        return "nothing by any other client, so the graph was not scanned"
    return "something by another client, so the graph was scanned"


def _scan_rows(moved: Drift) -> list[tuple[str, str]]:
    relationships = f"{moved.relationships_changed:,} changed"
    if moved.relationships_changed:
        relationships = f"about {relationships}"
    nodes = f"{moved.nodes_added:,} added, {moved.nodes_removed:,} removed"
    return [
        ("nodes", f"{nodes}, {moved.nodes:,} now"),
        ("texts", f"{moved.texts_changed:,} changed"),
        ("weights", f"{counted(moved.facts_changed, 'node')} with another weight or embedding"),
        ("relationships", f"{relationships}, {moved.relationships:,} now"),
    ]
