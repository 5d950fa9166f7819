"""What the synthesis needs is found out before the first sweep is paid."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgs_neo4j.errors import PGSError
from tests.engines import model_on_papers, with_model
from tests.fakes.openai_server import (
    Answer,
    Drop,
    FakeOpenAI,
    Recorded,
    Scripted,
    Status,
    contract_answer,
    settles,
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
    (first,) = fake.settling  # it is settled once
    assert fake.requests.index(first) < fake.requests.index(fake.chats[0])
    assert first.body["model"] == "writer"
    assert first.body["stream"]
    assert first.body["reasoning_effort"] == "high"
    assert first.body["max_tokens"] <= 16
    assert answer.usage.calls + again.usage.calls == len(fake.chats) + 1
    assert len(of(fake, "writer")) == 2
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
    assert fake.chats == []
    assert fake.settling != []
    assert "writer" in str(caught.value)


async def test_a_refused_effort_is_learned_before_the_sweeps(endpoint, db, fake):
    def refuse(request: Recorded) -> Scripted | None:
        if "reasoning_effort" in request.body:
            return Status(400, message='"writer" does not support thinking')
        return None

    fake.refuse = refuse
    async with model_on_papers(endpoint, db, fake) as pgs:
        answer = await pgs.execute("Why?", full_sweep=True)
    assert ["reasoning_effort" in tried.body for tried in fake.settling] == [True, False]
    assert not any("reasoning_effort" in chat.body for chat in fake.chats)
    assert answer.coverage.exhausted


async def test_nothing_is_tried_where_nothing_is_paid(endpoint, db, fake):
    async with model_on_papers(endpoint, db, fake) as pgs:
        await pgs.execute("Why?", full_sweep=True)
    first = fake.chats
    async with with_model(endpoint, fake) as pgs:
        again = await pgs.execute("Why?", graph="papers", full_sweep=True)
    assert again.usage.calls == 0
    assert fake.chats == first
    assert len(fake.settling) == 1


async def test_a_budget_without_room_for_it_ends_as_without_it(endpoint, db, fake):
    async with model_on_papers(endpoint, db, fake, max_tokens=10) as pgs:
        with pytest.raises(PGSError):
            await pgs.execute("Why?", full_sweep=True)
    assert fake.chats == []


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize(
    ("failure", "times"),
    [(Status(503), 1), (Status(429), 1), (Drop(), 1), (Status(503), 100), (Drop(), 100)],
)
async def test_what_may_pass_is_tried_again_and_keeps_no_run_from_reading(
    endpoint, db, fake, failure, times
):
    left = times

    def refuse(request: Recorded) -> Scripted | None:
        nonlocal left
        if not settles(request.body) or not left:
            return None
        left -= 1
        return failure

    fake.refuse = refuse
    async with model_on_papers(endpoint, db, fake) as pgs:
        answer = await pgs.execute("Why?", full_sweep=True)
    assert answer.coverage.exhausted
    assert answer.synthesis.complete
    assert len(fake.settling) > 1
    told = [one for one in answer.warnings if "writer could not be tried before" in one]
    assert len(told) == (times > 1)


async def test_thinking_that_takes_all_of_so_few_tokens_is_no_refusal(endpoint, db, fake):
    """OpenAI answers so where nothing was written, which says nothing of the parameters."""
    said = "Could not finish the message because max_tokens or model output limit was reached."

    def refuse(request: Recorded) -> Scripted | None:
        return Status(400, message=said) if settles(request.body) else None

    fake.refuse = refuse
    async with model_on_papers(endpoint, db, fake) as pgs:
        answer = await pgs.execute("Why?", full_sweep=True)
    assert len(fake.settling) == 1
    assert of(fake, "writer")[0].body["reasoning_effort"] == "high"
    assert answer.coverage.exhausted
    assert not any("writer" in one for one in answer.warnings)


async def test_what_a_model_refuses_is_paid_for_once_and_told_once_to_each_run(endpoint, db, fake):
    def refuse(request: Recorded) -> Scripted | None:
        if "reasoning_effort" in request.body:
            return Status(400, message='"writer" does not support thinking')
        roles = [message["role"] for message in request.body["messages"]]
        return Status(400, message="System role not supported") if "system" in roles else None

    fake.refuse = refuse
    async with model_on_papers(endpoint, db, fake) as pgs:
        answer = await pgs.execute("Why?", full_sweep=True)
        again = await pgs.execute("How?", full_sweep=True)
    system = "takes no system message, so its text is part of the user's message"
    for run in (answer, again):
        told = [one.partition(" (model ")[2] for one in run.warnings if "endpoint" in one]
        assert sorted(told) == [
            f"reader) {system}",
            "writer) refuses reasoning_effort, so it is left out",
            f"writer) {system}",
        ]
    assert len(fake.requests) == 3 + answer.usage.calls + again.usage.calls


@pytest.mark.parametrize(
    ("limits", "tried"), [({"max_calls": 2}, 0), ({"max_calls": 3}, 1), ({"max_calls": 6}, 1)]
)
async def test_a_call_that_would_cost_the_only_sweep_is_not_made(endpoint, db, fake, limits, tried):
    async with model_on_papers(endpoint, db, fake, **limits) as pgs:
        answer = await pgs.execute("Why?", full_sweep=True)
    assert len(fake.settling) == tried
    assert answer.usage.calls == limits["max_calls"]
    assert answer.synthesis.complete
