"""Cypher of users and agents, from every face: Python, HTTP, MCP, and the command line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import GateError, UsageError
from tests.agents import agent
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.graphs import checksum
from tests.serving import Served, entry, served

STATEMENT = "MATCH (p:Paper) WHERE p.topic = $topic RETURN count(p) AS papers"
HOSTILE = "MATCH (p:Paper) SET p.stolen = true RETURN p"
READ = {"columns": ["papers"], "rows": [[40]], "truncated": False}


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    tokens = [entry("wide", role="reader"), entry("narrow", "papers")]
    async with engine_on_papers(endpoint, db, token=tokens) as opened:
        yield opened


@pytest.fixture
async def server(pgs: PGS) -> AsyncIterator[Served]:
    async with served(pgs) as opened:
        yield opened


def part(told: dict[str, Any]) -> dict[str, Any]:
    return {name: told[name] for name in READ}


async def test_python_reads_and_refuses(pgs: PGS, db: Database) -> None:
    before = await checksum(db)
    read = await pgs.gate(STATEMENT, {"topic": 1})
    assert (read.columns, read.rows, read.writer) == (("papers",), ((40,),), "")
    assert await pgs.gate.check(STATEMENT, {"topic": 1}) == STATEMENT
    with pytest.raises(GateError, match="SET writes"):
        await pgs.gate(HOSTILE)
    with pytest.raises(UsageError, match="max_rows is 0"):
        await pgs.gate(STATEMENT, {"topic": 1}, max_rows=0)
    with pytest.raises(UsageError, match="timeout_s is 0"):
        await pgs.gate(STATEMENT, {"topic": 1}, timeout_s=0)
    assert await checksum(db) == before


async def test_http_reads_refuses_and_keeps_limited_tokens_out(server: Served) -> None:
    body = {"statement": STATEMENT, "parameters": {"topic": 1}}
    async with server.owner() as owner, server.client("pgs_wide") as wide:
        for client in (owner, wide):
            told = await client.post("/api/cypher", json=body)
            assert (told.status_code, part(told.json())) == (200, READ)
        refused = await owner.post("/api/cypher", json={"statement": HOSTILE})
        assert refused.status_code == 422
        assert "SET writes" in refused.text
    async with server.client("pgs_narrow") as narrow:
        for path, asked in (
            ("/api/cypher", body),
            ("/api/search", {"question": "How many papers?", "mode": "cypher"}),
            ("/api/search/plan", {"question": "How many papers?", "search_mode": "cypher"}),
            (
                "/api/runs",
                {"question": "How?", "search_mode": "cypher", "answer_from": "search"},
            ),
            (
                "/v1/chat/completions",
                {"model": "papers:cypher", "messages": [{"role": "user", "content": "How?"}]},
            ),
        ):
            refused = await narrow.post(path, json=asked)
            assert refused.status_code == 403, (path, refused.text)
            assert "limited to its graphs" in refused.text


async def test_agents_read_and_hear_why_not(server: Served) -> None:
    async with agent(server, "wide") as wide:
        told = await wide.call_tool(
            "read_cypher", {"statement": STATEMENT, "parameters": {"topic": 2}}
        )
        assert told.structured_content["rows"] == [{"from_graph": [40]}]
        refused = await wide.call_tool("read_cypher", {"statement": HOSTILE})
        assert refused.is_error
        assert "SET writes" in str(refused.content)
    async with agent(server, "narrow") as narrow:
        refused = await narrow.call_tool("read_cypher", {"statement": STATEMENT})
        assert refused.is_error
        assert "limited to its graphs" in str(refused.content)
