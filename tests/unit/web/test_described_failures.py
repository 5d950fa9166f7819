"""OpenAPI describes the failures that each request can meet, and no others.

What can go wrong is not listed here. The engine's methods that a request calls are made to fail,
one after the other, with each error that their documentation names. So do the guard, the limits of
callers, and the boards of runs and jobs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from inspect import getdoc, ismethod
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest

from pgs_neo4j import errors
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import (
    DatabaseError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    PGSError,
    UnknownRunError,
)
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.tokens import Backoff
from pgs_neo4j.web.description import ANY_READING
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.shared import Serving
from pgs_neo4j.web.uploads import UploadStore
from tests.fakes.records import GRAPH, SPENT, stored_run
from tests.in_process import in_process, serving_of
from tests.openapi import DESCRIBED, PLACES, operations, send

OWNER, POOR, READER = Caller("owner"), Caller("poor", cost_per_day=9.0), Caller("reader", "reader")
SCRAPER = Caller("scraper", "metrics", True)
ELSEWHERE = Caller("elsewhere", "operator", True, frozenset({"other"}))
FILE, JSON = "application/octet-stream", "application/json"
VALUES = {**PLACES, "graph": "papers", "name": "papers.md"}
EVERYWHERE = dict.fromkeys(("graph", "session", "node", "job"), "papers")
ALWAYS = (DatabaseUnavailableError, DatabaseTimeoutError, DatabaseError, PGSError)
"""Whatever reads the database may meet these."""

RUN = stored_run(question="Why?", status="complete", config="{}")
RUNNING = replace(RUN, properties={**RUN.properties, "status": "running"})
ANSWERS: dict[str, Any] = {
    "graphs": [], "graphs.get": GRAPH, "runs": [], "runs.get": RUN, "runs.costs": [],
    "partitions": (), "partitions.generation": SimpleNamespace(id="g1"), "sessions": [],
    "sessions.runs": [], "jobs": [], "graphs.validate": (), "ingest.documents": [],
}  # fmt: skip
"""What leads a request to the next call; the others give nothing."""
AT_ONCE: dict[str, Any] = {"runs.new_id": PLACES["run"]}
DATA = {"config": PGSConfig(), "ingest.endings": (".md",)}


@dataclass
class FaultyEngine:
    """An engine of which one method fails; ``called`` are those that were called."""

    path: str = ""
    fails: str = ""
    error: Exception | None = None
    called: dict[str, None] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        path = f"{self.path}.{name}".lstrip(".")
        return DATA.get(path) or FaultyEngine(path, self.fails, self.error, self.called)

    def __call__(self, *_: Any, **__: Any) -> Any:
        if self.path in AT_ONCE:
            return AT_ONCE[self.path]
        return self._answer()

    async def _answer(self) -> Any:
        self.called[self.path] = None
        if self.path == self.fails and self.error is not None:
            raise self.error
        return ANSWERS.get(self.path)


def documented(path: str) -> Iterator[type[PGSError]]:
    """Yield the errors that the documentation of a method of the engine names."""
    first, _, rest = path.partition(".")
    view = getattr(PGS(cast(Any, None)), first)
    wing = type(view)
    documents = [view] if ismethod(view) else [wing, getattr(wing, rest or "__call__")]
    text = " ".join(getdoc(one) or "" for one in documents)
    text = re.sub(r"except \w+Error", "", text)
    for path_ in re.findall(r"Short for ``pgs\.([\w.]+)``", text):
        yield from documented(path_)
    for name in re.findall(r"\b\w+Error\b", text):
        yield getattr(errors, name)
    yield from ALWAYS


@dataclass
class Probe:
    """One request, sent again and again while something else is wrong."""

    method: str
    path: str
    told: Json
    client: httpx2.AsyncClient
    serving: Serving
    engine: FaultyEngine
    seen: set[int] = field(default_factory=set)

    async def send(self, *callers: Caller) -> None:
        """Send it as it should be, by some callers."""
        for caller in callers:
            self.client.headers["Authorization"] = f"Bearer {caller.name}"
            self.note(await send(self.client, self.method, self.path, self.told, VALUES))

    def note(self, answer: httpx2.Response) -> None:
        """Note a failure, which must have its form."""
        if answer.status_code >= 400:
            self.seen.add(answer.status_code)
            assert answer.headers["content-type"] == JSON, (answer.status_code, answer.text)
            assert answer.json().keys() == {"error", "code", "fix"}

    async def before_guard(self) -> None:
        """Send what the guard refuses, or what is not of the form of its fields."""
        body = self.told.get("requestBody", {}).get("content", {})
        kind = {"Content-Type": FILE if FILE in body else JSON}
        listed = [one["name"] for one in self.told.get("parameters", ())]
        wrong = dict.fromkeys(listed, "!" * 3000)
        sent: tuple[dict[str, Any], ...] = (
            {"headers": {"Host": "elsewhere"}},
            *({"headers": kind | {"Authorization": f"Bearer {name}"}}
              for name in ("none", "reader", "scraper")),
            {"headers": kind | {"Origin": "http://elsewhere"}},
            {"headers": {"Content-Type": "text/plain"}, "content": b"x"},
            *({"headers": kind, "content": content}
              for content in (b"x" * 2_000_000, b"\xff", b"{")),
            {"headers": kind | {"Last-Event-ID": "x"}, "params": wrong},
        )  # fmt: skip
        for one in sent:
            places = {**EVERYWHERE, **(wrong if "params" in one else PLACES)}
            path = self.path.format_map(places)
            self.note(await self.client.request(self.method, path, **one))

    async def while_the_engine_fails(self) -> None:
        """Send it while one method fails that it calls, for each method and each error."""
        await self.send(OWNER, POOR, ELSEWHERE)
        for path in [*self.engine.called]:
            for kind in {*documented(path)}:
                self.engine.fails, self.engine.error = path, kind("it went wrong; mend it")
                await self.send(OWNER, POOR)
        self.engine.fails = ""

    async def while_a_run_has_no_record(self) -> None:
        """Send it about a run that waits."""
        run = LiveRun(PLACES["run"], "papers", "default", OWNER, "Why?")
        self.serving.board.live.by_id[run.id] = run
        self.engine.fails, self.engine.error = "runs.get", UnknownRunError("no run; see pgs runs")
        await self.send(OWNER)
        self.engine.fails = ""
        del self.serving.board.live.by_id[run.id]

    async def while_limits_are_reached(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Send it when the money is spent, and when nothing begins any more."""
        self.serving.stopped.set()  # streams of runs that never end
        monkeypatch.setitem(ANSWERS, "runs.costs", [replace(SPENT, cost=99.0)])
        monkeypatch.setitem(ANSWERS, "runs.get", RUNNING)
        await self.send(POOR)
        self.serving.board.live.stopping = self.serving.jobs.live.stopping = True
        self.serving.uploads.most_files = 0
        monkeypatch.setattr(Backoff, "wait_s", lambda *_: 9.0)
        await self.send(OWNER)


