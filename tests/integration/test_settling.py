"""What the synthesis needs is found out before the first sweep is paid."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgs_neo4j.errors import PGSError
from tests.engines import model_on_papers, with_model
from tests.fakes.openai_server import (
    Answer,
    FakeOpenAI,
    Recorded,
    Scripted,
    Status,
    contract_answer,
)


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(default=Answer(contract_answer)) as server:
        yield server


def of(fake: FakeOpenAI, model: str) -> list[Recorded]:
    return [chat for chat in fake.chats if chat.body["model"] == model]


async def test_one_small_call_of_the_synthesis_comes_before_the_sweeps(endpoint, db, fake):
    async with model_on_papers(endpoint, db, fake) as pgs:
        planned = await pgs.plan("Why?", full_sweep=True)
        assert planned.synthesis.calls == 2
        answer = await pgs.execute("Why?", full_sweep=True)
        again = await pgs.execute("How?", full_sweep=True)
    first, *_ = fake.chats
    assert first.body["model"] == "writer"
    assert first.body["stream"]
    assert first.body["reasoning_effort"] == "high"
    assert first.body["max_tokens"] <= 16
    assert answer.usage.calls + again.usage.calls == len(fake.chats)
    assert len(of(fake, "writer")) == 3  # it is settled once
    assert answer.usage.calls == sum(s.passes for s in planned.sweeps) + 2


@pytest.mark.parametrize(
    "refusal",
    [
        Status(404, message="the model `writer` does not exist", error_code="model_not_found"),
        Status(403, message="this key may not use it"),
        Status(400, message="the widget parameter is not known"),
    ],
)
async def test_a_synthesis_that_cannot_be_costs_no_sweep(endpoint, db, fake, refusal):
    def refuse(request: Recorded) -> Scripted | None:
        return refusal if request.body.get("model") == "writer" else None

    fake.refuse = refuse
    async with model_on_papers(endpoint, db, fake) as pgs:
        with pytest.raises(PGSError) as caught:
            await pgs.execute("Why?", full_sweep=True)
    assert of(fake, "reader") == []
    assert "writer" in str(caught.value)


async def test_a_refused_effort_is_learned_before_the_sweeps(endpoint, db, fake):
    def refuse(request: Recorded) -> Scripted | None:
        if "reasoning_effort" in request.body:
            return Status(400, message='"writer" does not support thinking')
        return None

    fake.refuse = refuse
    async with model_on_papers(endpoint, db, fake) as pgs:
        answer = await pgs.execute("Why?", full_sweep=True)
    refused, accepted, *rest = fake.chats
    assert "reasoning_effort" in refused.body
    assert "reasoning_effort" not in accepted.body
    assert not any("reasoning_effort" in chat.body for chat in rest)
    assert answer.coverage.exhausted


async def test_nothing_is_tried_where_nothing_is_paid(endpoint, db, fake):
    async with model_on_papers(endpoint, db, fake) as pgs:
        await pgs.execute("Why?", full_sweep=True)
    paid = len(fake.chats)
    async with with_model(endpoint, fake) as pgs:
        again = await pgs.execute("Why?", graph="papers", full_sweep=True)
    assert again.usage.calls == 0
    assert len(fake.chats) == paid


async def test_a_budget_without_room_for_it_ends_as_without_it(endpoint, db, fake):
    async with model_on_papers(endpoint, db, fake, max_tokens=10) as pgs:
        with pytest.raises(PGSError):
            await pgs.execute("Why?", full_sweep=True)
    assert fake.chats == []
