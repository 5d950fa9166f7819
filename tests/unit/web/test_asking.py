"""A question over HTTP arrives at the engine with all of its options."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import ValidationError

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.engine import PGS, Request
from pgs_neo4j.errors import UsageError
from pgs_neo4j.events import ignore
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.routes.asking import Question, carry_out
from pgs_neo4j.web.routes.runs import within_budget
from pgs_neo4j.web.runs.board import LiveRun
from tests.fakes.records import giving
from tests.fakes.requests import options_of
from tests.in_process import serving_of

ANN = Caller("ann", tenant=True)
SWEPT = {"mode": "full"}
FIRST = SWEPT | {"top_k": 20, "search_mode": None}


class Recorder:
    """An engine that notes how it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def execute(self, request: Request, **options: Any) -> str:
        self.asked.append((f"execute {request.question}", options_of(request) | options))
        return "executed"

    async def layered_search(self, request: Request, **options: Any) -> SimpleNamespace:
        self.asked.append((f"layered {request.question}", options_of(request) | options))
        return SimpleNamespace(answer="layered")

    async def search(self, question: str, **options: Any) -> SimpleNamespace:
        self.asked.append((f"search {question}", options))
        return SimpleNamespace(answer="searched")


@pytest.mark.parametrize(
    ("key", "body", "name", "given"),
    [
        ("k1", {"max_calls": 3, "max_cost": 0.5, "max_sweep_partitions": 2, "strict": True},
         "execute",
         {**SWEPT, "idempotency_key": "k1", "max_calls": 3, "max_cost": 0.5, "strict": True,
          "max_sweep_partitions": 2}),
        (None, {"mode": "continue", "full_sweep": True, "structure_only": True}, "execute",
         {"mode": "continue", "full_sweep": True, "structure_only": True}),
        (None, {"top_k": 5}, "layered", {**FIRST, "top_k": 5}),
        (None, {"search_mode": "local"}, "layered", {**FIRST, "search_mode": "local"}),
        ("k1", {"answer_from": "search", "search_mode": "mix", "top_k": 3, "max_calls": 1},
         "search", {"mode": "mix", "top_k": 3, "answer": True, "idempotency_key": "k1",
                    "sessions_of": ANN.own_prefix, "cypher": True, "max_calls": 1}),
    ],
)  # fmt: skip
async def test_options_arrive_and_a_search_comes_first_or_alone_if_it_is_asked_for(
    key: str | None, body: dict[str, Any], name: str, given: dict[str, Any]
) -> None:
    engine = Recorder()
    run = LiveRun("r000000000001", "papers", "s", ANN, "Why?", key)
    asked = Question(question="Why?", **body)
    answer = await carry_out(cast(PGS, engine), asked, run, ignore)
    always = {"graph": "papers", "session_id": "s", "run": "r000000000001", "on_event": ignore}
    assert engine.asked == [(f"{name} Why?", always | given)]
    assert cast(str, answer).startswith(name)


def test_what_makes_another_request() -> None:
    one = Question(question="Why?").distinct()
    same = ({"session": "s"}, {"graph": "papers"}, {"max_cost": 1.0}, {"max_calls": 5})
    other = ({"mode": "continue"}, {"max_sweep_partitions": 2}, {"answer_from": "search"})
    assert all(Question(question="Why?", **more).distinct() == one for more in same)
    assert all(Question(question="Why?", **more).distinct() != one for more in other)
    assert Question(question="How?").distinct() != one


@pytest.mark.parametrize("body", [{"top_k": 5}, {"search_mode": "local"}])
def test_a_search_before_sweeps_takes_no_key(body: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="Idempotency-Key cannot be combined"):
        Question(question="Why?", **body).check_key("k")
    Question(question="Why?", **body).check_key(None)
    Question(question="Why?", answer_from="search", **body).check_key("k")


@pytest.mark.parametrize(
    ("tenant", "day", "asked", "most"),
    [(True, None, 5.0, 2.0), (True, None, 1.0, 1.0), (True, None, None, None),
     (True, 1.5, 5.0, 1.5), (True, 9.0, None, 2.0), (False, None, 5.0, 5.0)],
)  # fmt: skip
async def test_a_tenant_raises_no_limit(
    tenant: bool, day: float | None, asked: float | None, most: float | None
) -> None:
    runs = SimpleNamespace(costs=giving([]))
    pgs = SimpleNamespace(config=PGSConfig(max_cost=2.0, max_calls=10), runs=runs)
    serving = serving_of(pgs)
    caller = Caller("ann", tenant=tenant, cost_per_day=day)
    given = Question(question="Why?", max_cost=asked, max_calls=30, max_tokens=7)
    bounded = (await within_budget(serving, caller, given)).knobs()
    assert bounded.get("max_cost") == most
    assert (bounded["max_calls"], bounded["max_tokens"]) == (10 if tenant else 30, 7)


@pytest.mark.parametrize(
    "body",
    [{"question": "x" * 20_001}, {"session": ""}, {"session": "x" * 121}, {"graph": "x" * 65},
     {"max_tokens": 0}, {"max_cost": 0}, {"max_cost": float("nan")}, {"max_cost": float("inf")},
     {"top_k": 0}, {"top_k": 1001}, {"search_mode": "x"}, {"neo4j_password": "x"},
     {"answer_from": "x"}, {"max_unmatched_tokens": 5}],
)  # fmt: skip
def test_what_does_not_fit_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Question(**{"question": "Why?"} | body)
