"""Opening the client, its supervised calls, and the names of its projections."""

from __future__ import annotations

import re
from typing import Any

import pytest
from graphdatascience.query_runner.query_mode import QueryMode

from pgs_neo4j.database.gds import PREFIX, Owner, open_gds
from pgs_neo4j.database.gds.client import MEMORY_SIGNS, current_call, run_supervised
from pgs_neo4j.database.gds.projections import NAME_PATTERN, drop_at_end, make_name, name_digest
from pgs_neo4j.database.gds.runner import DatabaseRunner
from pgs_neo4j.errors import (
    DatabaseError,
    DatabaseVersionError,
    GDSError,
    GDSMemoryError,
    GDSMissingError,
    GraphChangedError,
    QueryError,
)
from tests.fakes.database import FakeDatabase
from tests.unit.database.gds.conftest import MakeGDS


async def test_a_server_without_gds_is_told_what_to_install() -> None:
    db: Any = FakeDatabase(read_gds_version=QueryError("unknown function gds.version"))
    with pytest.raises(GDSMissingError, match="install the graph-data-science plugin"):
        await open_gds(db)


@pytest.mark.parametrize("version", ["2.12.9", "2.6.0", "1.8.8"])
async def test_an_old_library_is_refused_with_both_versions(version: str) -> None:
    db: Any = FakeDatabase(read_gds_version=[{"version": version}])
    with pytest.raises(DatabaseVersionError, match=rf"{version}; 2\.13 or newer"):
        await open_gds(db)


def test_a_name_carries_the_graph_and_the_fence_and_is_new_each_time(make_gds: MakeGDS) -> None:
    gds = make_gds(owner=Owner("my papers; DROP", 12))
    names = {make_name(gds) for _ in range(20)}
    assert len(names) == 20
    for name in names:
        assert re.fullmatch(NAME_PATTERN, name)
        assert name.startswith(f"{PREFIX}{name_digest('my papers; DROP')}_12_")
    assert make_name(make_gds()).split("_")[1:3] == [name_digest(""), "0"]


async def test_a_failure_to_drop_does_not_hide_the_result(make_gds: MakeGDS) -> None:
    gds = make_gds()
    db: Any = gds.db

    def refuse(text: str, params: dict[str, Any]) -> list[dict[str, Any]]:
        raise DatabaseError("gone")

    db.text_answer = refuse
    async with drop_at_end(gds, "pgs_1"):
        result = 1
    assert result == 1
    assert len(db.sent) == 1


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
