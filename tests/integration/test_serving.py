"""The server on a real database: questions, their events, and their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.web.runs import elsewhere
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
        for name in ("domain_state", "absences"):
            assert report[name] == sweep["report"][name]
        for name in ("findings", "flags"):
            assert [one["text"] for one in report[name]] == [
                one["text"] for one in sweep["report"][name]
            ]
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


async def test_a_run_of_another_process_is_told_until_it_ends(
    pgs: PGS, owner: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(pgs)
    monkeypatch.setattr(elsewhere, "LOOK_S", 0.02)
    running = asyncio.create_task(pgs.execute("Why?", graph="papers", full_sweep=True))
    await held.asked.wait()
    (run,) = (await owner.get("/api/runs")).json()
    path = f"/api/runs/{run['run']}"
    assert (await owner.get(path)).json()["elsewhere"]
    heard = asyncio.Event()

    def ended(told: Told) -> bool:
        heard.set()
        return False

    following = asyncio.create_task(events(owner, f"{path}/events", until=ended))
    await heard.wait()
    assert not following.done()
    held.go.set()
    await running
    told = await following
    assert {one.name for one in told} == {"snapshot"}
    assert (told[0].data["state"], told[0].data["elsewhere"]) == ("running", True)
    assert (told[-1].data["state"], told[-1].data["answered"]) == ("complete", True)
    assert "elsewhere" not in told[-1].data
    (again,) = await events(owner, f"{path}/events", after=17)
    assert (again.name, again.data) == ("snapshot", told[-1].data)
    assert len(again.data["sweeps"]) == 4


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


async def test_a_citation_leads_to_its_node_and_what_is_around_it(
    owner: httpx2.AsyncClient,
) -> None:
    run = await ask(owner)
    await events(owner, run["events"])
    members = (await owner.get("/api/graphs/papers/partitions/1/members")).json()
    assert members["partition"] == 1
    heaviest = members["members"][0]["element_id"]
    node = (await owner.get(f"/api/graphs/papers/nodes/{heaviest}")).json()
    assert node["partition"] == 1
    assert node["text"]
    around = (await owner.get(f"/api/graphs/papers/nodes/{heaviest}/neighbors")).json()
    assert around["neighbors"]
    findings = (await owner.get(f"/api/graphs/papers/nodes/{heaviest}/findings")).json()
    assert {one["run"] for one in findings} == {run["run"]}
    gone = await owner.get("/api/graphs/papers/nodes/4:0:999999")
    assert (gone.status_code, gone.json()["code"]) == (404, "unknown_node")
    beyond = await owner.get("/api/graphs/papers/partitions/99/members")
    assert beyond.status_code == 422


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
    assert proposal
    names = [graph["name"] for graph in (await owner.get("/api/graphs")).json()]
    assert names == ["papers", "titles"]


async def test_a_wrong_question_is_refused_before_anything_begins(
    owner: httpx2.AsyncClient,
) -> None:
    asked = {"question": "Why?"}
    for body, status, code in (
        ({"question": "   "}, 422, "question"),
        (asked | {"graph": "nothing"}, 404, "unknown_graph"),
        (asked | {"mode": "sideways"}, 422, "invalid"), (asked | {"max_calls": 0}, 422, "invalid"),
        (asked | {"surprise": 1}, 422, "invalid"), ({}, 422, "invalid"),
    ):  # fmt: skip
        for path in ("/api/runs", "/api/plan"):
            refused = await owner.post(path, json=body)
            assert (refused.status_code, refused.json()["code"]) == (status, code), refused.text
    assert (await owner.get("/api/runs")).json() == []


async def test_a_run_that_fails_says_what_to_do(owner: httpx2.AsyncClient) -> None:
    run = await ask(owner, mode="continue", session="never")
    told = await events(owner, run["events"])
    assert (told[-1].name, told[-1].data["code"]) == ("failed", "unknown_session")
    gone = await owner.get(f"/api/runs/{run['run']}/answer.html")
    assert gone.status_code == 404
    assert (await owner.get(f"/api/runs/{run['run']}")).json()["state"] == "failed"


async def test_a_search_answers_before_the_sweeps(owner: httpx2.AsyncClient) -> None:
    run = await ask(owner, top_k=5)
    names = [one.name for one in await events(owner, run["events"])]
    assert names.index("search_answered") < names.index("sweep_started")
    assert names[-1] == "answered"


async def test_views_of_the_graph(owner: httpx2.AsyncClient) -> None:
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
    assert (await owner.get("/api/graphs/papers/generation")).json()["partition_count"] == 4
    assert (await owner.get("/api/jobs")).json() == []
    checks = (await owner.get("/api/doctor")).json()
    assert all(check["status"] for check in checks)
    assert (await owner.get("/api/graphs/nothing")).status_code == 404


async def test_the_map_and_what_a_session_has_read_of_it(
    owner: httpx2.AsyncClient, pgs: PGS
) -> None:
    run = await ask(owner, graph="papers", max_sweep_partitions=1)
    await events(owner, run["events"])
    drawn = (await owner.get("/api/graphs/papers/map")).json()
    assert (drawn["level"], len(drawn["places"]), len(drawn["links"])) == (0, 4, 3)
    assert sum(place["nodes"] for place in drawn["places"]) == 160
    assert all(0 <= place[axis] <= 1 for place in drawn["places"] for axis in ("x", "y"))
    assert drawn["generation"] == (await pgs.partitions.generation("papers")).id
    again = (await owner.get("/api/graphs/papers/map")).json()
    assert again == drawn
    read = (await owner.get("/api/graphs/papers/read")).json()
    shown = (await owner.get("/api/graphs/papers/sessions/default")).json()
    assert sum(one["nodes_read"] for one in read) == shown["coverage"]["nodes_read"] > 0
    assert (await owner.get("/api/graphs/papers/read?session=other")).json() == []
    unknown = await owner.get("/api/graphs/papers/map?within=3")
    assert unknown.status_code == 422
    assert "no unit 3" in unknown.json()["error"]


async def test_an_answer_as_a_part_of_a_page_opens_nodes_by_their_element_id(
    owner: httpx2.AsyncClient, db: Database
) -> None:
    run = await ask(owner, graph="papers")
    await events(owner, run["events"])
    told = await owner.get(run["answer"].replace(".html", ".fragment"))
    assert told.headers["content-type"].startswith("text/html")
    assert "<html" not in told.text
    ids = {piece.split('"')[0] for piece in told.text.split('data-node="')[1:]}
    _, rows = await db.call("MATCH (p:Paper) RETURN collect(elementId(p)) AS ids", {}, "read")
    assert ids
    assert ids <= set(rows[0]["ids"])
    page = await owner.get(run["answer"])
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "sandbox" in policy


def reached(after: int | None, draw: Random) -> Callable[[Told], bool]:
    """When to cut a stream that continues after some event."""
    last = (after or 0) + draw.randint(2, 9)
    return lambda told: told.id >= last


async def follow(client: httpx2.AsyncClient, path: str, draw: Random) -> list[Told]:
    """Read a stream to its end; every now and then it is cut and continued."""
    listed: list[Told] = []
    while not listed or listed[-1].name not in ("answered", "failed"):
        after = listed[-1].id if listed else None
        listed += await events(client, path, after=after, until=reached(after, draw))
    return listed


@pytest.mark.thorough
async def test_a_crowd_gets_every_event_once_and_in_order(pgs: PGS) -> None:
    async with served(pgs, max_runs=4) as server, server.owner() as owner:
        draw = Random(7)

        async def ask_one(number: int) -> list[Told]:
            run = await ask(owner, session=f"s{number}")
            seed = Random(draw.random())
            if number % 3 == 0:
                return await follow(owner, run["events"], seed)
            return await events(owner, run["events"])

        for told in await asyncio.gather(*map(ask_one, range(12))):
            assert [one.id for one in told] == list(range(1, len(told) + 1))
            assert told[-1].name == "answered", told[-1].data
            assert [one.name for one in told].count("sweep_finished") == 4


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
