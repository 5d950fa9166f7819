"""`pgs plan`: what would be read and paid, in a table, in words, and as JSON."""

from __future__ import annotations

import json
from inspect import signature
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.cli.commands import ask
from pgs_neo4j.cli.commands.ask import unpriced
from pgs_neo4j.cli.pages import plan_page
from pgs_neo4j.config.models_table import entries
from pgs_neo4j.export.wording import EXTRACTIVE
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.model import Plan, PlannedCalls, PlannedSweep, PlannedTotal, Route, Routing
from tests.fakes.commands import StandIn, on_one_line, pgs


def planned(partition: int, **changed: Any) -> PlannedSweep:
    given = {
        "partition": partition, "nodes": 40, "passes": 2, "cached": 0, "input_tokens": 5000,
        "output_tokens": 600, "output_most": 12000, "reason": f"similarity 0.{partition}",
        "similarity": 0.5, "keywords": ("ammonia", "catalysis"),
    }  # fmt: skip
    return PlannedSweep(**given | changed)


def make_plan(**changed: Any) -> Plan:
    sweeps = (planned(1), planned(2, passes=1, cached=1, input_tokens=0, output_tokens=0))
    given = {
        "graph": "papers", "session": "default", "mode": "full", "generation": "g1",
        "sweep_model": "small", "synthesis_model": "large",
        "routing": Routing(routes=(Route(partition=1, similarity=0.5, reason="near"),),
                           considered=4),
        "sweeps": sweeps,
        "synthesis": PlannedCalls(calls=1, input_tokens=2000, output_tokens=400, output_most=900),
        "flagged": PlannedCalls(calls=3, input_tokens=9000, output_tokens=90, output_most=900),
        "low": 0.12, "high": 0.4512,
        "without_flags": PlannedTotal(partitions=2, calls=3, input_tokens=7000,
                                      output_tokens=1000, cost=0.2),
        "with_flags": PlannedTotal(partitions=5, calls=6, input_tokens=16000,
                                   output_tokens=1090, cost=0.3),
        "most": PlannedTotal(partitions=5, calls=60, input_tokens=99000, output_tokens=88000,
                             cost=4.5),
    }  # fmt: skip
    return Plan(**given | changed)


def text(plan: Plan, *missing: str, width: int = 80) -> str:
    lines = plan_page.below(plan, missing, width)
    assert all(len(line) <= width for line in lines)
    return "\n".join(lines)


def test_totals_and_what_may_come_on_top() -> None:
    assert text(make_plan()).splitlines() == [
        "Sweeps    2 of 4 partitions, 80 nodes, 3 passes, 1 of them in the cache",
        "Synthesis 1 call, about 2,000 tokens in, 400 out",
        "Total     3 calls, about 7,000 tokens in, 1,000 out",
        "Flags     may add 3 calls, about 9,000 tokens in, 90 out",
        "Likely    with flags 5 partitions, 6 calls, about 16,000 tokens in, 1,090 out,",
        "          cost 0.3",
        "At most   5 partitions, 60 calls, 99,000 tokens in, 88,000 out, cost 4.50",
        "Cost      between 0.12 and 0.4512, without the calls for flags",
        "Model     small / large",
    ]
    none = PlannedCalls(calls=0, input_tokens=0, output_tokens=0, output_most=0)
    shown = text(make_plan(flagged=none))
    assert "Flags" not in shown
    assert "Cost      between 0.12 and 0.4512\n" in shown
    assert "cached none" not in text(make_plan(low_uncached=0.12))
    assert (
        "between 0.12 and 0.4512 (0.3 at least if the provider has cached none of the input), "
        "without the calls for flags"
    ) in on_one_line(text(make_plan(low_uncached=0.3)))


