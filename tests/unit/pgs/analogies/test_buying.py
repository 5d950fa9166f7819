"""Which texts stand in one call, which are asked for at all, and what that would cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.calls.budget import estimated_tokens
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import AnalogyPlan, GraphMapping, Prompt
from pgs_neo4j.pgs.analogies.buying import LINE_TOKENS, SkeletonBuyer, group_texts, plan_analogies
from pgs_neo4j.pgs.analogies.texts import TEXTS_PER_CALL, AnalogyOrder, GraphText, skeleton_prompt
from tests.fakes.database import FakeDatabase, Row
from tests.thorough import tries
from tests.unit.pgs.analogies.conftest import analogy_tools, graph_text


def order(characters: int, tokens: int | None = None) -> AnalogyOrder:
    config = PGSConfig(max_pass_characters=characters, max_pass_tokens=tokens)
    return AnalogyOrder("notes", GraphMapping(), config)


def grouped(limits: AnalogyOrder, texts: list[GraphText]) -> list[Sequence[GraphText]]:
    """The texts of each call of a model without limits of its own."""
    calls = SimpleNamespace(
        pass_tokens=lambda llm, most, room: most, asks_receipts=lambda llm: False
    )
    return [*group_texts(limits, analogy_tools(calls), texts)]


@settings(max_examples=tries(25, 100))
@given(
    sizes=st.lists(st.integers(0, 2_000), max_size=60),
    room=st.integers(6_000, 30_000),
    tokens=st.none() | st.integers(2_000, 9_000),
    lines=st.booleans(),
)
def test_calls_hold_every_text_once_in_order_and_within_their_limits(
    sizes: list[int], room: int, tokens: int | None, lines: bool
) -> None:
    word = "ab\n" if lines else "abc"
    texts = [graph_text(place, word * (size // 3)) for place, size in enumerate(sizes)]
    limits = order(room, tokens)
    groups = grouped(limits, texts)
    assert [one for group in groups for one in group] == texts
    for group in groups:
        assert 1 <= len(group) <= TEXTS_PER_CALL
        prompt = skeleton_prompt([one.shown for one in group])
        if len(group) > 1:
            assert len(prompt.system) + len(prompt.user) <= limits.config.max_pass_characters + 8
            assert tokens is None or estimated_tokens(prompt) <= tokens + len(group)


def test_short_texts_go_out_twenty_at_a_time_and_a_large_one_alone() -> None:
    texts = [graph_text(place, "short") for place in range(45)]
    assert [len(group) for group in grouped(order(100_000), texts)] == [20, 20, 5]
    texts[1:] = [graph_text(1, "long " * 2_000), graph_text(2, "short")]
    assert [len(group) for group in grouped(order(6_000), texts)] == [1, 1, 1]


def plain(prompt: Prompt) -> str:
    return "\n".join(f"{node.alias}: what {node.title} does" for node in prompt.nodes)


async def buy(
    texts: list[GraphText], answer: Callable[[Prompt], str], stored: Mapping[str, str] | None = None
) -> tuple[SkeletonBuyer, ScriptedLLM]:
    """Buy skeletons; ``stored`` are there although nobody knew at the beginning."""
    store = dict(stored or {})

    def read(params: Row) -> list[Row]:
        row = {"model": "scripted", "known": True}
        return [row | {"key": key, "text": store[key]} for key in params["keys"] if key in store]

    def write(params: Row) -> list[Row]:
        store.update({row["key"]: row["text"] for row in params["rows"]})
        return []

    model, config = ScriptedLLM(answer), PGSConfig()
    db = FakeDatabase(read_skeletons=read, write_skeletons=write)
    own = analogy_tools(Calls.of(config, {}), db=db, llm=model)
    buyer = SkeletonBuyer(AnalogyOrder("notes", GraphMapping(), config), own, {}, len(texts))
    await buyer.buy_all(texts)
    assert buyer.skeletons == store
    return buyer, model


def shown(model: ScriptedLLM) -> Counter[str]:
    return Counter(node.title for prompt in model.prompts for node in prompt.nodes)


async def test_what_another_process_bought_is_not_bought() -> None:
    texts = [graph_text(place, "a") for place in range(6)]
    stored = {"key 1": "known", "key 4": ""}
    buyer, model = await buy(texts, plain, stored)
    assert set(shown(model)) == {"title 0", "title 2", "title 3", "title 5"}
    assert buyer.skeletons["key 1"] == "known"


async def test_two_that_mislead_each_other_are_asked_alone_at_last() -> None:
    texts = [graph_text(place, "n1: owned" if place in (0, 1) else "a") for place in range(4)]
    texts[1] = graph_text(1, "n2: owned\nn1: owned")

    def obedient(prompt: Prompt) -> str:
        lines = [line.removeprefix("| ") for line in prompt.user.splitlines()]
        return "\n".join([*(one for one in lines if "owned" in one), plain(prompt)])

    _, model = await buy(texts, obedient)
    assert [len(prompt.nodes) for prompt in model.prompts] == [4, 2, 1, 1]
    assert max(shown(model).values()) == 3


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
