"""Ranks the members of partitions by weight, and writes and reads them in portions.

If a graph stores no weights, or not for all nodes, degrees fill the gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import generation_lost
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.database.queries import Row
from pgs_neo4j.events import OnEvent, Progressed
from pgs_neo4j.model import Generation
from pgs_neo4j.pgs.partitioning.view import View

MEMBER_BATCH = 10_000
READ_BATCH = 50_000
PARALLEL = 2
DELETE_BATCH = 5_000
DELETE_PARALLEL = 3  # on two cores, 100,000 nodes take 0.85 s in parallel and 1.5 s in sequence


class MembersRow(TypedDict):
    """A row of ``read_membership``: parallel lists for the members of one partition."""

    partition: int
    ids: list[int]
    ranks: list[int]
    hashes: list[int]
    facts: list[int]


@dataclass(frozen=True, slots=True)
class Membership:
    """The partition and rank of each node. All arrays are ``(n,)`` int64.

    ``nodes`` are internal ids, valid only within one job. ``rank`` counts from 0 in each partition,
    heaviest node first. ``hash`` is a hash of the text, and ``facts`` a hash of weight and
    embedding.
    """

    nodes: NDArray[np.int64]
    partition_ids: NDArray[np.int64]
    rank: NDArray[np.int64]
    hash: NDArray[np.int64]
    facts: NDArray[np.int64]

    def of(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Membership:
        """Return the nodes of a mask ``(n,)``, of positions ``(k,)``, or of a slice."""
        return Membership(
            self.nodes[chosen],
            self.partition_ids[chosen],
            self.rank[chosen],
            self.hash[chosen],
            self.facts[chosen],
        )


def rank_members(view: View, labels: NDArray[np.int64]) -> Membership:
    """Rank the members of partitions by weight. ``labels`` ``(n,)`` count partitions from 0."""
    degree = count_degrees(view.source, view.target, len(view.ids))
    rank = rank_by_weight(labels, complete_weights(view.node_weight, degree))
    return Membership(view.ids, labels + 1, rank, view.text_hash, view.facts)


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def count_degrees(source: IntArray, target: IntArray, count: int) -> FloatArray:
    """Return the number of relationships per node, without self-loops: ``(count,)`` float64.

    ``source`` and ``target`` are ``(m,)``.
    """
    proper = source != target
    ends = np.concatenate([source[proper], target[proper]])
    return np.bincount(ends, minlength=count).astype(np.float64)


def complete_weights(weight: FloatArray, degree: FloatArray) -> FloatArray:
    """Fill gaps in weights ``(n,)``: NaN becomes a weight by degree.

    ``degree`` is ``(n,)``. A negative weight becomes 0. If no node has a weight, each gets its
    degree, and an isolated node gets 1. If some nodes have a weight, a gap gets their median,
    scaled by degree over mean degree and clipped to the range of their weights.
    """
    finite = np.isfinite(weight)
    if not finite.any():
        return np.maximum(degree, 1.0)
    usable = np.maximum(weight[finite], 0.0)
    mean_degree = degree.mean() if len(degree) else 0.0
    scale = degree / mean_degree if mean_degree > 0 else np.ones_like(degree)
    filled = np.clip(np.median(usable) * scale, usable.min(), usable.max())
    return np.where(finite, np.maximum(weight, 0.0), filled)


def rank_by_weight(label: IntArray, weight: FloatArray) -> IntArray:
    """Return positions ``(n,)`` of nodes in their part, from 0, heaviest first.

    ``label`` and ``weight`` are ``(n,)``. Ties go by node index.
    """
    order = np.lexsort((np.arange(len(label)), -weight, label))
    sizes = np.bincount(label) if len(label) else np.empty(0, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(label), dtype=np.int64)
    place[order] = np.arange(len(label)) - starts[label[order]]
    return place


async def write_members(
    db: Database,
    graph: str,
    generation_id: str,
    uids: Sequence[str],
    members: Membership,
    on_event: OnEvent,
) -> None:
    """Attach nodes to the partitions of a generation, some partitions at a time.

    ``uids`` are the uids of the partitions in the order of their ids. Nodes that were deleted since
    the scan are not attached. Raises LeaseLostError.
    """
    ranked = members.of(np.lexsort((members.rank, members.partition_ids)))
    ids, sizes = np.unique(ranked.partition_ids, return_counts=True)
    ends = np.cumsum(sizes)
    attached = 0

    async def use(rows: list[Row]) -> None:
        nonlocal attached
        if not rows:
            raise generation_lost(graph)
        attached += int(rows[0]["attached"])
        on_event(Progressed("partition", attached, len(members.nodes), "nodes written"))

    def rows_of(part: slice) -> list[Row]:
        return [
            member_row(uids[number - 1], ranked.of(slice(end - size, end)))
            for number, size, end in zip(ids[part], sizes[part], ends[part], strict=True)
        ]

    query = queries.get("pgs/partitioning/write_members")
    await in_order(
        (
            db.write(query, generation=generation_id, rows=rows_of(part))
            for part in portions(sizes, MEMBER_BATCH, MEMBER_BATCH)
        ),
        use,
        PARALLEL,
    )


def member_row(uid: str, members: Membership) -> Row:
    """Return the row of ``write_members`` for one partition. ``members`` are sorted by rank."""
    return {
        "uid": uid,
        "nodes": members.nodes.tolist(),
        "hashes": members.hash.tolist(),
        "facts": members.facts.tolist(),
    }


async def count_members(db: Database, generation: str) -> int:
    """Count the nodes that are attached to a generation now. Deleted nodes do not count."""
    rows = await db.read(queries.get("pgs/partitioning/read_member_count"), generation=generation)
    return int(rows[0]["members"])


async def read_members(db: Database, current: Generation) -> Membership:
    """Return the present members of a generation, sorted by internal id.

    Deleted nodes are left out. The sizes of the generation must be in the order of partition ids.
    """
    parts: list[Membership] = []

    async def use(rows: list[Row]) -> None:
        parts.extend(members_of(cast("MembersRow", row)) for row in rows)

    ids = range(1, current.partition_count + 1)
    query = queries.get("pgs/partitioning/read_membership")
    await in_order(
        (
            db.read(query, generation=current.id, partitions=list(ids[part]))
            for part in portions(np.asarray(current.sizes), READ_BATCH, READ_BATCH)
        ),
        use,
    )
    members = join_members(parts)
    return members.of(np.argsort(members.nodes))


def members_of(row: MembersRow) -> Membership:
    """Return the members in one row, in the row's order."""
    names: tuple[Literal["ids", "ranks", "hashes", "facts"], ...]
    names = ("ids", "ranks", "hashes", "facts")
    nodes, rank, text, facts = (np.asarray(row[name], dtype=np.int64) for name in names)
    return Membership(nodes, np.full(len(nodes), row["partition"]), rank, text, facts)


def join_members(parts: Sequence[Membership]) -> Membership:
    """Join several memberships in their order; empty without any."""

    def column(name: str) -> NDArray[np.int64]:
        """Return one array ``(n,)`` of all parts."""
        return np.concatenate([np.empty(0, np.int64), *(getattr(part, name) for part in parts)])

    return Membership(*(column(field.name) for field in fields(Membership)))


async def delete_members(db: Database, generations: Sequence[str]) -> None:
    """Detach the nodes from partitions that no other generation shares."""
    rows = await db.read(
        queries.get("pgs/partitioning/read_disposable"), generations=list(generations)
    )
    uids, members = rows[0]["uids"], np.asarray(rows[0]["members"], dtype=np.int64)

    async def use(rows: list[Row]) -> None:
        del rows

    query = queries.get("pgs/partitioning/delete_members")
    await in_order(
        (
            db.write(query, uids=uids[part])
            for part in portions(members, DELETE_BATCH, DELETE_BATCH)
        ),
        use,
        DELETE_PARALLEL,
    )
