"""The client's query runner: how its calls become statements of the database."""

from __future__ import annotations

from typing import Any

import pytest
from graphdatascience.query_runner.query_mode import QueryMode

from pgs_neo4j.gds.calls import run_supervised
from pgs_neo4j.gds.runner import DatabaseRunner
from tests.fakes.database import FakeDatabase


def answering(rows: list[dict[str, Any]]) -> tuple[Any, DatabaseRunner]:
    db: Any = FakeDatabase()
    db.text_answer = lambda text, params: rows
    return db, DatabaseRunner(db)


async def test_the_version_is_asked_for_once() -> None:
    db, runner = answering([{"value": "2.13.4"}])
    versions = await run_supervised(db, lambda: [runner.server_version() for _ in range(3)])
    assert [(v.major, v.minor, v.patch) for v in versions] == [(2, 13, 4)] * 3
    assert len(db.sent) == 1


@pytest.mark.parametrize("mode", [QueryMode.READ, QueryMode.WRITE, None])
async def test_a_retryable_statement_is_sent_once(mode: QueryMode | None) -> None:
    db, runner = answering([])
    kind: Any = None
    frame = await run_supervised(
        db, lambda: runner.run_retryable_cypher("RETURN 1", kind, {"x": 1}, mode=mode)
    )
    assert db.sent == [("CYPHER 5\nRETURN 1", {"x": 1})]
    assert frame.empty


def test_the_connection_is_described_and_cannot_be_changed() -> None:
    db, runner = answering([])
    assert runner.encrypted() is True
    assert runner.read_connection_info() is db.address()
    with pytest.raises(ValueError, match="cannot become other"):
        runner.set_database("other")
    with pytest.raises(ValueError, match="no synchronous driver"):
        runner.db_driver()
    with pytest.raises(ValueError, match="no runner for here:1"):
        runner.cloneWithoutRouting("here", 1)
