"""The cost of skeletons by the prices of the model, and what a limit leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

from pgs_neo4j.analogies import forecast
from pgs_neo4j.analogies.forecast import LINE_TOKENS, plan_analogies
from pgs_neo4j.analogies.order import AnalogyOrder, AnalogyTools
from pgs_neo4j.analogies.texts import GraphText
from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import AnalogyPlan, GraphMapping, PromptNode

PRICES = {"scripted": ModelEntry(input_price=1.0, output_price=4.0)}  # per million tokens


def texts(count: int) -> list[GraphText]:
    shown = PromptNode("n1", "t", "a body")
    return [GraphText(f"n{i}", "t", "a body", shown, f"k{i}", False) for i in range(count)]


async def plan(
    monkeypatch: pytest.MonkeyPatch, models: dict[str, ModelEntry], kept: int = 0, **knobs: Any
) -> AnalogyPlan:
    async def read(*_: object) -> list[GraphText]:
        return texts(50)

    async def find(_: object, __: str, keys: Iterable[str]) -> dict[str, str]:
        return dict.fromkeys([*keys][:kept], "known")

    monkeypatch.setattr(forecast, "read_texts", read)
    monkeypatch.setattr(forecast, "find_skeletons", find)
    config = PGSConfig(**knobs)
    tools = AnalogyTools(
        db=cast("Any", None),
        llm=ScriptedLLM(),
        embedder=HashingEmbedder(),
        calls=Calls.of(config, models),
        on_event=ignore,
    )
    return await plan_analogies(AnalogyOrder("g", GraphMapping(text=("b",)), config), tools)


async def test_the_cost_lies_between_two_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    made = await plan(monkeypatch, PRICES)
    assert (made.calls, made.output_tokens) == (3, 50 * LINE_TOKENS)
    assert made.low is not None
    assert made.high is not None
    usual = (made.input_tokens + 4 * made.output_tokens) / 1e6
    assert made.low < usual < made.high
    assert made.high == pytest.approx((1.5 * made.input_tokens + 4 * made.output_most) / 1e6)


async def test_what_is_stored_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    part = await plan(monkeypatch, PRICES, kept=40)
    assert (part.kept, part.calls) == (40, 1)
    whole = await plan(monkeypatch, {}, kept=50)
    assert (whole.calls, whole.low, whole.high) == (0, 0.0, 0.0)


async def test_a_model_without_a_price_has_no_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    made = await plan(monkeypatch, {})
    assert (made.low, made.high) == (None, None)
    with pytest.raises(ConfigError, match="max_cost needs the price"):
        await plan(monkeypatch, {}, max_cost=1.0)


@pytest.mark.parametrize(
    ("knobs", "left"), [({"max_calls": 1}, 30), ({"max_calls": 3}, 0), ({"max_cost": 1e-6}, 50)]
)
async def test_a_limit_leaves_the_last_texts_out(
    monkeypatch: pytest.MonkeyPatch, knobs: dict[str, Any], left: int
) -> None:
    made = await plan(monkeypatch, PRICES, **knobs)
    assert bool(made.budget) == bool(left)
    assert not left or f"about {left} texts" in made.budget
