"""Refuses to continue a session that has nothing left to read, before a run begins."""

from __future__ import annotations

from pgs_neo4j.errors import NothingLeftError
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.runs import session
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.runs.sweeps import read_unsynthesized
from pgs_neo4j.text.shown import counted


async def check_left(order: RunOrder, tools: RunTools, partitioning: Partitioning) -> None:
    """Raise NothingLeftError when a run would continue a session that has read everything.

    Reports of earlier runs without an answer are something to answer from. Raises DatabaseError.
    """
    if not stops_at_end(order):
        return
    generation_id = partitioning.generation.id
    read = await session.read_so_far(tools.db, order.graph, order.session, generation_id)
    if any(read.unread(part) for part in partitioning.partitions):
        return
    if not await read_unsynthesized(tools.db, order.graph, order.session, "", generation_id):
        raise nothing_left(order, partitioning, read)


def stops_at_end(order: RunOrder) -> bool:
    """Return whether a run ends where nothing is left, instead of reading everything again."""
    return order.mode == "continue" and not order.full_sweep


def nothing_left(order: RunOrder, partitioning: Partitioning, read: Read) -> NothingLeftError:
    """Return the error that says so in one sentence, and how to read everything again."""
    nodes = read.coverage(partitioning.partitions, partitioning.generation.texts)
    done = f"has read all {counted(nodes.nodes_total, 'node')} of graph {order.graph}"
    if nodes.nodes_unproven:
        done = (
            f"has read {nodes.nodes_read:,} of {counted(nodes.nodes_total, 'node')} of graph "
            f"{order.graph} and was shown the others without proof that they were read"
        )
    return NothingLeftError(
        f"nothing is left to read, because session {order.session} {done}; to read everything "
        "again, set full_sweep (--full-sweep)"
    )
