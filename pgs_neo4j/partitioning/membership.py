"""Who belongs to which partition of a generation: written and read in portions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.lease import given_up
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.events import OnEvent, Progressed
from pgs_neo4j.graph import weights
from pgs_neo4j.model import Generation
from pgs_neo4j.partitioning.scan.view import View

MEMBER_BATCH = 10_000
READ_BATCH = 50_000
PARALLEL = 2
DELETE_BATCH = 5_000
DELETE_PARALLEL = 3  # measured on two cores: 0.85 s per 100,000 nodes, one after another 1.5


@dataclass(frozen=True, slots=True)
class Membership:
    """Which partition each node belongs to and where it stands in it; parallel (n,) int64.

    ``nodes`` are internal ids that hold within one job, ``hash`` is that of each text, and
    ``facts`` that of its weight and embedding.
    """

    nodes: NDArray[np.int64]
    partition: NDArray[np.int64]
    rank: NDArray[np.int64]
    hash: NDArray[np.int64]
    facts: NDArray[np.int64]

    def of(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Membership:
        """The chosen nodes, by a mask or in an order of places."""
        return Membership(
            self.nodes[chosen],
            self.partition[chosen],
            self.rank[chosen],
            self.hash[chosen],
            self.facts[chosen],
        )


def ranked(found: View, labels: NDArray[np.int64]) -> Membership:
    """Everybody by partition ``labels`` (n,) from 0, in the order of what they weigh now."""
    degree = weights.degrees(found.source, found.target, len(found.ids))
    rank = weights.ranks(labels, weights.complete(found.node_weight, degree))
    return Membership(found.ids, labels + 1, rank, found.text_hash, found.facts)


async def write_members(
    db: Database,
    graph: str,
    name: str,
    keys: Sequence[str],
    members: Membership,
    on_event: OnEvent,
) -> None:
    """Attach nodes to a generation, some partitions at a time.

    ``keys`` are the uids of the partitions by id, from 1. Fewer are attached than asked for when
    nodes were deleted since the scan. Raises LeaseLostError.
    """
    order = np.lexsort((members.rank, members.partition))
    parts, sizes = np.unique(members.partition, return_counts=True)
    ends = np.cumsum(sizes)
    attached = 0

    async def use(found: list[Row]) -> None:
        nonlocal attached
        if not found:
            raise given_up(graph)
        attached += int(found[0]["attached"])
        on_event(Progressed("partition", attached, len(order), "nodes written"))

    def row(at: int) -> Row:
        chosen = order[ends[at] - sizes[at] : ends[at]]
        return {
            "uid": keys[int(parts[at]) - 1],
            "nodes": members.nodes[chosen].tolist(),
            "hashes": members.hash[chosen].tolist(),
            "facts": members.facts[chosen].tolist(),
        }

    query = queries.get("partitioning/write_members")
    await in_order(
        (
            db.write(query, generation=name, rows=[row(at) for at in range(len(parts))[part]])
            for part in portions(sizes, MEMBER_BATCH, MEMBER_BATCH)
        ),
        use,
        PARALLEL,
    )


async def count_members(db: Database, generation: str) -> int:
    """How many nodes are attached to a generation now; those deleted since are not."""
    rows = await db.read(queries.get("partitioning/read_member_count"), generation=generation)
    return int(rows[0]["members"])


async def read_members(db: Database, current: Generation) -> Membership:
    """Who belongs to a generation now, by internal id; nodes deleted since are not there.

    Relies on the generation's sizes being in the order of ids, from 1.
    """
    found: list[Membership] = []

    async def use(rows: list[Row]) -> None:
        found.extend(_read(row) for row in rows)

    ids = range(1, current.partition_count + 1)
    query = queries.get("partitioning/read_membership")
    await in_order(
        (
            db.read(query, generation=current.id, partitions=list(ids[part]))
            for part in portions(np.asarray(current.sizes), READ_BATCH, READ_BATCH)
        ),
        use,
    )

    def column(name: str) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *(getattr(part, name) for part in found)])

    names = ("nodes", "partition", "rank", "hash", "facts")
    members = Membership(*(column(name) for name in names))
    return members.of(np.argsort(members.nodes))


def _read(row: Row) -> Membership:
    names = ("ids", "ranks", "hashes", "facts")
    nodes, rank, text, facts = (np.asarray(row[name], dtype=np.int64) for name in names)
    return Membership(nodes, np.full(len(nodes), row["partition"]), rank, text, facts)


async def delete_members(db: Database, generations: Sequence[str]) -> None:
    """Detach the nodes of the partitions that only these generations have."""
    rows = await db.read(queries.get("partitioning/read_disposable"), generations=list(generations))
    uids, members = rows[0]["uids"], np.asarray(rows[0]["members"], dtype=np.int64)

    async def use(rows: list[Row]) -> None:
        del rows

    query = queries.get("partitioning/delete_members")
    await in_order(
        (
            db.write(query, uids=uids[part])
            for part in portions(members, DELETE_BATCH, DELETE_BATCH)
        ),
        use,
        DELETE_PARALLEL,
    )
