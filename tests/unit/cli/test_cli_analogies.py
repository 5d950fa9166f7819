"""Analogies and their plan, on a terminal and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pgs_neo4j.cli.commands import analogies
from pgs_neo4j.model import Analogies, Analogy, AnalogyPlan, Usage
from tests.fakes.commands import StandIn, pgs

MADE = Analogies(
    graph="papers", model="reader", embedder="hashing-2048", texts=1_200, kept=200, plain=700,
    missing=0, commonplace=3, links=41, usage=Usage(calls=50, input_tokens=90_000,
    output_tokens=20_000), cost=0.25, seconds=12.0,
    best=(Analogy(first="Shared\npasture", second="Crowded network", skeleton=0.75, raw=0.25),),
)  # fmt: skip
PLAN = AnalogyPlan(
    graph="papers", model="reader", embedder="hashing-2048", texts=1_200, kept=200, shortened=0,
    calls=50, input_tokens=90_000, output_tokens=40_000, output_most=200_000,
    embedded_tokens=300_000, low=0.1, high=0.9,
)  # fmt: skip


@pytest.fixture
def engine(engine: StandIn) -> StandIn:
    engine.replies |= {"analogies": MADE, "analogies.plan": PLAN}
    return engine


def test_the_figures_come_first_and_then_the_best_pairs() -> None:
    assert analogies.analogies_lines(MADE, 80) == [
        "Texts     1,200 texts, 200 of them with a stored skeleton",
        "Skeletons 1,200: 700 without a mechanism, 3 commonplace",
        "Links     41 pairs in 12 s",
        "Calls     50 calls, 90,000 tokens in, 20,000 out",
        "Cost      0.25",
        "Model     reader, compared by hashing-2048",
        "",
        "  Shared pasture ~ Crowded network (texts 0.25, skeletons 0.75)",
    ]
    part = replace(MADE, missing=40, stopped="the limit of 50 calls", cost=None, best=())
    shown = "\n".join(analogies.analogies_lines(part, 80))
    assert "1,160: 700 without a mechanism, 3 commonplace, 40 still missing" in shown
    assert "the limit of 50 calls; run it again to continue" in shown
    assert "has no price in pgs.toml" in " ".join(shown.split())


def test_a_plan_tells_calls_tokens_and_cost_or_that_there_is_none() -> None:
    assert analogies.plan_lines(PLAN, 80) == [
        "Texts     1,200 texts, 200 of them with a stored skeleton",
        "Calls     50 calls, about 90,000 tokens in, 40,000 out",
        "Cost      between 0.1 and 0.9",
        "Embedder  hashing-2048, about 300,000 tokens",
        "Model     reader",
    ]
    unpriced = "\n".join(analogies.plan_lines(replace(PLAN, low=None, high=None), 80))
    assert '[models."reader"]' in unpriced
    free = replace(PLAN, calls=0, low=0.0, high=0.0, shortened=2, budget="2 calls (max_calls)")
    shown = analogies.plan_lines(free, 80)
    assert [line.split(None, 1)[1] for line in shown[1:5]] == [
        "none",
        "nothing",
        "2 calls (max_calls)",
        "the model sees only the beginning of 2 texts",
    ]


def test_the_command_passes_its_limits_and_a_result_that_lacks_some_is_partial(
    engine: StandIn,
) -> None:
    done = pgs("analogies", "-g", "papers", "--max-calls", "50", "-q")
    assert done.exit_code == 0
    assert engine.asked == [("analogies", "papers")]
    assert engine.opened == [("engine", {"max_calls": "50"})]
    assert "41 pairs" in done.stdout
    engine.replies["analogies"] = replace(MADE, missing=1, warnings=("one got no skeleton",))
    done = pgs("analogies", "-q")
    assert (done.exit_code, "one got no skeleton" in done.stderr) == (3, True)


def test_json_is_one_document(engine: StandIn) -> None:
    document = json.loads(pgs("analogies", "--json", "-q").stdout)
    assert document["links"] == 41
    assert document["best"][0]["delta"] == 0.5
    planned = json.loads(pgs("analogies", "--plan", "--json").stdout)
    assert (planned["calls"], planned["high"]) == (50, 0.9)
    assert engine.asked == [("analogies", None), ("analogies.plan", None)]
