"""Every call of a run is told with what the run has cost so far."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import BudgetError, ModelAuthError
from pgs_neo4j.events import Event, UsageCounted
from pgs_neo4j.model import Completion, Prompt, Usage

PROMPT = Prompt(task="sweep", system="s", user="u" * 350, question="q")
PRICES = {"m": ModelEntry(input_price=1_000_000, output_price=2_000_000)}
REPLY = Completion(text="so", usage=Usage(calls=1, input_tokens=3, output_tokens=2), model="m")


class Model:
    """Replies, or refuses its key."""

    name = "m"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def complete(self, prompt: Prompt, **options: Any) -> Completion:
        if self.error is not None:
            raise self.error
        return REPLY

    async def stream(
        self, prompt: Prompt, **options: Any
    ) -> AsyncGenerator[str | Completion, None]:
        yield "so"
        yield REPLY


def calls_with(prices: dict[str, ModelEntry], **knobs: Any) -> tuple[Calls, list[Event]]:
    events: list[Event] = []
    return Calls.of(PGSConfig(**knobs), prices, events.append), events


def usages(events: list[Event]) -> list[tuple[int, int, float | None]]:
    told = [event for event in events if isinstance(event, UsageCounted)]
    return [(one.usage.calls, one.usage.tokens, one.cost) for one in told]


async def complete(calls: Calls, model: Model) -> Completion:
    return await calls.complete(model, PROMPT, room=100, effort=None)  # type: ignore[arg-type]


async def test_each_call_is_told_with_the_total() -> None:
    calls, events = calls_with(PRICES)
    for _ in range(3):
        await complete(calls, Model())
    assert usages(events) == [(1, 5, 7.0), (2, 10, 14.0), (3, 15, 21.0)]
    assert {one.model for one in events if isinstance(one, UsageCounted)} == {Model().name}


async def test_a_streamed_reply_is_told_once() -> None:
    calls, events = calls_with(PRICES)
    pieces: list[str] = []
    model: Any = Model()
    await calls.stream(model, PROMPT, pieces.append, room=100, effort=None)
    assert pieces == ["so"]
    assert usages(events) == [(1, 5, 7.0)]


async def test_without_prices_the_cost_is_unknown_and_not_zero() -> None:
    calls, events = calls_with({})
    await complete(calls, Model())
    assert usages(events) == [(1, 5, None)]


async def test_a_reply_of_the_cache_is_told_and_costs_nothing() -> None:
    calls, events = calls_with(PRICES)
    calls.count_cached(Completion(text="so", usage=Usage(cached=1), model="m"))
    assert usages(events) == [(0, 0, 0.0)]
    (told,) = [event for event in events if isinstance(event, UsageCounted)]
    assert told.model is None
    assert told.usage.cached == 1


async def test_a_call_that_was_refused_is_told_as_well() -> None:
    calls, events = calls_with(PRICES)
    with pytest.raises(ModelAuthError):
        await complete(calls, Model(ModelAuthError("no key", usage=Usage())))
    assert usages(events) == [(0, 0, 0.0)]


async def test_a_call_that_was_never_made_is_not_told() -> None:
    calls, events = calls_with(PRICES, max_tokens=1)
    with pytest.raises(BudgetError):
        await complete(calls, Model())
    assert usages(events) == []
