"""Every call of a run is told with what the run has cost so far."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import BudgetError, ModelAuthError
from pgs_neo4j.events import Event, UsageCounted
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM
from pgs_neo4j.model import Completion, Prompt, Usage

PROMPT = Prompt(task="sweep", system="s", user="u" * 350, question="q")
PRICES = {"m": ModelEntry(input_price=1_000_000, output_price=2_000_000)}
REPLY = Completion(text="so", usage=Usage(calls=1, input_tokens=3, output_tokens=2), model="m")


def calls_with(prices: dict[str, ModelEntry], **knobs: Any) -> tuple[Calls, list[Event]]:
    events: list[Event] = []
    return Calls.of(PGSConfig(**knobs), prices, events.append), events


def usages(events: list[Event]) -> list[tuple[int, int, float | None]]:
    told = [event for event in events if isinstance(event, UsageCounted)]
    return [(one.usage.calls, one.usage.tokens, one.cost) for one in told]


async def complete(calls: Calls, answer: Reply = REPLY) -> Completion:
    llm = ScriptedLLM(lambda prompt: answer, name="m")
    return await calls.complete(llm, PROMPT, room=100, effort=None)


async def test_each_call_is_told_once_with_the_total() -> None:
    calls, events = calls_with(PRICES)
    for _ in range(3):
        await complete(calls)
    assert usages(events) == [(1, 5, 7.0), (2, 10, 14.0), (3, 15, 21.0)]
    assert {one.model for one in events if isinstance(one, UsageCounted)} == {"m"}
    pieces: list[str] = []
    llm = ScriptedLLM(lambda prompt: REPLY, name="m")
    await calls.stream(llm, PROMPT, pieces.append, room=100, effort=None)
    assert pieces == ["so"]
    assert usages(events)[3:] == [(4, 20, 28.0)]


async def test_replies_of_the_cache_and_refused_calls_are_told_and_cost_nothing() -> None:
    calls, events = calls_with(PRICES)
    calls.count_cached(Completion(text="so", usage=Usage(cached=1), model="m"))
    assert usages(events) == [(0, 0, 0.0)]
    (told,) = [event for event in events if isinstance(event, UsageCounted)]
    assert told.model is None
    assert told.usage.cached == 1
    calls, events = calls_with(PRICES)
    with pytest.raises(ModelAuthError):
        await complete(calls, ModelAuthError("no key", usage=Usage()))
    assert usages(events) == [(0, 0, 0.0)]
    calls, events = calls_with(PRICES, max_tokens=1)
    with pytest.raises(BudgetError):
        await complete(calls)
    assert usages(events) == []
