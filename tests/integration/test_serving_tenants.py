"""Tenants of a server see their graphs and sessions, and nothing of each other."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import GraphMapping
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import Served, events, served

TENANTS = ("ann", "bob", "cleo")
GRAPHS = {"ann": ["papers"], "bob": ["papers"], "cleo": ["other"]}
PRICES = {"scripted": {"input_price": 1.0, "output_price": 1.0}}


def entry(name: str, **more: Any) -> dict[str, Any]:
    digest = sha256(f"pgs_{name}".encode()).hexdigest()
    return {"name": name, "sha256": digest, "graphs": GRAPHS.get(name, []), **more}


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    tokens = [
        *map(entry, TENANTS),
        entry("reader", role="reader"),
        entry("poor", cost_per_day=1e-9),
    ]
    async with engine_on_papers(endpoint, db, token=tokens, models=PRICES) as opened:
        await opened.add_graph("other", GraphMapping(labels=("Paper",), text=("abstract",)))
        yield opened


@pytest.fixture
async def server(pgs: PGS) -> AsyncIterator[Served]:
    async with served(pgs) as running:
        yield running


def client(server: Served, name: str) -> httpx2.AsyncClient:
    return server.client(f"pgs_{name}")


async def ask(own: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await own.post("/api/runs", json={"question": "Why?", "full_sweep": True, **body})
    assert answer.status_code == 202, answer.text
    await events(own, answer.json()["events"])
    return dict(answer.json())


async def paths(own: httpx2.AsyncClient, graph: str, run: str) -> list[str]:
    """Every path of the API that is read, with the names of another tenant."""
    document = (await own.get("/api/openapi.json")).json()
    return [
        path.replace("{graph}", graph).replace("{run}", run).replace("{session}", "secret")
        .replace("{kind}", "json").replace("{job}", "j1").replace("{partition}", "1")
        .replace("{live}", "b0123456789ab")
        for path, methods in document["paths"].items()
        if "get" in methods
    ]  # fmt: skip


async def test_canaries_of_three_tenants_never_cross(server: Served) -> None:
    runs: dict[str, str] = {}
    for name in TENANTS:
        async with client(server, name) as own:
            canary = f"canary-{name}-{name}"
            body = {"question": f"Why {canary}?", "session": f"secret-{name}"}
            runs[name] = (await ask(own, **body))["run"]
    for name in TENANTS:
        async with client(server, name) as own:
            for other in TENANTS:
                if other == name:
                    continue
                for path in await paths(own, GRAPHS[other][0], runs[other]):
                    answer = await own.get(path)
                    assert f"canary-{other}" not in answer.text, path
                    assert f"secret-{other}" not in answer.text, path
                    assert runs[other] not in answer.text or answer.status_code == 404, path
                path = f"/api/runs/{runs[other]}"
                assert (await own.delete(path)).status_code == 404
                assert (await own.post(f"{path}/resume", json={})).status_code == 404
            mine = (await own.get("/api/runs")).json()
            assert [run["run"] for run in mine] == [runs[name]]
            newest = (await own.get("/api/runs?limit=1")).json()  # of the caller, not of all
            assert [run["run"] for run in newest] == [runs[name]]
            assert [one["session"] for one in (await own.get("/api/cost")).json()] == [
                f"secret-{name}"
            ]
            (session,) = (await own.get("/api/sessions")).json()
            assert session["session"] == f"secret-{name}"
            graphs = (await own.get("/api/graphs")).json()
            assert [graph["name"] for graph in graphs] == GRAPHS[name]


async def test_a_message_names_no_graph_that_is_hidden(server: Served) -> None:
    async with client(server, "ann") as own:
        for path in ("/api/graphs/nothing", "/api/graphs/other", "/api/sessions?graph=other"):
            missing = await own.get(path)
            assert missing.status_code == 404
            assert "papers" not in missing.text
        asked = await own.post("/api/plan", json={"question": "Why?", "graph": "nothing"})
        assert (asked.status_code, asked.json()["code"]) == (404, "unknown_graph")


async def test_sessions_of_one_name_are_apart(server: Served) -> None:
    for name in ("ann", "bob"):
        async with client(server, name) as own:
            run = await ask(own, session="default")
            shown = (await own.get(f"/api/runs/{run['run']}")).json()
            assert len(shown["sweeps"]) == 4
            assert shown["session"] == "default"
            (session,) = (await own.get("/api/sessions")).json()
            assert session["runs"] == 1


async def test_roles_are_held(server: Served) -> None:
    async with client(server, "reader") as own:
        assert (await own.get("/api/graphs")).status_code == 200
        for path in ("/api/runs", "/api/plan"):
            refused = await own.post(path, json={"question": "Why?", "graph": "papers"})
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    async with client(server, "ann") as own:
        for path in ("/api/doctor", "/api/inspect"):
            assert (await own.get(path)).status_code == 403
        added = await own.post("/api/graphs", json={"name": "mine", "labels": ["Paper"]})
        assert added.status_code == 403


async def test_who_has_spent_the_money_of_the_day_is_refused(server: Served) -> None:
    async with client(server, "poor") as own:
        body = {"question": "Why?", "graph": "papers", "full_sweep": True}
        first = await own.post("/api/runs", json=body)
        assert first.status_code == 202
        told = await events(own, first.json()["events"])
        assert told[-1].name == "failed"
        assert told[-1].data["code"] in ("budget", "stopped")


async def test_a_server_that_only_reads_asks_nothing(pgs: PGS) -> None:
    async with served(pgs, read_only=True) as server, server.owner() as owner:
        refused = await owner.post("/api/runs", json={"question": "Why?", "graph": "papers"})
        assert refused.status_code == 403
        assert (await owner.get("/api/me")).json()["read_only"] is True


async def test_secrets_stand_in_no_answer(server: Served, endpoint: Endpoint) -> None:
    secrets = {endpoint.password or "x" * 40, server.token, *(f"pgs_{name}" for name in TENANTS)}
    secrets |= {sha256(f"pgs_{name}".encode()).hexdigest() for name in TENANTS}
    async with server.owner() as owner:
        run = await ask(owner, graph="papers")
        for path in await paths(owner, "papers", run["run"]):
            text = (await owner.get(path)).text
            assert not [secret for secret in secrets if secret in text], path
        cookie = owner.cookies[f"pgs_{server.base.rpartition(':')[2]}"]
        told = json.dumps([one.data for one in await events(owner, run["events"])])
        assert cookie not in told
        assert not re.search(r"Bearer|password", told)
