"""Scans the relationships of a view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.database.queries import Row
from pgs_neo4j.events import OnEvent, Progressed
from pgs_neo4j.graph.hashes import mixed_with, text_hash
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.rows import RelationshipsRow

PARALLEL = 3  # statements in flight


@dataclass(frozen=True, slots=True)
class Relationships:
    """The scanned relationships, all ``(m,)``.

    ``source`` and ``target`` are positions among the nodes; ``hash`` covers everything. A weight
    that is not a number is NaN. ``type`` is the hash of each type's name.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]
    hash: NDArray[np.uint64]
    type: NDArray[np.int64]


async def scan_relationships(
    db: Database, mapping: GraphMapping, ids: NDArray[np.int64], on_event: OnEvent
) -> Relationships:
    """Read the relationships ``(m,)`` among the nodes ``ids`` ``(n,)``, ascending."""
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
    return _joined(parts)


def place_lookup(ids: NDArray[np.int64]) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Return a function from internal ids ``(k,)`` to positions ``(k,)`` in ``ids``.

    ``ids`` ``(n,)`` ascend. The position of an id that is missing is -1.
    """
    if len(ids) and ids[-1] < 8 * len(ids):  # ids are mostly dense, and a table is fast
        table = np.full(int(ids[-1]) + 2, -1, dtype=np.int64)
        table[ids] = np.arange(len(ids))
        return lambda wanted: table[np.minimum(wanted, len(table) - 1)]

    def look_up(wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return indexes ``(k,)`` of wanted ids in ``ids``, -1 if absent."""
        place = np.minimum(np.searchsorted(ids, wanted), max(len(ids) - 1, 0))
        return np.where(ids[place] == wanted, place, -1)

    return look_up


def read_edges(
    row: RelationshipsRow, place_of: Callable[[NDArray[np.int64]], NDArray[np.int64]]
) -> Relationships:
    """Return a row's relationships whose two ends are in the view.

    ``place_of`` maps ids ``(k,)`` to positions ``(k,)``.
    """
    source_ids = np.asarray(row["sources"], dtype=np.int64)
    target_ids = np.asarray(row["targets"], dtype=np.int64)
    source, target = place_of(source_ids), place_of(target_ids)
    inside = (source >= 0) & (target >= 0)
    weight = np.asarray(row["weights"], dtype=np.float64)[inside]
    weight[np.isnan(weight)] = np.nan  # one bit pattern for all
    name = text_hash(row["type"])
    mix = np.full(len(weight), np.uint64(name + 2**63))
    for column in (source_ids[inside], target_ids[inside], weight):
        mix = mixed_with(mix, column.view(np.uint64))
    return Relationships(source[inside], target[inside], weight, mix, np.full(len(weight), name))


def _joined(parts: list[Relationships]) -> Relationships:
    none = np.empty(0, dtype=np.int64)
    empty = Relationships(none, none, np.empty(0), np.empty(0, dtype=np.uint64), none)
    columns = ("source", "target", "weight", "hash", "type")
    return Relationships(
        *(np.concatenate([getattr(part, name) for part in (empty, *parts)]) for name in columns)
    )


def restrict(edges: Relationships, chosen: NDArray[np.bool_]) -> Relationships:
    """Return relationships between ``chosen`` ``(n,)`` nodes, as positions among those."""
    place = np.cumsum(chosen) - 1
    inside = chosen[edges.source] & chosen[edges.target]
    source, target = place[edges.source[inside]], place[edges.target[inside]]
    return Relationships(
        source, target, edges.weight[inside], edges.hash[inside], edges.type[inside]
    )
