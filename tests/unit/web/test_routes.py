"""Routes ask the engine for what the caller may see, and for nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from secrets import token_hex
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import httpx2
import pytest

from pgs_neo4j.browse.costs import DayCost
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.engine import PGS, Check, RunInfo, SessionInfo, StoredGraph, StoredRun
from pgs_neo4j.errors import UnknownGraphError, UnknownNodeError, UnknownRunError, UsageError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.model import Coverage, GraphMapping, NodeFinding, Partition
from pgs_neo4j.model.graph import Adjacent
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.guard import Guard, served_hosts
from pgs_neo4j.web.access.tokens import Tokens, hashed
from pgs_neo4j.web.app import create_app
from pgs_neo4j.web.jobs.board import LiveJob
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.shared import Serving

COVERED = Coverage(partitions_swept=1, partitions_total=2, nodes_read=3, nodes_total=4)
INFO = RunInfo(
    id="r0123456789ab", graph="papers", session="ann / default", mode="full", status="complete",
    question="Why?", started_at="2026-01-01T00:00:00Z", finished_at=None, answered=True,
    silent=False, nodes_read=3, seconds=1.0, model="m", cost=0.5, error=None,
    structure_only=False,
)  # fmt: skip
COST = DayCost(
    day="2026-01-01", graph="papers", session="ann / default", model="m", runs=1, calls=2,
    cached=0, input_tokens=3, output_tokens=4, cost=0.5, unpriced=0,
)  # fmt: skip
FINDING = NodeFinding(
    id="f1", text="It melts.", run=INFO.id, session="ann / default", question="Why?",
    started_at=INFO.started_at, partition=1,
)  # fmt: skip
PART = Partition(
    id=1, size=9, tokens=100, keywords=("ice",), label="ice", titles=("Ice",),
    adjacent=(Adjacent(id=2, edges=3, weight=1.5),),
)  # fmt: skip


class Graphs:
    """Two graphs, one of which only the owner sees."""

    async def __call__(self) -> list[StoredGraph]:
        return [await self.get("papers"), await self.get("secret")]

    async def get(self, name: str | None = None) -> StoredGraph:
        if name not in ("papers", "secret", None):
            raise UnknownGraphError(f"there is no graph {name}; 'pgs graph list' lists them")
        return StoredGraph(name or "papers", GraphMapping(labels=("Paper",)), "g1", 9, 1)


class Runs:
    """A run of ann's."""

    def __init__(self) -> None:
        self.listed: list[tuple[Any, ...]] = []

    async def __call__(
        self, graph: str | None, session: str | None, *, limit: int, graphs: Any, sessions_of: str
    ) -> list[RunInfo]:
        self.listed.append((graph, session, limit, graphs, sessions_of))
        return [INFO]

    async def get(self, run: str) -> Any:
        if run != INFO.id:
            raise UnknownRunError(f"there is no run {run}")
        config = json.dumps({"values": {"max_cost": 1.0}, "set": ["max_cost"]})
        return StoredRun(
            id=run, graph="papers", session="ann / default", generation="g1", current=True,
            silent=False, properties={
                "question": "Why?", "details": "{}", "cost": 0.5, "status": "complete",
                "config": config,
            },
        )  # fmt: skip

    def new_id(self) -> str:
        return f"r{token_hex(6)}"

    async def costs(self, days: int) -> list[DayCost]:
        return [COST]


class Sessions:
    """Sessions of ann, bob, and the owner."""

    async def __call__(self, graph: str | None = None) -> list[SessionInfo]:
        return [
            SessionInfo(
                id=name, graph="papers", created_at="", updated_at="", runs=1, coverage=COVERED
            )
            for name in ("ann / default", "bob / default", "default")
        ]

    async def runs(self, session: str, graph: str) -> list[dict[str, Any]]:
        return [
            {"id": INFO.id, "question": "Why?", "sweeps": [{"partition": 1, "status": "accepted"}]}
        ]

    async def coverage(self, session: str, graph: str) -> Coverage:
        return COVERED


class Browser:
    """Nodes with one finding."""

    def __init__(self) -> None:
        self.sessions: list[Any] = []

    async def findings_on_node(self, graph: str, node: str, *, sessions: Any, limit: int) -> Any:
        self.sessions.append(sessions)
        return (FINDING,)

    async def node(self, graph: str, node: str) -> Any:
        raise UnknownNodeError(f"graph {graph} has no node {node}")


