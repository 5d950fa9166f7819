"""Work with the client in a worker thread: its statements, and which errors come out of it."""

from __future__ import annotations

from typing import Any

import pytest
from graphdatascience.query_runner.query_mode import QueryMode

from pgs_neo4j.database.gds import Owner
from pgs_neo4j.database.gds.calls import MEMORY_SIGNS, current_call, run_supervised
from pgs_neo4j.database.gds.runner import DatabaseRunner
from pgs_neo4j.errors import GDSError, GDSMemoryError, GraphChangedError, QueryError
from tests.fakes.database import FakeDatabase


async def test_a_statement_of_the_work_carries_the_owner_and_one_tag_per_call() -> None:
    db: Any = FakeDatabase()
    db.text_answer = lambda text, params: [{"x": params["x"]}]

    def work() -> list[Any]:
        call = current_call()
        return [call.run("RETURN $x AS x", {"x": x}, "read") for x in (1, 2)]

    results = await run_supervised(db, work, Owner("papers", 7))
    assert results == [(["x"], [{"x": 1}]), (["x"], [{"x": 2}])]
    await run_supervised(db, work)
    tags = [metadata["pgs_call"] for metadata in db.metadata]
    assert tags[0] == tags[1] != tags[2] == tags[3]
    assert db.metadata[0] == {"pgs_call": tags[0], "pgs_graph": "papers", "pgs_fence": 7}
    assert db.metadata[2] == {"pgs_call": tags[2]}


@pytest.mark.parametrize("sign", MEMORY_SIGNS)
async def test_a_refusal_for_memory_says_what_to_raise(sign: str) -> None:
    db: Any = FakeDatabase()
    with pytest.raises(GDSMemoryError, match=r"server\.memory\.heap\.max_size"):
        await run_supervised(db, _raising(QueryError(f"failed: {sign}")))


async def test_another_refusal_is_an_error_of_gds() -> None:
    db: Any = FakeDatabase()
    with pytest.raises(GDSError, match="no such property") as caught:
        await run_supervised(db, _raising(QueryError("no such property")))
    assert not isinstance(caught.value, GDSMemoryError)


async def test_a_graph_that_changes_is_no_failure_of_gds() -> None:
    db: Any = FakeDatabase()
    with pytest.raises(GraphChangedError, match="ask again"):
        await run_supervised(db, _raising(GraphChangedError("it changed; ask again")))


def _raising(error: Exception) -> Any:
    def work() -> None:
        raise error

    return work


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
