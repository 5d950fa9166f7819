"""The server on a real database: questions, their events, and their answers."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

import httpx2

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from tests.database import fetch
from tests.serving import Held, Told, events, served
from tests.waiting import until


async def ask(client: httpx2.AsyncClient, **more: Any) -> dict[str, Any]:
    answer = await client.post("/api/runs", json={"question": "Why?", "full_sweep": True, **more})
    assert answer.status_code == 202, answer.text
    return dict(answer.json())


async def test_a_question_is_planned_asked_followed_and_answered(
    owner: httpx2.AsyncClient,
) -> None:
    body = {"question": "Why?", "graph": "papers", "full_sweep": True}
    planned = (await owner.post("/api/plan", json=body)).json()
    assert len(planned["sweeps"]) == 4
    run = await ask(owner, graph="papers")
    first = await events(owner, run["events"], until=lambda told: told.name == "sweep_finished")
    early = (await owner.get(first[-1].data["report"])).json()
    assert [one["text"] for one in early["findings"]] == first[-1].data["findings"]
    rest = await events(owner, run["events"], after=first[-1].id)
    told = await events(owner, run["events"])
    assert first + rest == told, "without gap or repeat"
    assert await events(owner, run["events"], after=told[-1].id) == []
    names = [one.name for one in told]
    assert [one.id for one in told] == list(range(1, len(told) + 1))
    assert (names[0], names[-1]) == ("accepted", "answered")
    assert names.count("sweep_finished") == 4
    assert {"run_started", "routed", "usage", "checked", "text_streamed"} <= {*names}
    assert told[-1].data["coverage"]["partitions_swept"] == 4
    assert told[names.index("run_started")].data["run"] == run["run"]
    for kind, text in (("html", "<!DOCTYPE html>"), ("md", "# "), ("json", "{")):
        answer = await owner.get(f"/api/runs/{run['run']}/answer.{kind}")
        assert answer.text.startswith(text), kind
    shown = (await owner.get(f"/api/runs/{run['run']}")).json()
    assert (shown["state"], shown["answered"]) == ("complete", True)
    links = {
        one.data["partition"]: one.data["report"] for one in told if one.name == "sweep_finished"
    }
    assert {one["partition"]: one["report"] for one in shown["sweeps"]} == links
    assert links.keys() == {1, 2, 3, 4}
    for sweep in answer.json()["sweeps"]:
        report = (await owner.get(links[sweep["partition"]])).json()
        assert report["domain_state"] == sweep["report"]["domain_state"]
        cited = [one["element_id"] for one in report["findings"][0]["citations"] if one["valid"]]
        assert (await owner.get(f"/api/graphs/papers/nodes/{cited[0]}")).status_code == 200
    unread = await owner.get(f"/api/runs/{run['run']}/reports/99")
    assert (unread.status_code, unread.json()["code"]) == (404, "unknown_sweep")


async def test_a_cancelled_run_can_be_resumed(pgs: PGS, owner: httpx2.AsyncClient) -> None:
    held = Held(pgs)
    run = await ask(owner)
    await held.asked.wait()
    cancelled = await owner.delete(f"/api/runs/{run['run']}")
    assert cancelled.json()["state"] == "cancelled"
    assert (await events(owner, run["events"]))[-1].name == "cancelled"
    held.go.set()
    resumed = await owner.post(f"/api/runs/{run['run']}/resume", json={})
    assert resumed.status_code == 202, resumed.text
    assert (await events(owner, run["events"]))[-1].name == "answered"


async def test_stopping_ends_the_streams_and_leaves_runs_to_be_resumed(pgs: PGS) -> None:
    held = Held(pgs)
    async with served(pgs) as server, server.owner() as owner:
        run = await ask(owner)
        await held.asked.wait()
        heard = asyncio.Event()

        def begun(told: Told) -> bool:
            heard.set()
            return False

        listening = asyncio.create_task(events(owner, run["events"], until=begun))
        await heard.wait()
        server.task.cancel()
        async with asyncio.timeout(60):
            told = await listening
            await asyncio.wait([server.task])
        names = [one.name for one in told]
        assert names[-1] == "cancelled"
        assert "stopping" in names
    held.go.set()
    assert (await pgs.resume(run["run"])).coverage.exhausted


async def test_a_graph_is_added_and_what_does_not_fit_is_refused(
    owner: httpx2.AsyncClient,
) -> None:
    body = {"name": "titles", "labels": ["Paper"], "text": ["title"]}
    added = await owner.post("/api/graphs", json=body)
    assert (added.status_code, added.json()["created"]) == (201, True)
    assert (await owner.post("/api/graphs", json=body)).json()["created"] is False
    other = await owner.post("/api/graphs", json=body | {"text": ["abstract"]})
    assert (other.status_code, other.json()["code"]) == (409, "graph_exists")
    assert other.json()["fix"]
    wrong = await owner.post("/api/graphs", json=body | {"name": "a b"})
    assert wrong.status_code == 422
    proposal = (await owner.get("/api/inspect")).json()
    assert [domain["labels"] for domain in proposal["domains"]] == [["Paper"]]
    assert proposal["domains"][0]["mapping"]["text"] == proposal["mapping"]["text"]
    names = [graph["name"] for graph in (await owner.get("/api/graphs")).json()]
    assert names == ["papers", "titles"]


async def test_views_of_a_graph_its_sessions_and_its_jobs(owner: httpx2.AsyncClient) -> None:
    name = "/a / b/ 100%"
    run = await ask(owner, session=name)
    await events(owner, run["events"])
    (graph,) = (await owner.get("/api/graphs")).json()
    assert (graph["name"], graph["partitions"]) == ("papers", 4)
    partitions = (await owner.get("/api/graphs/papers/partitions")).json()
    assert sorted(part["id"] for part in partitions["partitions"]) == [1, 2, 3, 4]
    assert (partitions["total"], partitions["after"]) == (4, None)
    (session,) = (await owner.get("/api/sessions", params={"graph": "papers"})).json()
    assert (session["session"], session["coverage"]["partitions_swept"]) == (name, 4)
    shown = (await owner.get(f"/api/graphs/papers/sessions/{quote(name, safe='')}")).json()
    assert [one["id"] for one in shown["runs"]] == [run["run"]]
    (listed,) = (await owner.get("/api/runs")).json()
    assert (listed["run"], listed["status"]) == (run["run"], "complete")
    (cost,) = (await owner.get("/api/cost")).json()
    assert (cost["graph"], cost["runs"]) == ("papers", 1)
    assert (await owner.get("/api/jobs")).json() == []
    checks = (await owner.get("/api/doctor")).json()
    assert all(check["status"] for check in checks)
    assert (await owner.get("/api/graphs/nothing")).status_code == 404


async def test_nodes_the_map_and_the_part_of_a_page_that_leads_to_them(
    pgs: PGS, owner: httpx2.AsyncClient, db: Database
) -> None:
    run = await ask(owner, graph="papers", top_k=5)
    names = [one.name for one in await events(owner, run["events"])]
    assert names.index("search_answered") < names.index("sweep_started")
    graph = "/api/graphs/papers"
    members = (await owner.get(f"{graph}/partitions/1/members")).json()
    heaviest = members["members"][0]["element_id"]
    node = (await owner.get(f"{graph}/nodes/{heaviest}")).json()
    assert (members["partition"], node["partition"], bool(node["text"])) == (1, 1, True)
    assert (await owner.get(f"{graph}/nodes/{heaviest}/neighbors")).json()["neighbors"]
    findings = (await owner.get(f"{graph}/nodes/{heaviest}/findings")).json()
    assert {one["run"] for one in findings} == {run["run"]}
    gone = await owner.get(f"{graph}/nodes/4:0:999999")
    assert (gone.status_code, gone.json()["code"]) == (404, "unknown_node")
    assert (await owner.get(f"{graph}/partitions/99/members")).status_code == 404

    drawn = (await owner.get(f"{graph}/map")).json()
    assert (drawn["level"], len(drawn["places"]), len(drawn["links"])) == (0, 4, 3)
    assert sum(place["nodes"] for place in drawn["places"]) == 160
    assert all(0 <= place[axis] <= 1 for place in drawn["places"] for axis in ("x", "y"))
    assert drawn["generation"] == (await pgs.partitions.generation("papers")).id
    assert (await owner.get(f"{graph}/map")).json() == drawn
    assert sum(one["nodes_read"] for one in (await owner.get(f"{graph}/read")).json()) == 160
    assert (await owner.get(f"{graph}/read?session=other")).json() == []
    unknown = await owner.get(f"{graph}/map?within=3")
    assert (unknown.status_code, "no unit 3" in unknown.json()["error"]) == (404, True)

    told = await owner.get(run["answer"].replace(".html", ".fragment"))
    assert told.headers["content-type"].startswith("text/html")
    assert "<html" not in told.text
    ids = {piece.split('"')[0] for piece in told.text.split('data-node="')[1:]}
    rows = await fetch(db, "MATCH (p:Paper) RETURN collect(elementId(p)) AS ids")
    assert ids
    assert ids <= set(rows[0]["ids"])
    policy = (await owner.get(run["answer"])).headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "sandbox" in policy


async def test_a_reader_that_vanishes_leaves_nothing_behind(owner: httpx2.AsyncClient) -> None:
    run = await ask(owner)
    await events(owner, run["events"])
    before = len(asyncio.all_tasks())
    for _ in range(20):
        told = await events(owner, run["events"], until=lambda told: told.id == 1)
        assert told[-1].id == 1

    async def few() -> bool:
        return len(asyncio.all_tasks()) <= before + 4

    await until(few, 30)