class Partitions:
    """One partition."""

    async def __call__(self, graph: str) -> tuple[Partition, ...]:
        return (PART,)

    async def generation(self, graph: str) -> Any:
        return SimpleNamespace(id="g1")


async def survey() -> dict[str, list[str]]:
    return {"labels": ["Secret"]}


class Jobs:
    """A job on the graph that only the owner sees."""

    def __init__(self) -> None:
        self.listed: list[tuple[Any, ...]] = []

    async def __call__(self, graph: str | None, *, limit: int, graphs: Any) -> list[Any]:
        self.listed.append((graph, limit, graphs))
        return []

    async def get(self, job: str) -> Any:
        if job != "j1":
            raise UsageError(f"there is no job {job}; 'pgs jobs list' shows those on record")
        return SimpleNamespace(graph="secret")


async def doctor() -> tuple[Check, ...]:
    return (Check("neo4j", "passed", "it answers"),)


@pytest.fixture
def engine() -> SimpleNamespace:
    return SimpleNamespace(
        graphs=Graphs(), runs=Runs(), sessions=Sessions(), browse=Browser(),
        config=PGSConfig(), partitions=Partitions(), doctor=doctor, survey=survey, jobs=Jobs(),
    )  # fmt: skip


@pytest.fixture
def serving(engine: SimpleNamespace) -> Serving:
    callers = {
        hashed("ann"): Caller("ann", "asker", True, frozenset({"papers"})),
        hashed("bob"): Caller("bob", "reader", True, frozenset({"papers", "other"})),
        hashed("boss"): Caller("boss", "operator"),
        hashed("keeper"): Caller("keeper", "operator", True, frozenset({"papers"})),
        hashed("rich"): Caller("ann", "asker", True, None, None, 5.0),
        hashed("poor"): Caller("ann", "asker", True, None, None, 0.5),
    }
    return Serving(cast(PGS, engine), RunBoard(2), Tokens(callers), "pgs_1")


@pytest.fixture
async def web(serving: Serving) -> AsyncIterator[httpx2.AsyncClient]:
    app = Guard(create_app(serving), serving.tokens, "pgs_1", served_hosts("127.0.0.1", 1, ()))
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
        yield client


def of(name: str) -> dict[str, dict[str, str]]:
    return {"headers": {"Authorization": f"Bearer {name}"}}


@pytest.mark.parametrize(
    ("name", "graphs"), [("ann", ["papers"]), ("bob", ["papers"]), ("boss", ["papers", "secret"])]
)
async def test_graphs_are_those_that_the_caller_sees(
    web: httpx2.AsyncClient, name: str, graphs: list[str]
) -> None:
    listed = (await web.get("/api/graphs", **of(name))).json()
    assert [graph["name"] for graph in listed] == graphs
    hidden = await web.get("/api/graphs/secret", **of(name))
    assert hidden.status_code == (200 if "secret" in graphs else 404)


async def test_a_hidden_graph_and_none_at_all_look_the_same(web: httpx2.AsyncClient) -> None:
    for path in ("", "/partitions", "/generation", "/sessions/s", "/nodes/1"):
        hidden = await web.get(f"/api/graphs/secret{path}", **of("ann"))
        missing = await web.get(f"/api/graphs/nothing{path}", **of("ann"))
        assert hidden.status_code == missing.status_code == 404
        assert hidden.text.replace("secret", "x") == missing.text.replace("nothing", "x")


async def test_who_sees_several_graphs_has_to_name_one(web: httpx2.AsyncClient) -> None:
    one = await web.get("/api/sessions", params={"graph": "papers"}, **of("bob"))
    assert one.status_code == 200
    asked = await web.post("/api/plan", json={"question": "Why?", "graph": "secret"}, **of("ann"))
    assert (asked.status_code, asked.json()["code"]) == (404, "unknown_graph")


@pytest.mark.parametrize(
    ("name", "sessions"),
    [("ann", ["default"]), ("bob", ["default"]),
     ("boss", ["ann / default", "bob / default", "default"])],
)  # fmt: skip
async def test_sessions_have_the_names_that_their_callers_gave(
    web: httpx2.AsyncClient, name: str, sessions: list[str]
) -> None:
    listed = (await web.get("/api/sessions", **of(name))).json()
    assert [session["session"] for session in listed] == sessions


@pytest.mark.parametrize("session", ["ann / default", "a/b", "/x/", "100%", "plain"])
async def test_a_session_with_slashes_in_its_name_can_be_opened(
    web: httpx2.AsyncClient, session: str
) -> None:
    shown = await web.get(f"/api/graphs/papers/sessions/{quote(session, safe='')}", **of("boss"))
    assert (shown.status_code, shown.json().get("session")) == (200, session)


