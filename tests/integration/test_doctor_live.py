"""The doctor on a healthy server, and on each thing that can be wrong with one."""

from __future__ import annotations

import json
import socket
from dataclasses import asdict, replace
from typing import Any

import pytest
from pydantic import SecretStr

from pgs_neo4j.config import PGSConfig, ServerAccess, Settings
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.doctor import Check, models
from pgs_neo4j.engine.doctor.examination import examine
from pgs_neo4j.model import GraphMapping
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.fakes.openai_server import FakeOpenAI, Hang, Status
from tests.graphs import checksum, count, papers

SECRET = "sk-very-secret"


@pytest.fixture
def target(endpoint: Endpoint) -> ServerAccess:
    secret = SecretStr(endpoint.password) if endpoint.password else None
    return ServerAccess(uri=endpoint.uri, user=endpoint.user, password=secret)


async def examined(target: ServerAccess | None, **settings: Any) -> dict[str, Check]:
    checks = await examine(Settings(**settings), PGSConfig(), target)
    assert len({check.name for check in checks}) == len(checks)
    for check in checks:
        assert check.detail
        assert bool(check.fix) == (check.status in ("warning", "failed"))
    assert SECRET not in json.dumps([asdict(check) for check in checks])
    return {check.name: check for check in checks}


def unwell(checks: dict[str, Check]) -> dict[str, str]:
    return {name: check.status for name, check in checks.items() if check.status != "ok"}


@pytest.mark.schema
async def test_a_healthy_server_is_well_and_stays_as_it_was(
    db: Database, target: ServerAccess
) -> None:
    mapping = await papers(db)
    await catalog.add(db, "papers", mapping)
    before, bookmark = await checksum(db), await last_bookmark(db)
    checks = await examined(target)
    assert unwell(checks) == {}
    assert list(checks) == [
        "configuration",
        "address",
        "connection",
        "credentials",
        "database",
        "Neo4j version",
        "read",
        "write",
        "schema",
        "Neo4j procedures",
        "GDS",
        "GDS procedures",
        "indexes",
        "graphs",
        "graph papers",
        "search of papers",
        "embedder",
        "model",
    ]
    assert checks["Neo4j version"].detail.startswith("Neo4j ")
    assert checks["read"].detail == "162 nodes can be read"
    assert "extractive" in checks["model"].detail
    assert checks["graph papers"].detail == "not partitioned yet; the first question will do it"
    assert await checksum(db) == before
    assert await last_bookmark(db) == bookmark
    await alter(db, "CREATE FULLTEXT INDEX said FOR (p:Paper|Book) ON EACH [p.title, p.abstract]")
    detail = (await examined(target))["indexes"].detail
    assert "said (full-text on Paper:Book.title|abstract, " in detail


async def last_bookmark(db: Database) -> frozenset[str]:
    async with db.driver.session(default_access_mode="READ") as session:
        await (await session.run("RETURN 1")).consume()
        return frozenset((await session.last_bookmarks()).raw_values)


@pytest.mark.schema
async def test_an_empty_database_is_well_and_gets_nothing_of_ours(
    bare_db: Database, target: ServerAccess
) -> None:
    checks = await examined(target)
    assert unwell(checks) == {}
    assert checks["graphs"].detail.startswith("none yet")
    assert await count(bare_db, "(x)") == 0
    rows = await fetch(bare_db, "SHOW CONSTRAINTS YIELD name RETURN name")
    assert rows == []


@pytest.mark.schema
@pytest.mark.thorough
async def test_missing_constraints_come_with_the_statements_that_bring_them_back(
    db: Database, target: ServerAccess
) -> None:
    await papers(db, topics=1, size=3)
    await catalog.add(db, "papers", GraphMapping())
    await alter(db, "DROP CONSTRAINT pgs_run_id")
    check = (await examined(target))["schema"]
    assert check.status == "warning"
    assert check.detail.startswith("1 of ")
    assert "//" not in check.fix
    statement = check.fix.removeprefix("create them: ")
    await alter(db, statement)
    assert (await examined(target))["schema"].status == "ok"


