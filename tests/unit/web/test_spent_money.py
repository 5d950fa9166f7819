"""Who has spent the money of the day still gets what costs nothing, and no more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from pgs_neo4j.browse.costs import DayCost
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.engine import StoredGraph, StoredRun
from pgs_neo4j.errors import IdempotencyError
from pgs_neo4j.model import Found, GraphMapping
from pgs_neo4j.web.access.callers import Caller
from tests.in_process import in_process, serving_of

POOR = Caller("poor", "asker", True, None, None, 0.5)
RICH = Caller("rich", "asker", True, None, None, 50.0)
OWNER = Caller("owner")
RUN = "r0123456789ab"
SPENT = DayCost(
    day="2026-01-01", graph="papers", session="poor / default", model="m", runs=1, calls=2,
    cached=0, input_tokens=3, output_tokens=4, cost=0.5, unpriced=0,
)  # fmt: skip
ASKED = {"question": "Why?", "graph": "papers", "max_sweep_partitions": 900}
KEY = {"Idempotency-Key": "k1"}


class Engine:
    """A database with one run, whose key is of the request ASKED."""

    def __init__(self, *, details: str | None = "{}", paid: bool = True) -> None:
        self.details, self.paid = details, paid
        self.looked: list[tuple[str, str, dict[str, Any]]] = []
        self.config = PGSConfig(max_sweep_partitions=7)
        self.graphs = SimpleNamespace(get=self.graph)
        self.runs = SimpleNamespace(
            repeated=self.repeated, costs=self.costs, new_id=lambda: "rffffffffffff"
        )
        self.search = Search(paid)

    async def graph(self, name: str | None = None) -> StoredGraph:
        return StoredGraph("papers", GraphMapping(labels=("Paper",)), "g1", 9, 1)

    async def costs(self, days: int) -> list[DayCost]:
        return [SPENT]

    async def repeated(self, question: str, key: str, **asked: Any) -> StoredRun | None:
        self.looked.append((question, key, asked))
        if key != "k1":
            return None
        if question != ASKED["question"]:
            raise IdempotencyError("the key is of another request; choose another key")
        return StoredRun(
            id=RUN, graph="papers", session="poor / default", generation="g1", current=True,
            silent=False, properties={"details": self.details},
        )  # fmt: skip


class Search:
    """A search that may cost something, or not."""

    def __init__(self, paid: bool) -> None:
        self.paid, self.count = paid, 0

    async def may_cost(self, graph: str, rerank: str | None) -> bool:
        return self.paid

    async def __call__(self, question: str, **_: Any) -> Found:
        self.count += 1
        return Found(mode="local", question=question, items=(), paths=(), seconds=0.0)


async def ask(engine: Engine, body: dict[str, Any], headers: dict[str, str]) -> httpx2.Response:
    async with in_process(serving_of(engine, POOR), "poor") as web:
        return await web.post("/api/runs", json=body, headers=headers)


async def test_a_late_retry_finds_its_answer_though_nothing_is_left() -> None:
    engine = Engine()
    again = await ask(engine, ASKED, KEY)
    assert (again.status_code, again.json()["run"]) == (202, RUN)
    assert again.json()["state"] == "answered"
    assert again.json()["answer"] == f"/api/runs/{RUN}/answer.html"
    ((question, key, asked),) = engine.looked
    assert (question, key, asked["session_id"]) == ("Why?", "k1", "poor / default")
    assert asked["max_sweep_partitions"] == 7, "compared as it was asked: within the settings"


@pytest.mark.parametrize(
    ("body", "headers", "details", "status"),
    [
        (ASKED, {}, "{}", 402),
        (ASKED, {"Idempotency-Key": "k2"}, "{}", 402),
        (ASKED, KEY, None, 402),
        (ASKED | {"question": "How?"}, KEY, "{}", 409),
        (ASKED | {"answer_from": "search"}, KEY, "{}", 402),
    ],
    ids=["no key", "another key", "no answer yet", "another question", "a search"],
)
async def test_any_other_request_is_refused(
    body: dict[str, Any], headers: dict[str, str], details: str | None, status: int
) -> None:
    refused = await ask(Engine(details=details), body, headers)
    assert (refused.status_code, refused.json()["code"]) == (
        status,
        {402: "budget", 409: "idempotency"}[status],
    )


@pytest.mark.parametrize(
    ("caller", "paid", "status"),
    [("poor", True, 402), ("poor", False, 200), ("rich", True, 200), ("owner", True, 200)],
)
async def test_a_search_that_may_cost_something_needs_money(
    caller: str, paid: bool, status: int
) -> None:
    engine = Engine(paid=paid)
    async with in_process(serving_of(engine, POOR, RICH, OWNER), caller) as web:
        body = {"question": "Why?", "graph": "papers", "mode": "local"}
        answer = await web.post("/api/search", json=body)
    assert answer.status_code == status, answer.text
    assert engine.search.count == (status == 200)
