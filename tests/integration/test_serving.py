"""The server on a real database: questions, their events, and their answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.web.runs import elsewhere
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import Held, Served, events, served


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with engine_on_papers(endpoint, db) as opened:
        yield opened


@pytest.fixture
async def server(pgs: PGS) -> AsyncIterator[Served]:
    async with served(pgs) as running:
        yield running


@pytest.fixture
async def owner(server: Served) -> AsyncIterator[httpx2.AsyncClient]:
    async with server.owner() as client:
        yield client


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
    told = await events(owner, run["events"])
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
    assert len(shown["sweeps"]) == 4


async def test_a_stream_continues_after_the_last_event_without_gap_or_repeat(
    owner: httpx2.AsyncClient,
) -> None:
    run = await ask(owner)
    first = await events(owner, run["events"], until=lambda told: told.name == "routed")
    rest = await events(owner, run["events"], after=first[-1].id)
    whole = await events(owner, run["events"])
    assert [one.id for one in first + rest] == [one.id for one in whole]
    assert await events(owner, run["events"], after=whole[-1].id) == []


async def test_a_run_of_another_server_comes_as_a_snapshot(
    pgs: PGS, owner: httpx2.AsyncClient
) -> None:
    answer = await pgs.execute("Why?", graph="papers", full_sweep=True)
    (told,) = await events(owner, f"/api/runs/{answer.run}/events", after=17)
    assert told.name == "snapshot"
    assert (told.data["state"], len(told.data["sweeps"])) == ("complete", 4)


async def test_the_same_request_with_the_same_key_is_the_same_run(
    owner: httpx2.AsyncClient,
) -> None:
    body = {"question": "Why?", "full_sweep": True}
    headers = {"Idempotency-Key": "k1"}
    one = await owner.post("/api/runs", json=body, headers=headers)
    two = await owner.post("/api/runs", json=body, headers=headers)
    assert one.json()["run"] == two.json()["run"]
    await events(owner, one.json()["events"])


@pytest.fixture
def held(pgs: PGS, monkeypatch: pytest.MonkeyPatch) -> Held:
    model = Held()
    monkeypatch.setattr(pgs, "sweep_llm", ScriptedLLM(model.answer))
    return model


async def test_a_cancelled_run_can_be_resumed(owner: httpx2.AsyncClient, held: Held) -> None:
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
    pgs: PGS, owner: httpx2.AsyncClient, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "LOOK_S", 0.02)
    running = asyncio.create_task(pgs.execute("Why?", graph="papers", full_sweep=True))
    await held.asked.wait()
    (run,) = (await owner.get("/api/runs")).json()
    path = f"/api/runs/{run['run']}"
    assert (await owner.get(path)).json()["elsewhere"]
    following = asyncio.create_task(events(owner, f"{path}/events"))
    await asyncio.sleep(0.1)
    assert not following.done()
    held.go.set()
    await running
    told = await following
    assert {one.name for one in told} == {"snapshot"}
    assert (told[0].data["state"], told[0].data["elsewhere"]) == ("running", True)
    assert (told[-1].data["state"], told[-1].data["answered"]) == ("complete", True)
    assert "elsewhere" not in told[-1].data


async def test_runs_beyond_the_limit_wait_and_are_told_their_place(pgs: PGS, held: Held) -> None:
    async with served(pgs, max_runs=1) as server, server.owner() as owner:
        first, second, third = [await ask(owner, session=f"s{n}") for n in range(3)]
        await held.asked.wait()
        queued = await events(owner, third["events"], until=lambda told: told.name == "queued")
        assert queued[-1].data["place"] == 2
        await owner.delete(f"/api/runs/{second['run']}")
        held.go.set()
        ended = await events(owner, third["events"])
        assert [one.data["place"] for one in ended if one.name == "queued"] == [2, 1]
        assert ended[-1].name == "answered"
        assert (await events(owner, first["events"]))[-1].name == "answered"


async def test_stopping_ends_the_streams_and_leaves_runs_to_be_resumed(
    pgs: PGS, held: Held
) -> None:
    async with served(pgs) as server, server.owner() as owner:
        run = await ask(owner)
        await held.asked.wait()
        listening = asyncio.create_task(events(owner, run["events"]))
        await asyncio.sleep(0.1)
        server.task.cancel()
        async with asyncio.timeout(5):
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
    assert [one["run"] for one in findings] == [run["run"]] * len(findings)
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


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"question": "   "}, "question"),
        ({"question": "Why?", "graph": "nothing"}, "unknown_graph"),
        ({"question": "Why?", "mode": "sideways"}, "invalid"),
        ({"question": "Why?", "max_calls": 0}, "invalid"),
        ({"question": "Why?", "surprise": 1}, "invalid"),
        ({}, "invalid"),
    ],
)
async def test_a_wrong_question_is_refused_before_anything_begins(
    owner: httpx2.AsyncClient, body: dict[str, Any], code: str
) -> None:
    for path in ("/api/runs", "/api/plan"):
        refused = await owner.post(path, json=body)
        assert refused.json()["code"] == code, refused.text
        assert refused.status_code in (404, 422)
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
    run = await ask(owner, session="mine")
    await events(owner, run["events"])
    (graph,) = (await owner.get("/api/graphs")).json()
    assert (graph["name"], graph["partitions"]) == ("papers", 4)
    partitions = (await owner.get("/api/graphs/papers/partitions")).json()
    assert sorted(part["id"] for part in partitions["partitions"]) == [1, 2, 3, 4]
    assert (partitions["total"], partitions["after"]) == (4, None)
    (session,) = (await owner.get("/api/sessions", params={"graph": "papers"})).json()
    assert (session["session"], session["coverage"]["partitions_swept"]) == ("mine", 4)
    shown = (await owner.get("/api/graphs/papers/sessions/mine")).json()
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
