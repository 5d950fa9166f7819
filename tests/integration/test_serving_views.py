"""Views of a served graph: searches, partitions, generations, and jobs that change them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import GraphMapping
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers
from tests.serving import Served, entry, events, served


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    tokens = [
        entry("ann", "papers"), entry("bob", "papers"), entry("eve", "papers", role="reader"),
        entry("boss", role="operator"),
    ]  # fmt: skip
    async with engine_on_papers(endpoint, db, token=tokens) as opened:
        await opened.graphs.add("other", GraphMapping(labels=("Paper",), text=("abstract",)))
        await opened.partitions.build("papers")
        yield opened


def client(server: Served, name: str) -> httpx2.AsyncClient:
    return server.client(f"pgs_{name}")


async def job_of(own: httpx2.AsyncClient, started: dict[str, str]) -> dict[str, Any]:
    """The record of a job that has ended."""
    assert (await events(own, started["events"]))[-1].name == "ended"
    return dict((await own.get(f"/api/jobs/{started['record']}")).raise_for_status().json())


@pytest.mark.thorough
async def test_a_search_shows_nodes_with_their_paths(server: Served) -> None:
    body = {"question": "orbital debris", "graph": "papers"}
    async with client(server, "bob") as bob:
        found = (await bob.post("/api/search", json=body | {"mode": "hybrid", "top_k": 3})).json()
        assert 1 <= len(found["items"]) <= 3
        best = found["items"][0]
        assert best["score"] >= found["items"][-1]["score"]
        assert set(best["scores"]) <= {path["name"] for path in found["paths"]}
        assert "answer" not in found
        for wrong in ({"question": " "}, {"top_k": 0}, {"mode": "x"}, {"rerank": "model"}):
            assert (await bob.post("/api/search", json=body | wrong)).status_code == 422
        hidden = await bob.post("/api/search", json=body | {"graph": "other"})
        assert (hidden.status_code, hidden.json()["code"]) == (404, "unknown_graph")


@pytest.mark.thorough
async def test_a_search_alone_is_planned_and_answers_as_planned(server: Served) -> None:
    body = {"question": "orbital debris", "answer_from": "search", "search_mode": "local"}
    async with client(server, "ann") as ann, client(server, "eve") as eve:
        planned = (await ann.post("/api/search/plan", json=body)).json()
        assert (planned["calls"] > 0, planned["mode"]) == (True, "local")
        assert (planned["session"], planned["nodes"] > 0) == ("default", True)
        assert (await eve.post("/api/search/plan", json=body)).status_code == 403
        run = (await ann.post("/api/runs", json=body)).json()
        answered = (await events(ann, run["events"]))[-1]
        assert (answered.name, answered.data["calls"]) == ("answered", planned["calls"])
        shown = (await ann.get(f"/api/runs/{run['run']}")).json()
        assert (shown["session"], shown["sweeps"]) == ("default", [])


async def test_who_asked_says_whether_the_answer_was_useful(server: Served) -> None:
    async with client(server, "ann") as ann, client(server, "bob") as bob:
        run = (await ann.post("/api/runs", json={"question": "orbital debris"})).json()
        path = f"/api/runs/{run['run']}/feedback"
        await events(ann, run["events"])
        given = await ann.post(path, json={"outcome": "accepted"})
        assert (given.status_code, given.json()["former"]) == (200, None)
        assert given.json()["nodes"] > 0
        other = await ann.post(path, json={"outcome": "rejected"})
        assert (other.status_code, "accepted" in other.json()["error"]) == (409, True)
        again = await ann.post(path, json={"outcome": "rejected", "replace": True})
        assert (again.json()["former"], again.json()["changed"]) == ("accepted", True)
        assert (await ann.get(f"/api/runs/{run['run']}")).json()["outcome"] == "rejected"
        assert (await bob.post(path, json={"outcome": "accepted"})).status_code == 404
        for wrong in ({}, {"outcome": "x"}, {"outcome": "accepted", "more": 1}):
            assert (await ann.post(path, json=wrong)).status_code == 422


async def test_who_may_not_ask_makes_no_partitions_by_a_search(pgs: PGS) -> None:
    await pgs.graphs.add("papers2", GraphMapping(labels=("Paper",), text=("abstract",)))
    body = {"question": "orbital debris", "graph": "papers2"}
    async with served(pgs, read_only=True) as server, client(server, "boss") as boss:
        for mode in ({"mode": "global"}, {"mode": "auto"}, {}):
            assert (await boss.post("/api/search", json=body | mode)).status_code == 403
        assert (await boss.post("/api/search", json=body | {"mode": "local"})).status_code == 200
    assert (await pgs.graphs.get("papers2")).generation is None


async def test_found_partitions_of_a_graph_that_changed_come_with_a_note(
    server: Served, db: Database
) -> None:
    path, asked = "/api/graphs/papers/partitions/search", {"q": "orbital debris"}
    async with client(server, "eve") as eve:
        fresh = await eve.get(path, params=asked)
        assert "PGS-Note" not in fresh.headers
        await alter(db, "CREATE (:Paper {doi: 'new/1', title: 'New', abstract: 'orbital debris'})")
        changed = await eve.get(path, params=asked)
        assert isinstance(changed.json(), list)
        assert "has changed since the graph was partitioned" in changed.headers["PGS-Note"]
        assert changed.headers["PGS-Note"].endswith("pgs partition --graph papers")
        described = (await eve.get("/api/openapi.json")).json()["paths"]
    ok = described["/api/graphs/{graph}/partitions/search"]["get"]["responses"]["200"]
    assert "PGS-Note" in ok["headers"]
    assert ok["content"]["application/json"]["schema"]["type"] == "array"


async def test_a_damaged_old_generation_is_listed_and_hides_no_other(
    pgs: PGS, server: Served, db: Database
) -> None:
    first = await pgs.partitions.generation("papers")
    await pgs.partitions.build("papers", force=True)
    now = await pgs.partitions.generation("papers")
    await alter(db, f"MATCH (c:PgsGeneration {{id: '{first.id}'}}) SET c.issues = 'no JSON'")
    async with client(server, "eve") as eve:
        shown = (await eve.get("/api/graphs/papers/generations")).json()
        assert [one["id"] for one in shown] == [now.id, first.id]
        assert shown[0]["damaged"] == ""
        assert "was changed by another program" in shown[1]["damaged"]
        assert shown[0]["node_count"] == now.node_count
        assert (await eve.get("/api/graphs/papers/generation")).json()["id"] == now.id
    listed = await pgs.partitions.generations("papers")
    assert [bool(one.damaged) for one in listed] == [False, True]


async def test_a_partition_is_shown_and_found(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with client(server, "eve") as eve:
        parts = (await eve.get("/api/graphs/papers/partitions")).json()["partitions"]
        shown = (await eve.get(f"/api/graphs/papers/partitions/{parts[0]['id']}")).json()
        assert {name: shown[name] for name in parts[0]} == parts[0]
        assert shown["terms"]
        assert {str(one["partition"]) for one in shown["adjacent"]} == {*shown["labels"]}
        path = "/api/graphs/papers/partitions/search"
        found = (await eve.get(path, params={"q": "orbital debris"})).json()
        best = next(part for part in parts if part["id"] == found[0]["id"])
        assert found[0] == {name: best[name] for name in ("id", "label", "nodes")} | {"score": 1.0}
        for wrong in (f"{path}?q=", path, f"{path}?q=debris&top=3"):
            assert (await eve.get(wrong)).status_code == 422
        assert (await eve.get("/api/graphs/papers/partitions/99")).status_code == 404
        assert (await eve.get("/api/graphs/other/partitions/1")).status_code == 404
        monkeypatch.setattr("pgs_neo4j.search.paths.walk.PATH_S", 0.0)
        lost = await eve.get(path, params={"q": "orbital debris"})
        assert (lost.status_code, "were not searched" in lost.text) == (503, True)


@pytest.mark.thorough
async def test_a_job_makes_a_generation_that_can_be_compared(
    pgs: PGS, db: Database, server: Served
) -> None:
    async with client(server, "boss") as boss, client(server, "ann") as ann:
        assert (await ann.post("/api/jobs", json={"graph": "papers"})).status_code == 403
        for wrong in (
            *(
                {"max_drift": 2},
                {"max_drift": False},
                {"keep": 0},
                {"keep": "3"},
                {"if_changed": 1},
            ),
            *({"surprise": 1}, {"graph": "x" * 65}),
        ):
            refused = await boss.post("/api/jobs", json={"graph": "papers"} | wrong)
            assert refused.status_code == 422, wrong
        assert (await boss.get("/api/jobs")).json() == []
        (first,) = (await ann.get("/api/graphs/papers/generations")).json()
        await alter(db, "MATCH (p:Paper {doi: 'doi/0'}) DETACH DELETE p")
        started = await boss.post("/api/jobs", json={"graph": "papers", "keep": 5})
        assert (started.status_code, started.json()["graph"]) == (202, "papers")
        ended = await job_of(boss, started.json())
        listed = (await boss.get(started.json()["jobs"])).json()
        assert [one["id"] for one in listed] == [ended["id"]]
        assert (ended["outcome"], ended["error"]) == ("repartitioned", None)
        generations = (await ann.get("/api/graphs/papers/generations")).json()
        assert [one["id"] for one in generations] == [ended["generation"], first["id"]]
        assert "token" not in generations[0]
        ids = {"before": first["id"], "after": ended["generation"]}
        path = "/api/graphs/papers/generations/compare"
        changes = (await ann.get(path, params=ids)).json()
        assert sum(one["size_before"] for one in changes) == first["node_count"]
        assert sum(one["size_after"] for one in changes) == first["node_count"] - 1
        assert len({one["lineage"] for one in changes}) == len(changes)
        assert (await ann.get(path, params=ids | {"before": "nothing"})).status_code == 404
        await pgs.partitions.build("other")
        foreign = (await pgs.graphs.get("other")).generation
        assert (await ann.get(path, params=ids | {"before": foreign})).status_code == 404
    with pytest.raises(UsageError, match="has no generation nothing"):
        await pgs.partitions.compare("nothing", first["id"], "papers")
