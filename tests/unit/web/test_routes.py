"""Routes ask the engine for what the caller may see, and for nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from secrets import token_hex
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.engine import Request, RunInfo, SessionInfo, StoredRun
from pgs_neo4j.errors import IdempotencyError, UsageError, unknown_run
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.calls.spending import current_payer
from pgs_neo4j.model import Found, GraphMapping
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.tokens import hash_token
from pgs_neo4j.web.jobs import LiveJob
from pgs_neo4j.web.served_work import held_costs
from pgs_neo4j.web.shared import Serving
from tests.fakes.records import COVERED, RUN, SPENT, StoredGraphs, giving, stored_run
from tests.in_process import failure, in_process, serving_of

INFO = RunInfo(
    id=RUN, graph="papers", session="ann / default", mode="full", status="complete",
    question="Why?", started_at="2026-01-01T00:00:00Z", finished_at=None, answered=True,
    silent=False, nodes_read=3, seconds=1.0, model="m", cost=0.5, error=None,
    structure_only=False,
)  # fmt: skip
SESSIONS = [
    SessionInfo(id=name, graph="papers", created_at="", updated_at="", runs=1, coverage=COVERED)
    for name in ("ann / default", "bob / default", "default")
]
ASKED = {"question": "Why?", "graph": "papers", "max_sweep_partitions": 900}
KEY = {"Idempotency-Key": "k1"}


class Runs:
    """A run of ann's, whose key is of the request ASKED, and what was spent."""

    def __init__(self) -> None:
        self.looked = list[Request]()
        self.details: str | None = "{}"
        self.costs = giving([SPENT])

    async def __call__(self, graph: str | None, session: str | None, **_: Any) -> list[RunInfo]:
        return [INFO]

    async def get(self, run: str) -> StoredRun:
        if run != RUN:
            raise unknown_run(run)
        config = json.dumps({"values": {"max_cost": 1.0}, "set": ["max_cost"]})
        return stored_run("ann / default", question="Why?", status="complete", config=config)

    def new_id(self) -> str:
        return f"r{token_hex(6)}"

    async def repeated(self, request: Request) -> StoredRun | None:
        self.looked.append(request)
        if request.idempotency_key != "k1":
            return None
        if request.question != ASKED["question"]:
            raise IdempotencyError("the key is of another request; choose another key")
        return stored_run("ann / default", details=self.details)


class Search:
    """A search that may cost something, or not; ``allowed`` is what it was allowed to cost."""

    def __init__(self) -> None:
        self.paid, self.allowed = True, list[float | None]()

    async def __call__(self, question: str, **_: Any) -> Found:
        if not self.paid:
            self.allowed.append(None)
        else:
            async with current_payer().allow(0.125) as allowed:
                self.allowed.append(allowed)
        return Found(mode="local", question=question, items=(), paths=(), seconds=0.0)


async def job_of(job: str) -> Any:
    if job != "j1":
        raise UsageError(f"there is no job {job}; 'pgs jobs list' shows those on record")
    return SimpleNamespace(graph="secret")


@pytest.fixture
def engine() -> SimpleNamespace:
    return SimpleNamespace(
        graphs=StoredGraphs(), runs=Runs(), sessions=giving(SESSIONS), search=Search(),
        config=PGSConfig(max_sweep_partitions=7), jobs=SimpleNamespace(get=job_of),
        browse=SimpleNamespace(node=None), settings=Settings(),
    )  # fmt: skip


@pytest.fixture
def serving(engine: SimpleNamespace) -> Serving:
    serving = serving_of(
        engine,
        Caller("ann", "asker", True, frozenset({"papers"})),
        Caller("bob", "reader", True, frozenset({"papers", "other"})),
        Caller("boss", "operator"),
        Caller("keeper", "operator", True, frozenset({"papers"})),
    )
    for name, day in (("rich", 5.0), ("poor", 0.5)):
        caller = Caller("ann", "asker", True, frozenset({"papers"}), None, day)
        serving.tokens.programs[hash_token(name)] = caller
    return serving


@pytest.fixture
async def web(serving: Serving) -> AsyncIterator[httpx2.AsyncClient]:
    async with in_process(serving) as client:
        yield client


def of(name: str) -> dict[str, dict[str, str]]:
    return {"headers": {"Authorization": f"Bearer {name}"}}


