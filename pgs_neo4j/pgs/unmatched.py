"""Refuses to buy much for a question that nothing in the graph matches."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.errors import UnmatchedQuestionError
from pgs_neo4j.model import Partition, Routing
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.text.shown import counted


def check_matched(
    order: RunOrder, tools: RunTools, routing: Routing, partitions: Sequence[Partition], read: Read
) -> None:
    """Raise UnmatchedQuestionError when a run would buy too much for an unmatched question.

    Mode ``continue`` reads whatever is unread, and free models buy nothing, so neither is refused.
    ``partitions`` are the candidates, and ``read`` says which nodes need not be read again.
    """
    limit = order.config.max_unmatched_tokens
    if not routing.unmatched or limit is None or not may_refuse(order, tools):
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


def may_refuse(order: RunOrder, tools: RunTools) -> bool:
    """Whether a run is refused if its question is unmatched and it would buy too much."""
    paid = not all(tools.models.values())
    return order.config.max_unmatched_tokens is not None and paid and order.mode != "continue"


def _unread_tokens(part: Partition, read: Read) -> int:
    unread = part.size - len(read.shown(part.id))
    return part.tokens * unread // max(part.size, 1)
