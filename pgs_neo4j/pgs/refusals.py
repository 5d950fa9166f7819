"""Refuses a run before its first paid call if nothing is left to read or nothing matches."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.errors import NothingLeftError, UnmatchedQuestionError
from pgs_neo4j.model import Partition, Routing
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.runs import session
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.runs.sweeps import read_unsynthesized
from pgs_neo4j.text.shown import counted


async def check_unread_left(order: RunOrder, tools: RunTools, partitioning: Partitioning) -> None:
    """Raise NothingLeftError when a run would continue a session that has read everything.

    It is not raised while earlier runs without an answer have left reports to answer from. Raises
    DatabaseError.
    """
    if not stops_at_end(order):
        return
    generation_id = partitioning.generation.id
    read = await session.read_so_far(tools.db, order.graph, order.request.session, generation_id)
    if any(read.unread(part) for part in partitioning.partitions):
        return
    if not await read_unsynthesized(
        tools.db, order.graph, order.request.session, "", generation_id
    ):
        raise nothing_left_error(order, partitioning, read)


def stops_at_end(order: RunOrder) -> bool:
    """Return whether a run ends when nothing is left, instead of reading everything again."""
    return order.request.mode == "continue" and not order.request.full_sweep


def nothing_left_error(order: RunOrder, partitioning: Partitioning, read: Read) -> NothingLeftError:
    """Return the error for a session that has read everything, with the way to read it again."""
    nodes = read.coverage(partitioning.partitions, partitioning.generation.texts)
    done = f"has read all {counted(nodes.nodes_total, 'node')} of graph {order.graph}"
    if nodes.nodes_unproven:
        done = (
            f"has read {nodes.nodes_read:,} of {counted(nodes.nodes_total, 'node')} of graph "
            f"{order.graph} and was shown the others without proof that they were read"
        )
    return NothingLeftError(
        f"nothing is left to read, because session {order.request.session} {done}; to read "
        "everything again, set full_sweep (--full-sweep)"
    )


def check_matched(
    order: RunOrder, tools: RunTools, routing: Routing, partitions: Sequence[Partition], read: Read
) -> None:
    """Raise UnmatchedQuestionError when an unmatched question would cost too many tokens.

    Mode ``continue`` reads whatever is unread, and free models cost nothing, so neither is refused.
    ``partitions`` are the candidates, and ``read`` says which nodes need not be read again.
    """
    limit = order.config.max_unmatched_tokens
    if not routing.unmatched or limit is None or not may_refuse_unmatched(order, tools):
        return
    routed = {route.partition for route in routing.routes}
    chosen = [part for part in partitions if part.id in routed]
    tokens = sum(_unread_tokens(part, read) for part in chosen)
    if tokens > limit:
        what = counted(len(chosen), "partition")
        raise UnmatchedQuestionError(
            f"no text in the graph matches the question; reading {what} anyway would buy about "
            f"{tokens:,} tokens, more than max_unmatched_tokens ({limit:,}); ask in words that the "
            "graph uses, or raise that limit (--max-unmatched-tokens, PGS_MAX_UNMATCHED_TOKENS; "
            "'none': no limit)"
        )


def may_refuse_unmatched(order: RunOrder, tools: RunTools) -> bool:
    """Return whether a run can be refused because its question is unmatched."""
    paid = not all(tools.models.values())
    return (
        order.config.max_unmatched_tokens is not None and paid and order.request.mode != "continue"
    )


def _unread_tokens(part: Partition, read: Read) -> int:
    unread = part.size - len(read.shown(part.id))
    return part.tokens * unread // max(part.size, 1)