def test_what_has_no_price_says_how_to_add_it_and_a_hostile_note_is_text(hostile: str) -> None:
    said = on_one_line(text(make_plan(low=None, high=None), "small", "large", width=60))
    assert (
        "Cost unknown; add input_price and output_price (per million tokens) under "
        '[models."small"] and [models."large"] in pgs.toml'
    ) in said
    routing = Routing(routes=(), considered=4, note=hostile)
    shown = text(make_plan(routing=routing, sweep_model=hostile))
    assert all(line.isprintable() for line in shown.splitlines())


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (
            {"low": 0.0, "high": 0.0, "sweep_model": EXTRACTIVE, "synthesis_model": EXTRACTIVE},
            "Cost      nothing: no language model is used",
        ),
        ({"low": 0.0, "high": 0.0}, "Cost      nothing: the configured price is 0"),
        ({"budget": "3 calls would leave 2 unread"}, "Limit     3 calls would leave 2 unread"),
        ({"sweeps": ()}, "Sweeps    nothing is left to read"),
        ({"advice": "several passes separate nodes"}, "Advice    several passes separate nodes"),
        ({"contexts": (("m", "unknown"),)}, "Context   m: unknown"),
    ],
)
def test_what_is_special_has_its_line(changed: dict[str, Any], line: str) -> None:
    assert line in text(make_plan(**changed))
    assert line not in text(make_plan())


def test_models_without_both_prices_are_named() -> None:
    pgs: Any = SimpleNamespace(
        sweep_llm=SimpleNamespace(name="small"), synthesis_llm=SimpleNamespace(name="large")
    )
    both = {"input_price": 1.0, "output_price": 2.0}
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["small", "large"]),
        ({"small": both}, ["large"]),
        ({"small": {"input_price": 1.0}, "large": both}, ["small"]),
    ]
    for models, missing in cases:
        pgs.settings = SimpleNamespace(models=entries(models))
        assert unpriced(pgs) == missing
    pgs.sweep_llm = pgs.synthesis_llm = ExtractiveLLM()
    assert unpriced(pgs) == []


@pytest.fixture
def engine(engine: StandIn, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    monkeypatch.setenv("COLUMNS", "80")
    engine.replies["plan"] = make_plan()
    engine.have({
        "sweep_llm": SimpleNamespace(name="small"), "synthesis_llm": SimpleNamespace(name="small"),
        "settings": SimpleNamespace(models={}),
    })  # fmt: skip
    return engine


def test_options_of_ask_arrive(engine: StandIn) -> None:
    done = pgs(
        "plan", "why?", "-g", "papers", "--mode", "continue", "--session", "s", "--full-sweep",
        "--max-cost", "0.5", "--no-cache", "--top-k", "3", "--idempotency-key", "k",
    )  # fmt: skip
    assert done.exit_code == 0
    assert engine.opened == [("engine", {"max_cost": "0.5", "cache": False})]
    given = {"graph": "papers", "mode": "continue", "session_id": "s", "full_sweep": True}
    assert engine.asked == [("plan", "why?", given)]
    taken = dict(signature(ask.plan).parameters)
    assert taken == dict(signature(ask.ask).parameters)


def test_the_table_tells_why_where_reasons_differ_and_once_what_all_share(engine: StandIn) -> None:
    rows = pgs("plan", "why?").stdout.splitlines()
    assert rows[0].split() == [
        "id", "nodes", "passes", "cached", "tokens", "in", "out", "label", "and", "reason",
    ]  # fmt: skip
    assert rows[1].split() == ["P1", "40", "2", "5,000", "600", "similarity", "0.1"]
    assert rows[2].split()[:4] == ["P2", "40", "1", "1"]
    assert "Total     3 calls" in "\n".join(rows)
    sweeps = (planned(1, reason="broad"), planned(2, reason="broad"))
    engine.replies["plan"] = make_plan(sweeps=sweeps)
    shown = pgs("plan", "why?").stdout
    assert shown.count("broad") == 1
    assert "Why       broad" in shown
    assert "ammonia, catalysis" in shown


def test_json_carries_sweeps_totals_and_cost(engine: StandIn) -> None:
    document = json.loads(pgs("plan", "why?", "--json", "-q").stdout)
    assert [sweep["partition"] for sweep in document["sweeps"]] == [1, 2]
    assert document["sweeps"][1]["cached"] == 1
    assert document["total"] == {
        "calls": 3, "cached": 1, "input_tokens": 7000, "output_tokens": 1000,
    }  # fmt: skip
    assert document["cost"] == {"low": 0.12, "high": 0.4512}
    assert document["flagged"]["calls"] == 3
    assert document["with_flags"]["partitions"] == 5
    assert document["most"] == {
        "partitions": 5, "calls": 60, "input_tokens": 99000, "output_tokens": 88000, "cost": 4.5,
    }  # fmt: skip
    assert document["unpriced"] == ["small"]
    assert (document["generation"], document["budget"]) == ("g1", "")
