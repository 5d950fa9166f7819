"""Tokens with a scope: each tenant of one server sees its own part of a shared graph only."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from tests.agents import agent
from tests.conftest import Endpoint
from tests.engines import engine_on
from tests.scopes import CANARIES, MAPPING, TENANTS, create_tenants
from tests.serving import Served, entry, events, served

QUESTION = "What do the notes report on sleep and memory?"
KNOBS: dict[str, Any] = {"min_community_size": 10, "target_partition_max": 60, "graph": "notes"}
PATHS = (
    *("/api/me", "/api/graphs", "/api/runs", "/api/sessions", "/api/cost", "/api/jobs"),
    *("/api/graphs/notes/partitions", "/api/graphs/notes/map", "/api/graphs/notes/generation"),
    *("/api/graphs/notes/partitions/1", "/api/graphs/notes/partitions/1/members"),
)


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine whose tokens have a scope each."""
    await create_tenants(db)
    tokens = [entry(name, role="operator", scope={"tenant": name}) for name in TENANTS]
    tokens.append(entry("metrics", role="metrics"))
    async with engine_on(endpoint, token=tokens, **KNOBS) as opened:
        await opened.graphs.add("notes", MAPPING)
        yield opened


@pytest.fixture
async def server(pgs: PGS) -> AsyncIterator[Served]:
    async with served(pgs) as running:
        yield running


async def ask(server: Served, tenant: str) -> tuple[str, str]:
    """Ask as a tenant, and return the id of the run and everything that its stream said."""
    async with server.client(f"pgs_{tenant}") as client:
        begun = await client.post("/api/runs", json={"question": QUESTION, "full_sweep": True})
        assert begun.status_code == 202, begun.text
        run = begun.json()["run"]
        told = await events(client, f"/api/runs/{run}/events")
    return run, repr(told)


async def look(server: Served, tenant: str) -> str:
    """Return everything that a tenant can see, over HTTP and as an agent."""
    shown = []
    async with server.client(f"pgs_{tenant}") as client:
        for path in PATHS:
            answer = await client.get(path)
            assert answer.status_code == 200, (path, answer.text)
            shown.append(answer.text)
        found = await client.post("/api/search", json={"question": "sleep", "mode": "hybrid"})
        assert found.status_code == 200, found.text
        shown.append(found.text)
        refused = await client.post("/api/cypher", json={"statement": "MATCH (n:Note) RETURN n"})
        assert refused.status_code == 403, refused.text
    async with agent(server, tenant) as session:
        shown += [repr(await session.call_tool(tool, {})) for tool in ("graphs", "partitions")]
    return "\n".join(shown)


async def test_each_tenant_sees_its_own_part_of_a_graph(server: Served) -> None:
    runs = {name: await ask(server, name) for name in TENANTS}
    for name, (run, told) in runs.items():
        shown = await look(server, name)
        assert json.dumps(run) in shown
        assert CANARIES[name] in shown
        assert f'"scope":{{"tenant":"{name}"}}' in shown
        for other in set(TENANTS) - {name}:
            assert CANARIES[other] not in told + shown
            assert runs[other][0] not in shown


async def test_a_run_of_another_scope_does_not_exist(server: Served) -> None:
    run, _ = await ask(server, "large")
    async with server.client("pgs_small") as client, server.owner() as owner:
        for caller in (client, owner):
            for path in (f"/api/runs/{run}", f"/api/runs/{run}/events"):
                assert (await caller.get(path)).status_code == 404
        assert (await owner.get("/api/graphs/notes/partitions")).status_code == 422


async def test_metrics_tell_scopes_apart_without_their_values(server: Served) -> None:
    await ask(server, "small")
    async with server.client("pgs_metrics") as client:
        told = (await client.get("/metrics")).text
    assert 'graph="notes~' in told
    assert "tenant" not in told