async def test_runs_and_costs_of_others_are_left_out(web: httpx2.AsyncClient) -> None:
    for path in ("/api/runs", "/api/cost"):
        assert len((await web.get(path, **of("ann"))).json()) == 1
        assert len((await web.get(path, **of("boss"))).json()) == 1
        assert (await web.get(path, **of("bob"))).json() == []
    for path in ("", "/events", "/answer.html"):
        seen = await web.get(f"/api/runs/{INFO.id}{path}", **of("bob"))
        assert (seen.status_code, seen.json()["code"]) == (404, "unknown_run")


async def test_lists_are_limited_to_what_the_caller_sees_in_the_database(
    web: httpx2.AsyncClient, engine: SimpleNamespace
) -> None:
    await web.get("/api/runs", **of("ann"))
    await web.get("/api/runs?limit=7&session=s", **of("ann"))
    await web.get("/api/runs", **of("boss"))
    assert engine.runs.listed == [
        (None, None, 50, {"papers"}, "ann / "),
        (None, "ann / s", 7, {"papers"}, "ann / "),
        (None, None, 50, None, ""),
    ]
    for name in ("ann", "boss"):
        await web.get("/api/jobs", **of(name))
    assert engine.jobs.listed == [(None, 100, {"papers"}), (None, 100, None)]


async def test_costs_have_the_sessions_that_their_callers_named(web: httpx2.AsyncClient) -> None:
    for name, session in (("ann", "default"), ("boss", "ann / default")):
        (told,) = (await web.get("/api/cost", **of(name))).json()
        assert told["session"] == session


async def test_a_run_is_shown_with_its_sweeps(web: httpx2.AsyncClient) -> None:
    shown = (await web.get(f"/api/runs/{INFO.id}", **of("ann"))).json()
    assert (shown["state"], shown["session"], shown["answered"]) == ("complete", "default", True)
    link = f"/api/runs/{INFO.id}/reports/1"
    assert shown["sweeps"] == [{"partition": 1, "status": "accepted", "report": link}]


async def test_a_partition_has_its_borders(web: httpx2.AsyncClient) -> None:
    page = (await web.get("/api/graphs/papers/partitions", **of("ann"))).json()
    (part,) = page["partitions"]
    assert (part["nodes"], part["label"]) == (9, "ice")
    assert part["adjacent"] == [{"partition": 2, "relationships": 3, "weight": 1.5}]


async def test_findings_are_those_of_own_sessions(
    web: httpx2.AsyncClient, engine: SimpleNamespace
) -> None:
    for name in ("ann", "boss"):
        (found,) = (await web.get("/api/graphs/papers/nodes/4:0:1/findings", **of(name))).json()
        assert found["text"] == "It melts."
    assert engine.browse.sessions == [["ann / default"], None]


@pytest.mark.parametrize("partition", ["0", "-1", "x", "99999999999"])
async def test_a_partition_is_a_number(web: httpx2.AsyncClient, partition: str) -> None:
    path = f"/api/graphs/papers/partitions/{partition}/members"
    refused = await web.get(path, **of("ann"))
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")


async def test_a_node_that_is_gone_is_told(web: httpx2.AsyncClient) -> None:
    gone = await web.get("/api/graphs/papers/nodes/4:0:7", **of("ann"))
    assert (gone.status_code, gone.json()["code"]) == (404, "unknown_node")


@pytest.mark.parametrize("run", ["r1", "R0123456789AB", "r0123456789ab0", "..%2f..%2fetc"])
async def test_an_id_of_another_form_is_refused(web: httpx2.AsyncClient, run: str) -> None:
    refused = await web.get(f"/api/runs/{run}", **of("ann"))
    assert refused.status_code in (404, 422)
    assert refused.json()["code"] in ("invalid", "not_found")


async def test_roles(web: httpx2.AsyncClient) -> None:
    assert (await web.get("/api/doctor", **of("boss"))).json()[0]["name"] == "neo4j"
    assert (await web.get("/api/doctor", **of("ann"))).status_code == 403
    asked = await web.post("/api/runs", json={"question": "Why?"}, **of("bob"))
    assert (asked.status_code, asked.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/inspect", None),
        ("GET", "/api/doctor", None),
        ("POST", "/api/demo", {}),
        ("POST", "/api/graphs", {"name": "papers", "replace": True}),
        ("POST", "/api/graphs", {"name": "papers", "labels": ["Paper"]}),
        ("DELETE", "/api/graphs/papers/document?id=a.md&forget=true", None),
    ],
)
async def test_an_operator_of_some_graphs_reaches_nothing_beyond_them(
    web: httpx2.AsyncClient, method: str, path: str, body: dict[str, Any] | None
) -> None:
    refused = await web.request(method, path, json=body, **of("keeper"))
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "limited to its graphs" in refused.json()["error"]
    assert refused.json()["fix"].startswith("use a token without graphs")