@pytest.mark.parametrize(
    ("name", "graphs", "sessions"),
    [("ann", ["papers"], ["default"]), ("bob", ["papers"], ["default"]),
     ("boss", ["papers", "secret"], ["ann / default", "bob / default", "default"])],
)  # fmt: skip
async def test_callers_see_their_graphs_and_sessions_by_the_names_that_they_gave(
    web: httpx2.AsyncClient, name: str, graphs: list[str], sessions: list[str]
) -> None:
    listed = (await web.get("/api/graphs", **of(name))).json()
    assert [graph["name"] for graph in listed] == graphs
    hidden = await web.get("/api/graphs/secret", **of(name))
    assert hidden.status_code == (200 if "secret" in graphs else 404)
    listed = (await web.get("/api/sessions", **of(name))).json()
    assert [session["session"] for session in listed] == sessions
    named = (await web.get("/api/sessions", params={"graph": "papers"}, **of(name))).json()
    assert named == listed
    assert failure(
        await web.post("/api/plan", json={"question": "Why?", "graph": "nothing"}, **of("ann"))
    ) == (404, "unknown_graph")


async def test_runs_and_costs_of_others_are_left_out(web: httpx2.AsyncClient) -> None:
    for path in ("/api/runs", "/api/cost"):
        assert (await web.get(path, **of("bob"))).json() == []
        for name, session in (("ann", "default"), ("boss", "ann / default")):
            (told,) = (await web.get(path, **of(name))).json()
            assert told["session"] == session
    for path in ("", "/events", "/answer.html"):
        assert failure(await web.get(f"/api/runs/{RUN}{path}", **of("bob"))) == (404, "unknown_run")


async def test_an_operator_of_some_graphs_reaches_nothing_beyond_them(
    web: httpx2.AsyncClient,
) -> None:
    for method, path, body in (
        ("GET", "/api/inspect", None),
        ("GET", "/api/doctor", None),
        ("POST", "/api/demo", {}),
        ("POST", "/api/graphs", {"name": "papers", "replace": True}),
        ("POST", "/api/graphs", {"name": "papers", "labels": ["Paper"]}),
        ("DELETE", "/api/graphs/papers/document?id=a.md&forget=true", None),
    ):
        refused = await web.request(method, path, json=body, **of("keeper"))
        assert failure(refused) == (403, "forbidden"), path
        assert "limited to its graphs" in refused.json()["error"]
        assert refused.json()["fix"].startswith("use a token without graphs")


async def test_a_hidden_graph_and_none_at_all_look_the_same(web: httpx2.AsyncClient) -> None:
    for path in ("", "/partitions", "/generation", "/sessions/s", "/nodes/1"):
        hidden = await web.get(f"/api/graphs/secret{path}", **of("ann"))
        missing = await web.get(f"/api/graphs/nothing{path}", **of("ann"))
        assert hidden.status_code == missing.status_code == 404
        assert hidden.text.replace("secret", "x") == missing.text.replace("nothing", "x")
    hidden, missing = [await web.get(f"/api/jobs/{id_}", **of("keeper")) for id_ in ("j1", "j2")]
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace("j1", "j2") == missing.text


async def test_a_retry_is_recognized_before_the_money_and_another_question_is_not(
    web: httpx2.AsyncClient, engine: SimpleNamespace, serving: Serving
) -> None:
    async def execute(request: Request, **options: Any) -> None:
        await asyncio.sleep(100)

    engine.execute = execute
    body = {"question": "Why?", "graph": "papers"}
    sent = {"headers": of("rich")["headers"] | {"Idempotency-Key": "k"}}
    first, again = [await web.post("/api/runs", json=body, **sent) for _ in range(2)]
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["run"] == again.json()["run"]
    other = await web.post("/api/runs", json=body | {"question": "How?"}, **sent)
    assert failure(other) == (409, "idempotency")
    assert "choose another key" in other.json()["fix"]
    assert failure(await web.post("/api/runs", json=body | {"top_k": 5}, **sent)) == (422, "usage")
    assert failure(await web.post("/api/runs", json=body, **of("rich"))) == (402, "budget")
    assert [*serving.board.live.by_id] == [first.json()["run"]]


@pytest.mark.parametrize(("day", "most"), [(9.0, 1.0), (0.75, 0.25), (None, None)])
async def test_resuming_never_raises_the_limit_of_a_run(
    web: httpx2.AsyncClient,
    engine: SimpleNamespace,
    serving: Serving,
    day: float | None,
    most: float | None,
) -> None:
    limits: list[float | None] = []

    async def resume(run: str, *, on_event: OnEvent, max_cost: float | None) -> None:
        limits.append(max_cost)

    engine.resume = resume
    serving.tokens.programs[hash_token("ann")] = Caller("ann", "asker", True, None, None, day)
    assert (await web.post(f"/api/runs/{RUN}/resume", json={}, **of("ann"))).status_code == 202
    held = sum(held_costs(serving.board.live, Caller("ann", tenant=True)).values())
    task = serving.board.live.by_id[RUN].task
    assert task is not None
    await asyncio.wait([task])
    assert (limits, held) == ([most], most or 0.0)


