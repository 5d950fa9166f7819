"""Scans the mapped view of the user's graph, and computes its fingerprint.

Nodes and relationships leave the database as lists, in portions of a bounded size. Texts are
hashed and measured as they arrive and not stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import EmptyGraphError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.graph.hashes import digest, total
from pgs_neo4j.graph.sketch import sketch
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.scan import (
    Nodes,
    Relationships,
    node_hashes,
    read_ids,
    read_passages,
    restrict,
    scan_nodes,
    scan_relationships,
)

# Limits of a positive weight, the same as in the projection. GDS fails far outside of them.
MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e12
# Issues that GDS would treat differently if it read the relationships itself. A view with such an
# issue must be projected by a statement.
UNCLEAN = (
    "self_loops",
    "relationships_without_weight",
    "negative_relationship_weights",
    "zero_relationship_weights",
    "huge_relationship_weights",
)

TORN = "partitions_in_pieces"
"""The issue of partitions whose nodes are not all connected. A view alone cannot show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A scan of the user's graph.

    Node arrays are ``(n,)``, in ascending order of internal ids. ``sizes`` approximate the
    characters of each text. ``text_hash`` is a hash of the text, and ``facts`` a hash of weight and
    embedding. ``passage`` marks the passages that the mapping names. Relationship arrays are
    ``(m,)``. ``source`` and ``target`` are positions of nodes. ``weight`` is the stored weight, or
    NaN if the stored value is not a number. ``type`` is a hash of the type's name. ``sketch``
    summarizes the relationships, and ``issues`` counts irregularities.
    """

    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    node_weight: NDArray[np.float64]
    tokens: NDArray[np.int64]
    text_hash: NDArray[np.int64]
    facts: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]
    dimensions: dict[int, int]
    sketch: NDArray[np.int64]
    content_hash: str
    issues: dict[str, int] = field(default_factory=dict)
    type: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    passage: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))

    @property
    def embedding_dimensions(self) -> int | None:
        """The most frequent vector length, the longer one at a tie; None without vectors."""
        lengths = [(count, size) for size, count in self.dimensions.items() if size]
        return max(lengths)[1] if lengths else None

    @property
    def clean(self) -> bool:
        """Whether GDS may read the relationships itself.

        It may if all weights are usable, and there are no self-loops.
        """
        return not any(name in self.issues for name in UNCLEAN)

    def fingerprint(self, settings: str) -> str:
        """Return a hash of content and settings. It stays the same until one of them changes."""
        return digest([self.content_hash, settings])


async def scan(db: Database, mapping: GraphMapping, on_event: OnEvent) -> View:
    """Read the nodes and relationships of a view once, in any order of rows.

    A node that vanishes during the scan counts as if it had never existed.
    """
    ids, sizes = await read_ids(db, mapping)
    passages = await read_passages(db, mapping)
    nodes, edges = await together(
        scan_nodes(db, mapping, ids, sizes, on_event),
        scan_relationships(db, mapping, ids, on_event),
    )
    if len(nodes.ids) != len(ids):
        edges = restrict(edges, np.isin(ids, nodes.ids, assume_unique=True))
    content = [total(node_hashes(nodes)), len(nodes.ids), total(edges.hash), len(edges.hash)]
    return View(
        ids=nodes.ids,
        sizes=nodes.sizes,
        node_weight=nodes.weight,
        tokens=nodes.tokens,
        text_hash=nodes.text_hash,
        facts=nodes.facts,
        source=edges.source,
        target=edges.target,
        weight=edges.weight,
        dimensions=_count_lengths(nodes.dimensions),
        sketch=sketch(edges.hash),
        content_hash=digest(content),
        issues=count_issues(mapping, nodes, edges),
        type=edges.type,
        passage=np.isin(nodes.ids, passages),
    )


def refuse_empty(graph: str, view: View) -> None:
    """Raise EmptyGraphError when the view has no node."""
    if not len(view.ids):
        raise EmptyGraphError(
            f"graph {graph} has no nodes: its mapping matches nothing in the database, so "
            f"check it with 'pgs graph show {graph}' and 'pgs inspect'"
        )


def usable_weights(weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """Return relationship weights ``(m,)`` for the projection, and whether all were set to 1.

    A weight that is not a finite number becomes 1, and a negative weight becomes 0. All other
    weights are clipped to the limits. If no weight is positive, all become 1, because a graph whose
    weights are all zero still has a structure.
    """
    bounded = np.where(weight > 0, np.clip(weight, MIN_WEIGHT, MAX_WEIGHT), 0.0)
    cleaned = np.where(np.isfinite(weight), bounded, 1.0)
    if len(cleaned) and not (cleaned > 0).any():
        return np.ones_like(cleaned), True
    return cleaned, False


def _count_lengths(dimensions: NDArray[np.int64]) -> dict[int, int]:
    sizes, counts = np.unique(dimensions, return_counts=True)
    return dict(zip(sizes.tolist(), counts.tolist(), strict=True))


def count_issues(mapping: GraphMapping, nodes: Nodes, edges: Relationships) -> dict[str, int]:
    """Count all irregularities of a view, and leave out zeros."""
    source, target, weight = edges.source, edges.target, edges.weight
    proper = source != target
    low, high = np.minimum(source, target)[proper], np.maximum(source, target)[proper]
    pairs = low * len(nodes.ids) + high
    linked = np.zeros(len(nodes.ids), dtype=bool)
    linked[source[proper]] = linked[target[proper]] = True
    counted = {
        "self_loops": int((~proper).sum()),
        "parallel_relationships": int((np.diff(np.sort(pairs)) == 0).sum()),
        "isolated_nodes": int((~linked).sum()),
        "nodes_without_text": int((nodes.tokens == 0).sum()),
    }
    if mapping.weight:
        counted["nodes_without_weight"] = int(np.isnan(nodes.weight).sum())
        counted["negative_node_weights"] = int((nodes.weight < 0).sum())
    if mapping.relationship_weight:
        counted["relationships_without_weight"] = int((~np.isfinite(weight)).sum())
        counted["negative_relationship_weights"] = int((weight < 0).sum())
        tiny = (weight >= 0) & (weight < MIN_WEIGHT)
        counted["zero_relationship_weights"] = int(tiny.sum())
        counted["huge_relationship_weights"] = int((weight > MAX_WEIGHT).sum())
    if mapping.embedding:
        sizes = _count_lengths(nodes.dimensions)
        counted["nodes_without_embedding"] = sizes.pop(0, 0)
        counted["embeddings_of_other_size"] = sum(sizes.values()) - max(sizes.values(), default=0)
    return {name: count for name, count in counted.items() if count}
