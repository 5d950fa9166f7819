"""`pgs search --answer`: the lines below an answer, its plan, and what the command passes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.cli.pages import answer_page, plan_page
from pgs_neo4j.export import figures
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.model import (
    Answer,
    Citation,
    Coverage,
    Found,
    Route,
    Routing,
    SearchPlan,
    Shown,
)
from tests.fakes.commands import StandIn, on_one_line, pgs

Make = Callable[..., Answer]
NODES = tuple(Citation(alias=f"n{n}", partition=0, title=f"Node {n}") for n in (1, 2, 3))
SHOWN = Shown(nodes=NODES, relationships=NODES[:1], nodes_total=160, tokens=900)
ROUTES = tuple(Route(partition=n, similarity=None, reason="near") for n in range(4, 11))
NO_REPLIES = Coverage(partitions_swept=0, partitions_total=8, nodes_read=0, nodes_total=160)


@pytest.fixture
def searched(answer_of: Make) -> Make:
    def make(**changed: Any) -> Answer:
        given: dict[str, Any] = {
            "mode": "hybrid", "sweeps": (), "shown": SHOWN, "coverage": NO_REPLIES,
            "own_coverage": NO_REPLIES,
            "routing": Routing(routes=ROUTES, considered=8), "question": "Who's there?",
        }  # fmt: skip
        return answer_of(**given | changed)

    return make


def test_it_says_what_was_shown_and_that_nothing_counts_as_read(searched: Make) -> None:
    text = on_one_line("\n".join(answer_page.summary(searched(), 80)))
    assert "3 of 160 nodes and 1 relationship shown; none of them counts as read" in text
    assert "swept" not in text
    assert "Coverage" not in text
    bypass = searched(mode="bypass")
    assert figures.run_line(bypass) == "the model was shown nothing of the graph"
    none = Coverage(partitions_swept=0, partitions_total=0, nodes_read=0, nodes_total=160)
    assert figures.coverage_rows(searched(coverage=none)) == []


def test_the_next_step_names_the_partitions_to_read(searched: Make) -> None:
    _, head, command = answer_page.advice(searched())
    assert head.endswith("(P4, P5, P6, P7, P8, and 2 more):")
    assert command == """  pgs ask --graph papers 'Who'"'"'s there?'"""
    none = Routing(routes=(), considered=0)
    assert "what matters for this question:" in answer_page.advice(searched(routing=none))[1]
    unmatched = Routing(routes=ROUTES, considered=8, unmatched=True)
    assert answer_page.advice(searched(routing=unmatched)) == []


def make_plan(**changed: Any) -> SearchPlan:
    given: dict[str, Any] = {
        "graph": "papers", "session": "default", "mode": "hybrid", "model": "large", "nodes": 30,
        "relationships": 1, "calls": 1, "input_tokens": 4000, "output_tokens": 600,
        "output_most": 12000, "low": 0.01, "high": 0.25,
    }  # fmt: skip
    return SearchPlan(**given | changed)


def test_a_plan_tells_what_is_shown_and_the_bill_or_only_the_limit() -> None:
    assert plan_page.search_lines(make_plan(), (), 100) == [
        "Shown     30 nodes and 1 relationship, in mode hybrid",
        "Call      1 call, about 4,000 tokens in, 600 out, at most 12,000 out",
        "Cost      between 0.01 and 0.25",
        "Model     large",
    ]
    lines = plan_page.search_lines(make_plan(calls=0, budget="too little"), (), 80)
    assert lines == ["Limit     too little", "Model     large"]


def test_a_plan_says_why_nothing_or_nobody_knows() -> None:
    for changed, line in (
        ({"calls": 0, "low": 0.0, "high": 0.0}, "Cost      nothing: no call is needed"),
        (
            {"low": 0.0, "high": 0.0, "model": "extractive"},
            "Cost      nothing: no language model is used",
        ),
        ({"low": 0.0, "high": 0.0}, "Cost      nothing: the configured price is 0"),
        ({"low": None, "high": None}, "Cost      unknown; add input_price and output_price (per"),
    ):
        lines = plan_page.search_lines(make_plan(**changed), ["small", "large"], 60)
        assert any(each.startswith(line) for each in lines)
        assert not any("small" in each for each in lines)


@pytest.fixture
def engine(engine: StandIn, searched: Make) -> StandIn:
    found = Found(
        question="Who?", mode="hybrid", items=(), paths=(), seconds=0.1, answer=searched()
    )
    engine.replies |= {"search": found, "search.plan": make_plan()}
    llm = ExtractiveLLM()
    engine.have({"sweep_llm": llm, "synthesis_llm": llm, "settings": SimpleNamespace(models={})})
    return engine


WORDS = ("search", "Who?", "-g", "papers", "--max-calls", "1", "--session", "s", "--quiet")
PASSED = {"graph": "papers", "session_id": "s"}


def test_the_command_answers_within_its_limits_and_plans_without_an_answer(
    engine: StandIn,
) -> None:
    done = pgs(*WORDS, "--answer", "--idempotency-key", "k")
    assert done.exit_code == 0
    assert engine.opened == [("engine", {"max_calls": "1"})]
    asked = PASSED | {"idempotency_key": "k", "answer": True}
    assert engine.asked == [("search", "Who?", asked)]
    assert "3 of 160 nodes and 1 relationship shown" in on_one_line(done.stdout)
    done = pgs(*WORDS, "--answer", "--plan", "--json")
    assert json.loads(done.stdout)["cost"] == {"low": 0.01, "high": 0.25}
    assert engine.asked[1:] == [("search.plan", "Who?", PASSED)]
    assert pgs(*WORDS, "--plan").stdout.startswith("Shown     30 nodes")
