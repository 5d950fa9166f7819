"""The events of all passes and the synthesis add up to what the run is recorded to have used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import ModelOutputError
from pgs_neo4j.events import Event, PassFinished
from pgs_neo4j.llm.local_reply import local_completion
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM, contract_reply
from pgs_neo4j.model import Prompt, Usage
from tests.conftest import Endpoint
from tests.engines import engine_on_papers


def passes_of(events: list[Event]) -> list[PassFinished]:
    return [event for event in events if isinstance(event, PassFinished)]


async def test_tries_that_failed_and_replies_that_were_cut_off_are_told(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    def answer(prompt: Prompt) -> Reply:
        nonlocal tries
        tries += 1
        reply = local_completion(prompt, contract_reply(prompt), "m")
        if tries == 1:
            return ModelOutputError("it is no report", usage=reply.usage)
        return replace(reply, truncated=tries == 2)

    async with engine_on_papers(endpoint, db, max_pass_characters=6000) as pgs:
        monkeypatch.setattr(pgs, "sweep_llm", ScriptedLLM(answer))
        events: list[Event] = []
        answered = await pgs.execute(
            "Why?", graph="papers", full_sweep=True, on_event=events.append
        )
        told = passes_of(events)
        assert len(told) > len(answered.sweeps) == 4
        total = sum((one.usage for one in told), answered.synthesis.usage)
        assert (total.calls, total.tokens) == (answered.usage.calls, answered.usage.tokens)
        assert max(one.usage.calls for one in told) > 1
        assert all(one.usage.calls for one in told)
        events.clear()
        await pgs.execute("Why?", graph="papers", full_sweep=True, on_event=events.append)
        again = passes_of(events)
        assert sum((one.usage for one in again), Usage()) == Usage(cached=len(told))
        assert sum(one.cost or 0.0 for one in again) == 0.0