@pytest.mark.parametrize("part", ["labels", "relationship_types"])
async def test_a_list_that_is_empty_is_not_taken_for_all(
    web: httpx2.AsyncClient, engine: SimpleNamespace, part: str
) -> None:
    stored: list[GraphMapping] = []

    async def add_graph(name: str, mapping: GraphMapping, *, replace: bool) -> bool:
        stored.append(mapping)
        return True

    engine.graphs.add, engine.graphs.validate = add_graph, giving([])
    new = {"name": "new", "text": ["text"]}
    for wrong in ([], None, "", [""]):
        refused = await web.post("/api/graphs", json=new | {part: wrong}, **of("boss"))
        assert failure(refused) == (422, "invalid")
        assert part in refused.json()["error"]
        assert wrong != [] or "leave it out to take all" in refused.json()["error"]
    assert stored == []
    added = await web.post("/api/graphs", json=new, **of("boss"))
    assert added.status_code == 201, added.text
    assert stored == [GraphMapping(text=("text",))]


async def test_the_demo_is_made_by_operators_where_no_graph_is(
    web: httpx2.AsyncClient, serving: Serving
) -> None:
    for name, status, code in (("ann", 403, "forbidden"), ("boss", 409, "graph_exists")):
        assert failure(await web.post("/api/demo", json={}, **of(name))) == (status, code)
    assert serving.jobs.live.by_id == {}


async def test_jobs_in_progress_are_listed_to_who_started_them(
    web: httpx2.AsyncClient, serving: Serving
) -> None:
    boss = serving.tokens.programs[hash_token("boss")]
    for graph in ("papers", "other"):
        job = LiveJob(graph, boss, "repartition")
        serving.jobs.live.by_id[job.id] = job
    one, other = (await web.get("/api/jobs/live", **of("boss"))).json()
    assert [(one["graph"], one["kind"]), other["graph"]] == [("papers", "repartition"), "other"]
    assert (await web.get("/api/jobs/live?graph=papers", **of("boss"))).json() == [one]
    assert (await web.get(one["events"].removesuffix("/events"), **of("boss"))).json() == one
    assert (await web.get("/api/jobs/live", **of("ann"))).json() == []
    assert (await web.get("/api/jobs/live?graph=secret", **of("ann"))).status_code == 404


async def test_a_late_retry_finds_its_answer_though_nothing_is_left(
    web: httpx2.AsyncClient, engine: SimpleNamespace
) -> None:
    sent = {"headers": of("poor")["headers"] | KEY}
    again = await web.post("/api/runs", json=ASKED, **sent)
    assert (again.status_code, again.json()["run"]) == (202, RUN)
    assert again.json()["state"] == "answered"
    assert again.json()["answer"] == f"/api/runs/{RUN}/answer.html"
    (request,) = engine.runs.looked
    sent_as = (request.question, request.idempotency_key, request.session)
    assert sent_as == ("Why?", "k1", "ann / default")
    assert request.knobs["max_sweep_partitions"] == 7, (
        "compared as it was asked: within the settings"
    )


@pytest.mark.parametrize(
    ("body", "headers", "details", "status", "code"),
    [
        ({}, {}, "{}", 402, "budget"),
        ({}, {"Idempotency-Key": "k2"}, "{}", 402, "budget"),
        ({}, KEY, None, 402, "budget"),
        ({"question": "How?"}, KEY, "{}", 409, "idempotency"),
        ({"answer_from": "search"}, KEY, "{}", 402, "budget"),
    ],
    ids=["no key", "another key", "no answer yet", "another question", "a search"],
)
async def test_any_other_request_of_who_has_spent_the_money_is_refused(
    web: httpx2.AsyncClient, engine: SimpleNamespace, body: dict[str, Any],
    headers: dict[str, str], details: str | None, status: int, code: str,
) -> None:  # fmt: skip
    engine.runs.details = details
    sent = {"headers": of("poor")["headers"] | headers}
    refused = await web.post("/api/runs", json=ASKED | body, **sent)
    assert failure(refused) == (status, code)
    assert code != "budget" or "tomorrow" in refused.json()["fix"]


async def test_a_search_that_may_cost_something_needs_money(
    web: httpx2.AsyncClient, engine: SimpleNamespace
) -> None:
    body = {"question": "Why?", "graph": "papers", "mode": "local"}
    for name, paid in (("poor", True), ("poor", False), ("rich", True), ("boss", True)):
        engine.search.paid = paid
        answer = await web.post("/api/search", json=body, **of(name))
        assert answer.status_code == (402 if (name, paid) == ("poor", True) else 200), answer.text
    assert engine.search.allowed == [None, 0.125, None]
