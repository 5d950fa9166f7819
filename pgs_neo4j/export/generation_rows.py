"""Writes the figures of a generation in words: its origin, and the quality of its partitions.

The terminal and notebooks show the same labels and texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from pgs_neo4j.model import Generation, Origin
from pgs_neo4j.text.shown import counted, one_line, percent, seconds

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)  # smallest, quartiles, largest
_PLURAL = re.compile(r"(\w)s\b")  # The first match is the counted noun.
ORIGINS: dict[Origin, str] = {
    "cold": "from scratch",
    "seeded": "grown from the previous generation",
    "refreshed": "refreshed where texts changed",
}


def generation_rows(generation: Generation) -> list[tuple[str, str]]:
    """Return all figures of a generation, as labels and texts."""
    relationships = counted(generation.relationship_count, "relationship")
    steps = ", ".join(f"{name} {seconds(took)}" for name, took in generation.seconds.items())
    rows = [
        ("graph", f"{one_line(generation.graph)}, generation {one_line(generation.id)}"),
        ("made", f"{_format_time(generation.created_at)}, {origin(generation)}"),
        ("holds", f"{counted(generation.node_count, 'node')}, {relationships}"),
        ("partitions", f"{generation.partition_count:,}, {_word_pools(generation)}"),
        ("sizes", _word_sizes(generation)),
        ("largest", f"{percent(generation.largest_fraction)} of the nodes"),
        ("limits", _word_limits(generation)),
        (
            "modularity",
            f"{generation.modularity:.3f}, {generation.raw_modularity:.3f} before the limits",
        ),
        *_make_document_rows(generation),
        ("conductance", f"{generation.conductance:.3g} on average"),
        ("hierarchy", _word_levels(generation)),
        ("took", f"{seconds(sum(generation.seconds.values()))}: {steps}" if steps else "-"),
    ]
    if generation.issues:
        rows.append(("noticed", list_issues(generation.issues)))
    return rows


def list_issues(issues: Mapping[str, int]) -> str:
    """Return counts of irregularities in words: ``1 self-loop, 3 nodes without text``."""
    return ", ".join(_count_issue(name, count) for name, count in issues.items())


def _count_issue(name: str, count: int) -> str:
    many = name.replace("_", " ").replace("self loops", "self-loops")
    one = _PLURAL.sub(r"\1", many, count=1)
    return counted(count, one, many)


def _make_document_rows(generation: Generation) -> list[tuple[str, str]]:
    """Return the share of passages in the partition with most passages of their document.

    The result is a list with one pair of label and text. It is empty if the graph has no documents.
    """
    if generation.documents_together is None:
        return []
    share = percent(generation.documents_together)
    return [("documents", f"{share} of the passages are where most of their document is")]


def origin(generation: Generation) -> str:
    """Describe the origin of a generation: ``from scratch by leiden-louvain``."""
    by = "" if generation.origin == "refreshed" else f" by {generation.algorithm}"
    return f"{ORIGINS[generation.origin]}{by}"


def quantiles(generation: Generation) -> tuple[float, ...]:
    """Return the smallest size, the quartiles, and the largest size; all 0 without partitions."""
    return tuple(float(size) for size in np.quantile(generation.sizes or (0,), QUANTILES))


def _word_pools(generation: Generation) -> str:
    if not generation.pooled_nodes:
        return "no pool"
    nodes = counted(generation.pooled_nodes, "node")
    return f"{counted(generation.pools, 'pool')} of {nodes} that no relationship places"


def _word_limits(generation: Generation) -> str:
    if not generation.split and not generation.merged:
        return "every community was within them"
    return f"{generation.split:,} too large and split, {generation.merged:,} too small and merged"


def _word_sizes(generation: Generation) -> str:
    least, low, middle, high, most = (f"{size:,.0f}" for size in quantiles(generation))
    return f"{least} to {most} nodes, median {middle}, quartiles {low} and {high}"


def _word_levels(generation: Generation) -> str:
    if not generation.levels:
        return "none above the partitions"
    first, *further = (counted(units, "unit") for units in generation.levels)
    return ", ".join([f"{first} above the partitions", *(f"then {units}" for units in further)])


def _format_time(at: str) -> str:
    return f"{at[:19].replace('T', ' ')} UTC"
