"""Scans the nodes and the relationships of a view into arrays.

Texts are only hashed and measured, so that they take no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.database.queries import Row
from pgs_neo4j.events import OnEvent, Progressed
from pgs_neo4j.graph.hashes import encoded, hash64, mixed_with, text_hash
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.node_text import joined_text
from pgs_neo4j.text.tokens import estimate_bytes

PROBES = 4  # components of a vector that are compared to notice a change
FACT_BITS = 56  # Neo4j stores a number of up to 58 bits in half the space of a longer number
PARALLEL = 3  # statements in flight


class NodesRow(TypedDict):
    """The row of ``read_nodes``: parallel lists."""

    ids: list[int]
    texts: list[list[object]]
    weights: list[float]
    dimensions: list[int]
    probes: list[list[float]]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The scanned nodes, all ``(n,)`` in ascending order of ``ids``.

    ``sizes`` approximate the characters of each text. ``facts`` is a hash of weight and embedding.
    """

    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    weight: NDArray[np.float64]
    tokens: NDArray[np.int64]
    text_hash: NDArray[np.int64]
    facts: NDArray[np.int64]
    dimensions: NDArray[np.int64]


async def read_ids(
    db: Database, mapping: GraphMapping
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the internal ids ``(n,)`` of the view's nodes, ascending, and their text sizes.

    A size ``(n,)`` is the approximate number of characters.
    """
    rows = await db.read(
        queries.get("pgs/partitioning/read_node_sizes"),
        labels=list(mapping.labels),
        text=mapping.text_properties,
        facts=mapping.facts,
    )
    ids = np.asarray(rows[0]["ids"], dtype=np.int64)
    order = np.argsort(ids)
    return ids[order], np.asarray(rows[0]["sizes"], dtype=np.int64)[order]


async def read_passages(db: Database, mapping: GraphMapping) -> NDArray[np.int64]:
    """Return the internal ids ``(k,)`` of the nodes that the mapping calls passages."""
    if not mapping.chunk_labels:
        return np.empty(0, dtype=np.int64)
    query = queries.get("pgs/partitioning/read_passages")
    rows = await db.read(query, labels=list(mapping.chunk_labels))
    return np.asarray(rows[0]["ids"], dtype=np.int64)


async def scan_nodes(
    db: Database,
    mapping: GraphMapping,
    ids: NDArray[np.int64],
    sizes: NDArray[np.int64],
    on_event: OnEvent,
) -> Nodes:
    """Read the nodes ``ids`` ``(n,)``, which ascend. Vanished nodes are left out.

    ``sizes`` ``(n,)``, the text sizes, decide how many nodes are read at once.
    """
    text = mapping.text_properties
    facts = NodeFacts.empty(len(ids))

    async def use(rows: list[Row]) -> None:
        facts.fill(ids, cast("NodesRow", rows[0]))
        on_event(Progressed("partition", facts.seen, len(ids), "nodes scanned"))

    query = queries.get("pgs/partitioning/read_nodes")
    await in_order(
        (
            db.read(
                query,
                ids=ids[part].tolist(),
                text=text,
                weight=mapping.weight or "",
                embedding=mapping.embedding or "",
                facts=mapping.facts,
            )
            for part in portions(sizes)
        ),
        use,
    )
    return facts.nodes(ids, sizes)


@dataclass(slots=True)
class NodeFacts:
    """Arrays ``(n,)`` that are filled as portions arrive.

    ``there`` marks the nodes that arrived.
    """

    there: NDArray[np.bool_]
    weight: NDArray[np.float64]
    tokens: NDArray[np.int64]
    text_hash: NDArray[np.int64]
    dimensions: NDArray[np.int64]
    mix: NDArray[np.uint64]
    seen: int = 0

    @staticmethod
    def empty(count: int) -> NodeFacts:
        """Create empty arrays for ``count`` nodes."""
        whole = np.zeros(count, dtype=np.int64)
        return NodeFacts(
            there=np.zeros(count, dtype=np.bool_),
            weight=np.full(count, np.nan),
            tokens=whole,
            text_hash=np.full(count, text_hash("")),
            dimensions=whole.copy(),
            mix=np.zeros(count, dtype=np.uint64),
        )

    def fill(self, ids: NDArray[np.int64], row: NodesRow) -> None:
        """Add a portion. ``ids`` ``(n,)`` are the ids of all nodes, ascending."""
        place = np.searchsorted(ids, np.asarray(row["ids"], dtype=np.int64))
        self.seen += len(place)
        self.there[place] = True
        weight = np.asarray(row["weights"], dtype=np.float64)
        self.weight[place] = np.where(np.isfinite(weight), weight, np.nan)
        self.dimensions[place] = row["dimensions"]
        if any(row["texts"]):
            self._measure(place, row["texts"])
        probes = _list_probes(row["probes"])
        for column in range(probes.shape[1]):
            self.mix[place] = mixed_with(self.mix[place], probes[:, column].view(np.uint64))

    def _measure(self, place: NDArray[np.int64], texts: list[list[object]]) -> None:
        for at, values in zip(place.tolist(), texts, strict=True):
            if text := joined_text(values):
                data = encoded(text)
                self.tokens[at] = estimate_bytes(len(data))
                self.text_hash[at] = hash64(data)

    def nodes(self, ids: NDArray[np.int64], sizes: NDArray[np.int64]) -> Nodes:
        """Return the nodes that arrived. ``ids`` and ``sizes`` ``(n,)`` belong to all nodes."""
        there = self.there
        return Nodes(
            ids=ids[there],
            sizes=sizes[there],
            weight=self.weight[there],
            tokens=self.tokens[there],
            text_hash=self.text_hash[there],
            facts=self.hashed()[there],
            dimensions=self.dimensions[there],
        )

    def hashed(self) -> NDArray[np.int64]:
        """Return hashes ``(n,)`` int64 of each node's weight and embedding."""
        mix = mixed_with(self.mix, self.weight.view(np.uint64))
        mix = mixed_with(mix, self.dimensions.view(np.uint64))
        return (mix >> np.uint64(64 - FACT_BITS)).astype(np.int64)


def _list_probes(rows: list[list[float]]) -> NDArray[np.float64]:
    """Return the probed components ``(k, PROBES)``, with zeros for a node without a vector.

    If no node has a vector, the result is ``(k, 0)``.
    """
    if not any(rows):
        return np.empty((len(rows), 0))
    return np.asarray([row or [0.0] * PROBES for row in rows], dtype=np.float64)


def node_hashes(nodes: Nodes) -> NDArray[np.uint64]:
    """Return for each node one hash ``(n,)`` uint64 of all its scanned values."""
    mix = mixed_with(nodes.ids.view(np.uint64), nodes.text_hash.view(np.uint64))
    return mixed_with(mix, nodes.facts.view(np.uint64))


class RelationshipsRow(TypedDict):
    """A row of ``read_relationships``: parallel lists for the relationships of one type."""

    type: str
    sources: list[int]
    targets: list[int]
    weights: list[float]


@dataclass(frozen=True, slots=True)
class Relationships:
    """The scanned relationships, all ``(m,)``.

    ``source`` and ``target`` are positions of nodes. ``hash`` covers all other values. A weight
    that is not a number is NaN. ``type`` is a hash of the type's name.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]
    hash: NDArray[np.uint64]
    type: NDArray[np.int64]


async def scan_relationships(
    db: Database, mapping: GraphMapping, ids: NDArray[np.int64], on_event: OnEvent
) -> Relationships:
    """Read the ``m`` relationships among the nodes ``ids`` ``(n,)``, which must ascend."""
    parts: list[Relationships] = []
    place_of = place_lookup(ids)

    async def use(rows: list[Row]) -> None:
        for row in rows:
            parts.append(read_edges(cast("RelationshipsRow", row), place_of))
            seen = sum(len(part.source) for part in parts)
            on_event(Progressed("partition", seen, 0, "relationships scanned"))

    query = queries.get("pgs/partitioning/read_relationships")
    types, weight = list(mapping.relationship_types), mapping.relationship_weight or ""
    await in_order(
        (
            db.read(query, ids=ids[part].tolist(), types=types, weight=weight)
            for part in portions(np.zeros_like(ids))
        ),
        use,
        PARALLEL,
    )
    return _join(parts)


def place_lookup(ids: NDArray[np.int64]) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Return a function that maps internal ids ``(k,)`` to their positions ``(k,)`` in ``ids``.

    ``ids`` ``(n,)`` ascend. The position of a missing id is -1.
    """
    if len(ids) and ids[-1] < 8 * len(ids):  # if ids are dense, a table is faster than a search
        table = np.full(int(ids[-1]) + 2, -1, dtype=np.int64)
        table[ids] = np.arange(len(ids))
        return lambda wanted: table[np.minimum(wanted, len(table) - 1)]

    def look_up(wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return positions ``(k,)`` of wanted ids in ``ids``, -1 if absent."""
        place = np.minimum(np.searchsorted(ids, wanted), max(len(ids) - 1, 0))
        return np.where(ids[place] == wanted, place, -1)

    return look_up


def read_edges(
    row: RelationshipsRow, place_of: Callable[[NDArray[np.int64]], NDArray[np.int64]]
) -> Relationships:
    """Return the relationships of a row that have both ends in the view.

    ``place_of`` maps ids ``(k,)`` to positions ``(k,)``.
    """
    source_ids = np.asarray(row["sources"], dtype=np.int64)
    target_ids = np.asarray(row["targets"], dtype=np.int64)
    source, target = place_of(source_ids), place_of(target_ids)
    inside = (source >= 0) & (target >= 0)
    weight = np.asarray(row["weights"], dtype=np.float64)[inside]
    weight[np.isnan(weight)] = np.nan  # NaN has several bit patterns, which would differ in hashes
    name = text_hash(row["type"])
    mix = np.full(len(weight), np.uint64(name + 2**63))
    for column in (source_ids[inside], target_ids[inside], weight):
        mix = mixed_with(mix, column.view(np.uint64))
    return Relationships(source[inside], target[inside], weight, mix, np.full(len(weight), name))


def _join(parts: list[Relationships]) -> Relationships:
    none = np.empty(0, dtype=np.int64)
    empty = Relationships(none, none, np.empty(0), np.empty(0, dtype=np.uint64), none)
    columns = ("source", "target", "weight", "hash", "type")
    return Relationships(
        *(np.concatenate([getattr(part, name) for part in (empty, *parts)]) for name in columns)
    )


def restrict(edges: Relationships, chosen: NDArray[np.bool_]) -> Relationships:
    """Return the relationships between chosen nodes, with positions among the chosen nodes.

    ``chosen`` is a mask ``(n,)``.
    """
    place = np.cumsum(chosen) - 1
    inside = chosen[edges.source] & chosen[edges.target]
    source, target = place[edges.source[inside]], place[edges.target[inside]]
    return Relationships(
        source, target, edges.weight[inside], edges.hash[inside], edges.type[inside]
    )
