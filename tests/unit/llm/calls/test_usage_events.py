"""Every call of a run is told with what the run has cost so far."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import BudgetError, ModelAuthError
from pgs_neo4j.events import Event, ReplyGrew, UsageCounted
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.protocol import current_listener
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM
from pgs_neo4j.model import Completion, Prompt, Usage
from tests.fakes.tokens import hearing

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
    await calls.stream(llm, PROMPT, hearing(pieces), room=100, effort=None)
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


class WritingLLM(ScriptedLLM):
    """Writes a reply a token every second, by the clock of the loop."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(lambda prompt: REPLY, name="m")
        self._clock = clock

    async def complete(self, prompt: Prompt, **asked: Any) -> Completion:
        """Tell of five tokens before the reply."""
        listener = current_listener()
        assert listener is not None
        for tokens in range(1, 6):
            self._clock.now += 1.0
            listener(tokens)
        return await super().complete(prompt, **asked)


async def test_a_reply_that_grows_is_told_now_and_then_and_ends_before_its_usage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls, events = calls_with({})
    clock = Clock(asyncio.get_running_loop().time())
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: clock.now)
    await calls.complete(WritingLLM(clock), PROMPT, room=100, effort=None)
    told = [one.tokens if isinstance(one, ReplyGrew) else type(one) for one in events]
    assert told == [2, 4, 0, UsageCounted]
    assert current_listener() is None


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float
