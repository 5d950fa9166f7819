"""The cost of skeletons by the prices of the model, and what a limit leaves out."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.model import AnalogyPlan, GraphMapping
from pgs_neo4j.pgs.analogies.forecast import LINE_TOKENS, plan_analogies
from pgs_neo4j.pgs.analogies.order import AnalogyOrder
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.analogies.conftest import analogy_tools

PRICES = {"scripted": ModelEntry(input_price=1.0, output_price=4.0)}  # per million tokens


async def plan(models: dict[str, ModelEntry], **knobs: Any) -> AnalogyPlan:
    """The plan for fifty texts without a skeleton."""
    db = FakeDatabase(
        read_texts=[
            {"element_id": f"n{i}", "text": [f"body {i:02}"], "title": "t", "key": None}
            for i in range(50)
        ]
    )
    config = PGSConfig(**knobs)
    order = AnalogyOrder("g", GraphMapping(text=("b",)), config)
    return await plan_analogies(order, analogy_tools(Calls.of(config, models), db=db))


async def test_the_cost_lies_between_two_bounds_if_the_model_has_a_price() -> None:
    made = await plan(PRICES)
    assert (made.calls, made.output_tokens) == (3, 50 * LINE_TOKENS)
    assert made.low is not None
    assert made.high is not None
    usual = (made.input_tokens + 4 * made.output_tokens) / 1e6
    assert made.low < usual < made.high
    assert made.high == pytest.approx((1.5 * made.input_tokens + 4 * made.output_most) / 1e6)
    made = await plan({})
    assert (made.low, made.high) == (None, None)
    with pytest.raises(ConfigError, match="max_cost needs the price"):
        await plan({}, max_cost=1.0)


@pytest.mark.parametrize(
    ("knobs", "left"), [({"max_calls": 1}, 30), ({"max_calls": 3}, 0), ({"max_cost": 1e-6}, 50)]
)
async def test_a_limit_leaves_the_last_texts_out(knobs: dict[str, Any], left: int) -> None:
    made = await plan(PRICES, **knobs)
    assert bool(made.budget) == bool(left)
    assert not left or f"about {left} texts" in made.budget
