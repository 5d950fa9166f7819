"""A run under a budget of N tokens never uses more than N, whatever the endpoint counts."""

import itertools
from contextlib import asynccontextmanager, suppress

import pytest

from pgs_neo4j.errors import BudgetError, ModelError
from tests.engines import model_on_papers
from tests.fakes.openai_server import Answer, Drop, FakeOpenAI, Status, contract_answer, counted


@asynccontextmanager
async def asking(endpoint, db, fake):
    """An engine on six topics that asks the fake endpoint, and how to ask within a budget."""
    async with model_on_papers(endpoint, db, fake, topics=6, size=20) as engine:

        async def ask(budget):
            return await engine.execute(
                f"Why {budget}?",
                full_sweep=True,
                max_tokens=budget,
                sweep_max_tokens=300,
                synthesis_max_tokens=600,
                session_id=f"s{budget}",
            )

        yield engine, ask


def counting(rate, wordy):
    """An endpoint that counts ``rate`` tokens for each byte, and replies as long as it may."""

    def reply(request):
        if not request.path.endswith("completions") or request.body.get("stream"):
            return None
        said = "".join(message["content"] for message in request.body["messages"])
        room = request.body["max_tokens"]
        used = room if wordy else min(room, 200)
        usage = {"prompt_tokens": int(rate * len(said.encode())), "completion_tokens": used}
        return counted(contract_answer(request.body), usage)

    return reply


def failing(kind):
    """An endpoint that charges for all it can of every third call and fails it."""
    charged, numbers = [], itertools.count()

    def reply(request):
        if not request.path.endswith("completions"):
            return None
        said = "".join(message["content"] for message in request.body["messages"])
        used = {"prompt_tokens": len(said.encode()) // 3, "completion_tokens": 120}
        fails = next(numbers) % 3 == 0
        if fails and kind != "refuses":
            used["completion_tokens"] = request.body["max_tokens"]
        if not (fails and kind == "refuses"):
            charged.append(sum(used.values()))
        if fails and kind != "empty":
            return {"drops": Drop(), "refuses": Status(503)}[kind]
        text = "" if fails else contract_answer(request.body)
        if request.body.get("stream"):
            return Answer(text or contract_answer(request.body))
        return counted(text, used)

    return reply, charged


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["empty", "drops", "refuses"])
async def test_calls_that_fail_and_are_charged_for_stay_within_the_budget(endpoint, db, kind):
    with FakeOpenAI() as fake:
        async with asking(endpoint, db, fake) as (_, ask):
            for budget in (9_000, 60_000):
                fake.refuse, charged = failing(kind)
                with suppress(BudgetError, ModelError):
                    await ask(budget)
                assert charged
                assert sum(charged) <= budget, budget


@pytest.mark.parametrize(
    ("rate", "wordy"),
    [
        (0.2, False),
        pytest.param(0.7, True, marks=pytest.mark.thorough),
        pytest.param(0.3, True, marks=pytest.mark.thorough),
        pytest.param(0.5, False, marks=pytest.mark.thorough),
    ],
)
async def test_the_tokens_that_are_counted_stay_within_the_budget(endpoint, db, rate, wordy):
    with FakeOpenAI(default=Answer(contract_answer)) as fake:
        fake.refuse = counting(rate, wordy)
        async with asking(endpoint, db, fake) as (engine, ask):
            answered = stopped = refused = 0
            for budget in (2_000, 6_000, 9_000, 14_000, 30_000, 200_000):
                try:
                    answer = await ask(budget)
                except BudgetError:
                    refused += 1
                    continue
                assert answer.usage.tokens <= budget, budget
                answered += not answer.stopped
                stopped += bool(answer.stopped)
                if answer.stopped and stopped == 1:
                    assert answer.partial
                    assert any("left unread" in warning for warning in answer.warnings)
                    done = await engine.resume(answer.run, max_tokens=10**7)
                    assert done.coverage.exhausted
                    assert not done.partial
            assert answered
            assert stopped
            assert refused
