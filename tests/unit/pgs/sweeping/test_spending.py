"""What a pass costs is told once: with failed tries, and apart from other passes."""

from __future__ import annotations

from functools import partial

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import ModelOutputError
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.ledger import CallCost, Spent
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM
from pgs_neo4j.model import Completion, Prompt, Usage
from pgs_neo4j.pgs.sweeping.passes import PassSpending

PROMPT = Prompt(task="sweep", system="s", user="u" * 350, question="q")
PRICES = {"m": ModelEntry(input_price=1_000_000, output_price=2_000_000)}
USAGE = Usage(calls=1, input_tokens=3, output_tokens=2)
REPLY = Completion(text="so", usage=USAGE, model="m")


async def read(calls: Calls, spending: PassSpending, number: int, answer: Reply = REPLY) -> None:
    await calls.complete(
        ScriptedLLM(lambda prompt: answer, name="m"),
        PROMPT,
        room=100,
        effort=None,
        repeat_malformed=False,
        on_call=partial(spending.add, number),
    )


async def test_a_pass_costs_what_all_its_calls_did_and_that_is_told_once() -> None:
    calls, spending = Calls.of(PGSConfig(), PRICES, ignore), PassSpending()
    with pytest.raises(ModelOutputError):
        await read(calls, spending, 1, ModelOutputError("no report", usage=USAGE))
    await read(calls, spending, 1)
    await read(calls, spending, 2)
    first, second = spending.take(1), spending.take(2)
    assert (first.usage, first.cost) == (USAGE + USAGE, 14.0)
    assert (second.usage, second.cost) == (USAGE, 7.0)
    assert first + second == calls.settled()
    assert spending.take(1) == spending.take(9) == Spent()


def test_a_call_in_flight_is_told_when_it_has_ended() -> None:
    spending = PassSpending()
    call = CallCost(Spent(USAGE, 9.0))
    spending.add(1, call)
    spending.add_cached(1, Usage(cached=1))
    assert spending.take(1) == Spent(Usage(cached=1))
    call.counted = Spent(USAGE, 1.0)
    assert spending.take(1) == Spent(USAGE, 1.0)