@pytest.mark.thorough
async def test_a_graph_whose_mapping_no_longer_holds(db: Database, target: ServerAccess) -> None:
    await papers(db, topics=1, size=3)
    await catalog.add(db, "odd", GraphMapping(labels=("Paper",), text=("body",), key="doi"))
    await catalog.add(db, "gone", GraphMapping(labels=("Book",)))
    await alter(
        db,
        "MATCH (g:PgsGraph {name: 'odd'}) CREATE (g)-[:PGS_CURRENT]->(:PgsGeneration "
        "{id: 'g1', status: 'complete', node_count: 1234, partition_count: 7})-[:PGS_OF]->(g)",
    )
    checks = await examined(target, graph="lost")
    assert unwell(checks) == {"graphs": "failed", "graph odd": "warning", "graph gone": "failed"}
    assert checks["graph odd"].detail == (
        "generation g1, 7 partitions of 1,234 nodes; none of 3 sampled nodes has the property body"
    )
    assert checks["graph gone"].detail == "its mapping matches no node"
    assert checks["graphs"].detail == "PGS_GRAPH names lost, which is not stored"
    assert checks["graphs"].fix == "name one of gone, odd"


@pytest.mark.parametrize(
    ("uri", "stage"),
    [
        ("bolt://user:secret@localhost:7687", "address"),
        ("bolt://127.0.0.1:1", "connection"),
    ],
)
async def test_each_stage_on_the_way_is_named_and_what_follows_is_skipped(
    uri: str, stage: str
) -> None:
    checks = await examined(ServerAccess(uri=uri, password=SecretStr(SECRET)))
    names = list(checks)
    place = names.index(stage)
    assert checks[stage].status == "failed"
    assert {checks[name].status for name in names[:place]} == {"ok"}
    assert {checks[name].status for name in names[place + 1 : names.index("embedder")]} == {
        "skipped"
    }
    assert "secret@" not in json.dumps([asdict(check) for check in checks.values()])


async def test_what_a_server_refuses_is_named(
    target: ServerAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = await examined(replace(target, database="nope"))
    assert checks["database"].status == "failed"
    assert checks["Neo4j version"].status == "skipped"
    if target.password is not None:
        checks = await examined(replace(target, password=SecretStr(SECRET)))
        assert checks["credentials"].status == "failed"
        assert checks["connection"].status == "ok"
        assert checks["database"].status == "skipped"
    monkeypatch.setattr("pgs_neo4j.database.server.MINIMUM_VERSION", (9999, 0))
    checks = await examined(target)
    assert checks["Neo4j version"].status == "failed"
    assert checks["credentials"].status == "ok"
    assert checks["read"].status == "skipped"


async def test_models_are_probed_once_each_and_told_if_they_are_not_there(
    fake: FakeOpenAI,
) -> None:
    given = {"llm_base_url": fake.base_url, "llm_api_key": SecretStr(SECRET)}
    assert "lists gpt-5-mini" in (await examined(None, **given))["sweep model"].detail
    same = await examined(None, sweep_model="gpt-5", **given)
    assert "lists gpt-5" in same["model"].detail
    checks = await examined(None, synthesis_model="gpt-9", **given)
    assert checks["sweep model"].status == "ok"
    assert checks["synthesis model"].status == "warning"
    assert checks["synthesis model"].fix == (
        "set PGS_SYNTHESIS_MODEL to a model that it lists: gpt-5, gpt-5-mini"
    )
    checks = await examined(None, sweep_model="gpt-9", synthesis_model="gpt-9", **given)
    assert checks["model"].fix.startswith("set PGS_SWEEP_MODEL")
    for name in ("none", "stored", "hashing"):  # these embedders need nothing
        assert (await examined(None, embedder=name))["embedder"].status == "ok"
    assert fake.chats == []


async def test_what_refuses_a_key_is_not_there_or_never_answers(
    fake: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs_neo4j.engine.doctor.server.CONNECT_TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        checks = await examined(ServerAccess(uri=f"bolt://127.0.0.1:{port}"))
    assert checks["connection"].status == "failed"
    fake.refuse = lambda _: Status(401, message=f"bad key {SECRET}")
    given = {"llm_base_url": fake.base_url, "llm_api_key": SecretStr(SECRET)}
    checks = await examined(None, embedder="openai", **given)
    assert [checks[name].status for name in ("sweep model", "embedder")] == ["failed", "failed"]
    assert "refused the API key" in checks["sweep model"].detail
    assert "PGS_LLM_API_KEY" in checks["sweep model"].fix
    assert "PGS_LLM_BASE_URL" in checks["embedder"].fix
    checks = await examined(None, llm_base_url="http://127.0.0.1:1/v1")
    assert "could not be reached" in checks["sweep model"].detail
    checks = await examined(None, llm_provider="openai")
    assert "no API key is configured" in checks["model"].detail
    monkeypatch.setattr(models, "TIMEOUT_S", 0.5)
    fake.refuse, fake.default = lambda _: None, Hang()
    checks = await examined(None, embedder="openai", llm_base_url=fake.base_url)
    assert checks["embedder"].status == "failed"
