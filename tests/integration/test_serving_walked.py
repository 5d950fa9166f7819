"""Every request of OpenAPI by an operator of one graph: other graphs stay unseen and unchanged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import GraphMapping
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import engine_on_papers
from tests.openapi import operations, send
from tests.serving import Served, entry, events

CANARY = "canary"
"""In each text and question of the graph that the operator must not see."""
SESSION, NAME = "undisclosed", "a.md"
NEVER = {"/api/graphs", "/api/inspect", "/api/doctor", "/api/demo"}
"""Requests, but for the list of graphs, that reach beyond single graphs."""
PARTS = ("{graph}", "{run}", "{job}", "{live}")
"""Parts of paths that name what belongs to someone."""
REFUSED = (401, 403, 404)
STATE = """
MATCH (n) WHERE n:Vault OR any(key IN keys(n) WHERE n[key] = 'vault' OR key = 'name')
OPTIONAL MATCH (n)-[r]-()
RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties, count(r) AS degree
ORDER BY id
"""


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    tokens = [
        entry("ann", "vault", role="operator"),
        entry("keeper", "papers", role="operator"),
    ]
    await alter(
        db,
        "UNWIND range(1, 12) AS number CREATE (v:Vault {text: 'canary ' + number}) "
        "WITH collect(v) AS all UNWIND range(0, 10) AS at "
        "WITH all[at] AS one, all[at + 1] AS next CREATE (one)-[:BESIDE]->(next)",
    )
    async with engine_on_papers(endpoint, db, token=tokens) as opened:
        await opened.graphs.add("vault", GraphMapping(labels=("Vault",), text=("text",)))
        yield opened


async def vault(server: Served, pgs: PGS, db: Database) -> dict[str, Any]:
    """Values of all parameters that lead into the graph of another tenant."""
    async with server.client("pgs_ann") as ann:
        body = {"question": f"Why {CANARY}?", "session": SESSION, "graph": "vault"}
        run = (await ann.post("/api/runs", json=body | {"full_sweep": True})).json()
        await events(ann, run["events"])
        job = (await ann.post("/api/jobs", json={"graph": "vault"})).json()
        await events(ann, job["events"])
        sent = await ann.post(
            "/api/graphs/vault/uploads", params={"name": NAME}, content=CANARY,
            headers={"Content-Type": "application/octet-stream"},
        )  # fmt: skip
        assert sent.status_code == 201, sent.text
    rows = await fetch(db, "MATCH (v:Vault) RETURN elementId(v) AS id LIMIT 1")
    generation = (await pgs.partitions.generation("vault")).id
    return {
        **{"graph": "vault", "run": run["run"], "node": rows[0]["id"], "partition": 1},
        **{"job": job["record"], "live": job["job"], "upload": sent.json()["id"]},
        **{"before": generation, "after": generation, "session": f"ann / {SESSION}"},
        **{"kind": "json", "id": NAME, "question": "Why?", "q": "why"},
        **{"table": "findings", "form": "csv"},
    }  # fmt: skip


def lines(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The values as they are, with the caller's own graph, and with the bare name of a session."""
    own = values | {"graph": "papers", "name": "papers", "text": ["text"]}
    node_pages = {name: value for name, value in own.items() if name not in ("after", "before")}
    return [values, own | {"replace": True}, node_pages, values | {"session": SESSION}]


async def walk(client: httpx2.AsyncClient, values: dict[str, Any]) -> list[tuple[str, str]]:
    """Send every request, and return those that brought something of the other graph."""
    told = []
    for method, path, described in operations():
        if path == "/api/logout":
            continue
        answer = await send(client, method, path, described, values)
        assert answer.status_code < 500, (method, path, answer.text)
        if CANARY in answer.text:
            told.append((method, path))
        if path in NEVER - {"/api/graphs"} or (method, path) == ("post", "/api/graphs"):
            assert answer.status_code == 403, (method, path, answer.text)
            assert "limited to its graphs" in answer.json()["error"]
            assert "use a token" in answer.json()["fix"]
    return told


async def state(db: Database) -> list[Any]:
    rows = await fetch(db, STATE)
    return [row for row in rows if "papers" not in row["properties"].values()]


@pytest.mark.thorough
async def test_an_operator_of_one_graph_reaches_no_other_by_any_request(
    server: Served, pgs: PGS, db: Database
) -> None:
    values = await vault(server, pgs, db)
    before = await state(db)
    assert CANARY in str(before)
    async with server.client("pgs_keeper") as keeper:
        for line in lines(values):
            assert await walk(keeper, line) == []
            for live in [*(await keeper.get("/api/runs")).json()]:
                await events(keeper, f"/api/runs/{live['run']}/events")
    assert await state(db) == before
    async with server.client("pgs_ann") as ann:
        assert (await ann.get(f"/api/runs/{values['run']}")).json()["state"] == "complete"
        kept = await ann.post(
            "/api/graphs/vault/ingestions/plan", json={"uploads": [values["upload"]]}
        )
        assert "no file" not in kept.text
    await refused_for_whose_it_is(server, values | {"session": SESSION, "name": "b.md"})


async def refused_for_whose_it_is(server: Served, compared: dict[str, Any]) -> None:
    """The same requests by the other operator are refused for another reason, or not at all."""
    paged = {name: value for name, value in compared.items() if name not in ("after", "before")}
    statuses: dict[str, list[tuple[str, str, int]]] = {"keeper": [], "ann": []}
    missing = set()
    seen = dict.fromkeys(statuses, 0)
    for name, listed in statuses.items():
        async with server.client(f"pgs_{name}") as client:
            for method, path, described in operations():
                if any(part in path for part in PARTS):
                    values = compared if path.endswith("/compare") else paged
                    answer = await send(client, method, path, described, values)
                    if '"unknown_document"' in answer.text:  # what is named is not there
                        missing.add((name, path))
                        continue
                    listed.append((method, path, answer.status_code))
                    seen[name] += CANARY in answer.text
    assert (seen["keeper"], seen["ann"] > 5) == (0, True), "the walk finds what may be seen"
    assert missing == {("ann", "/api/graphs/{graph}/document")}
    assert len(statuses["keeper"]) > 25
    assert [one for one in statuses["keeper"] if one[2] not in REFUSED] == []
    assert [one for one in statuses["ann"] if one[2] in REFUSED] == []
    assert sum(status < 300 for *_, status in statuses["ann"]) > 25, statuses["ann"]