@pytest.mark.parametrize(("method", "path", "told"), [*operations()])
async def test_the_failures_of_a_request_are_described(
    method: str, path: str, told: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UploadStore, "find", lambda *_: [])
    engine = FaultyEngine()
    serving = serving_of(engine, OWNER, POOR, READER, SCRAPER, ELSEWHERE)
    async with in_process(serving, "owner", raise_app_exceptions=False) as client:
        probe = Probe(method, path, told, client, serving, engine)
        await probe.before_guard()
        await probe.while_the_engine_fails()
        if not path.endswith("/events"):  # they have no end
            await probe.while_a_run_has_no_record()
        await probe.while_limits_are_reached(monkeypatch)
    await serving.stop()
    described = {int(status) for status in told["responses"] if status >= "400"}
    if not engine.called:
        described -= {*ANY_READING}
    assert (probe.seen - described, described - probe.seen) == (set(), set()), engine.called


def test_answers_and_failures_have_their_forms() -> None:
    answer = DESCRIBED["paths"]["/api/runs/{run}/answer.{kind}"]["get"]["responses"]["200"]
    assert {*answer["content"]} == {"text/html", "text/markdown", "application/json"}
    for _, path, told in operations():
        for status, answer in told["responses"].items():
            if status >= "400":
                (schema,) = answer["content"].values()
                assert schema["schema"]["$ref"].endswith("/Failure"), (path, status)
    failure = DESCRIBED["components"]["schemas"]["Failure"]
    assert {*failure["properties"]} == {"error", "code", "fix"}
    assert failure["required"] == ["error", "code"]
    named = re.findall(r'"(#/components/schemas/\w+)"', json.dumps(DESCRIBED))
    assert {one.rpartition("/")[2] for one in named} <= {*DESCRIBED["components"]["schemas"]}