async def test_a_job_on_a_hidden_graph_and_none_at_all_look_the_same(
    web: httpx2.AsyncClient,
) -> None:
    hidden = await web.get("/api/jobs/j1", **of("keeper"))
    missing = await web.get("/api/jobs/j2", **of("keeper"))
    assert hidden.status_code == missing.status_code == 404
    assert hidden.text.replace("j1", "j2") == missing.text


async def test_who_has_spent_the_money_of_the_day_waits(web: httpx2.AsyncClient) -> None:
    body = {"question": "Why?", "graph": "papers"}
    refused = await web.post("/api/runs", json=body, **of("poor"))
    assert (refused.status_code, refused.json()["code"]) == (402, "budget")
    assert "tomorrow" in refused.json()["fix"]


async def test_a_retry_is_recognized_before_the_money_and_another_question_is_not(
    web: httpx2.AsyncClient, engine: SimpleNamespace, serving: Serving
) -> None:
    async def execute(question: str, **options: Any) -> None:
        await asyncio.sleep(100)

    engine.execute = execute
    body = {"question": "Why?", "graph": "papers"}
    sent = {"headers": of("rich")["headers"] | {"Idempotency-Key": "k"}}
    first, again = [await web.post("/api/runs", json=body, **sent) for _ in range(2)]
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["run"] == again.json()["run"]
    other = await web.post("/api/runs", json=body | {"question": "How?"}, **sent)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency")
    assert "choose another key" in other.json()["fix"]
    layered = await web.post("/api/runs", json=body | {"top_k": 5}, **sent)
    assert (layered.status_code, layered.json()["code"]) == (422, "usage")
    new = await web.post("/api/runs", json=body, **of("rich"))
    assert (new.status_code, new.json()["code"]) == (402, "budget")
    assert [*serving.board.live] == [first.json()["run"]]


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
    serving.tokens.programs[hashed("ann")] = Caller("ann", "asker", True, None, None, day)
    assert (await web.post(f"/api/runs/{INFO.id}/resume", json={}, **of("ann"))).status_code == 202
    held = serving.board.held_cost(Caller("ann"))
    task = serving.board.live[INFO.id].task
    assert task is not None
    await asyncio.wait([task])
    assert (limits, held) == ([most], most or 0.0)


async def test_the_demo_is_made_by_operators_where_no_graph_is(
    web: httpx2.AsyncClient, serving: Serving
) -> None:
    for name, status, code in (("ann", 403, "forbidden"), ("boss", 409, "graph_exists")):
        refused = await web.post("/api/demo", json={}, **of(name))
        assert (refused.status_code, refused.json()["code"]) == (status, code)
    serving.read_only = True
    assert (await web.post("/api/demo", json={}, **of("boss"))).status_code == 403
    assert serving.jobs.live == {}


async def test_jobs_in_progress_are_listed_to_who_started_them(
    web: httpx2.AsyncClient, serving: Serving
) -> None:
    boss = serving.tokens.programs[hashed("boss")]
    for graph in ("papers", "other"):
        job = LiveJob(boss, graph, "repartition")
        serving.jobs.live[job.id] = job
    listed = (await web.get("/api/jobs/live", **of("boss"))).json()
    assert [(one["graph"], one["kind"]) for one in listed] == [
        ("papers", "repartition"), ("other", "repartition"),
    ]  # fmt: skip
    one = (await web.get("/api/jobs/live?graph=papers", **of("boss"))).json()
    assert one == listed[:1]
    assert (await web.get(one[0]["events"].removesuffix("/events"), **of("boss"))).json() == one[0]
    assert (await web.get("/api/jobs/live", **of("ann"))).json() == []
    assert (await web.get("/api/jobs/live?graph=secret", **of("ann"))).status_code == 404


async def test_me(web: httpx2.AsyncClient) -> None:
    me = (await web.get("/api/me", **of("bob"))).json()
    assert (me["name"], me["role"], me["graphs"]) == ("bob", "reader", ["other", "papers"])
