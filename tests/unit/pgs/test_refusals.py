"""A question that nothing in the graph matches buys little without consent."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import UnmatchedQuestionError
from pgs_neo4j.model import GraphMapping, Mode, Partition, Route, Routing
from pgs_neo4j.pgs.order import RunOrder
from pgs_neo4j.pgs.refusals import check_matched
from pgs_neo4j.pgs.request import Request
from pgs_neo4j.pgs.runs.session import Read

PARTS = [Partition(id=1, size=10, tokens=900), Partition(id=2, size=10, tokens=5_000)]
ROUTING = Routing(
    routes=(Route(partition=1, similarity=None, reason="x"),), considered=2, unmatched=True
)


def check(
    limit: int | None = 500,
    *,
    free: bool = False,
    mode: Mode = "full",
    routing: Routing = ROUTING,
    read: frozenset[int] = frozenset(),
) -> None:
    """Check a run whose routing takes partition 1."""
    order = RunOrder(
        request=Request("Why?", mode=mode),
        graph="papers",
        mapping=GraphMapping(),
        config=PGSConfig(max_unmatched_tokens=limit),
    )
    tools: Any = SimpleNamespace(models={"reader": free, "writer": True})
    check_matched(order, tools, routing, PARTS, Read({1: read}))


def test_more_than_the_limit_is_refused_and_what_was_read_before_is_not_bought_again() -> None:
    with pytest.raises(UnmatchedQuestionError) as refused:
        check()
    assert "1 partition anyway would buy about 900 tokens" in str(refused.value)
    assert "--max-unmatched-tokens" in str(refused.value)
    check(read=frozenset(range(5)))
    with pytest.raises(UnmatchedQuestionError, match="about 540 tokens"):
        check(read=frozenset(range(4)))


@pytest.mark.parametrize(
    "permitted",
    [
        {"limit": 900},
        {"limit": None},
        {"free": True},
        {"mode": "continue"},
        {"routing": replace(ROUTING, unmatched=False)},
    ],
    ids=str,
)
def test_everything_else_is_read(permitted: dict[str, Any]) -> None:
    check(**permitted)
    with pytest.raises(UnmatchedQuestionError):
        check()
