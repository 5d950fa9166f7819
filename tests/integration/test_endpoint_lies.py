"""Runs on endpoints that ask for long waits, miscount, and send no reports."""

import pytest

from pgs_neo4j.errors import BudgetError, QueryError, WaitError
from pgs_neo4j.events import CallRetried, Warned
from pgs_neo4j.llm.calls.ledger import Ledger, Total
from tests.database import alter
from tests.engines import model_on_papers
from tests.fakes.openai_server import Answer, FakeOpenAI, Raw, Status, contract_answer, counted
from tests.graphs import count


@pytest.fixture
def fake():
    with FakeOpenAI(default=Answer(contract_answer)) as server:
        yield server


def reads(request, partition):
    return f"Partition P{partition}:" in str(request.body.get("messages"))


def chats_on(fake, partition):
    sweeps = [request for request in fake.chats if not request.body.get("stream")]
    return [request for request in sweeps if reads(request, partition)]


@pytest.mark.thorough
async def test_a_long_wait_in_mid_run_leaves_a_partial_answer_that_resumes(endpoint, db, fake):
    fake.refuse = lambda request: (
        Status(429, {"Retry-After": "99999"}) if reads(request, 3) else None
    )
    async with model_on_papers(
        endpoint, db, fake, topics=6, max_concurrent_sweeps=1, max_calls=50
    ) as engine:
        answer = await engine.execute("Why?", full_sweep=True)
        asked = len(fake.chats)
        assert answer.partial
        assert answer.text == ""
        assert "27 h 46 min, until 20" in answer.stopped
        assert "'pgs resume' can continue the run after that" in answer.stopped
        assert answer.coverage.nodes_read == 40 * (asked - 1) > 0
        assert not [chat for chat in fake.chats if chat.body.get("stream")]
        assert await count(db, "(x:PgsRun {status: 'partial'})") == 1
        assert await count(db, "(x:PgsSweep {synthesized: true})") == 0
        fake.refuse = lambda request: None
        done = await engine.resume(answer.run)
    assert await count(db, "(x:PgsSweep {synthesized: true})") == 6
    assert not done.partial
    assert done.coverage.exhausted
    assert len(fake.chats) == 6 + 1 + 1  # each partition once, the refusal, the synthesis


@pytest.mark.thorough
async def test_a_long_wait_before_anything_is_read_ends_the_run_as_stopped(endpoint, db, fake):
    fake.default = Status(429, {"Retry-After": "Fri, 01 Jan 2038 00:00:00 GMT"})
    async with model_on_papers(endpoint, db, fake, topics=2, max_concurrent_sweeps=1) as engine:
        with pytest.raises(WaitError, match=r"nothing was read: .*, until 2038-01-01"):
            await engine.execute("Why?")
        assert await count(db, "(x:PgsRun {status: 'stopped'})") == 1
        fake.default = Answer(contract_answer)
        assert not (await engine.execute("Why?")).partial


async def test_what_is_no_report_is_bought_three_times_in_all(endpoint, db, fake):
    kinds = {1: Raw(b"{}"), 2: Answer("I would rather not."), 3: None}

    def refuse(request):
        return next((kind for number, kind in kinds.items() if reads(request, number)), None)

    fake.refuse, events = refuse, []
    async with model_on_papers(endpoint, db, fake, topics=3) as engine:
        answer = await engine.execute("Why?", full_sweep=True, on_event=events.append)
    assert answer.partial
    assert [len(chats_on(fake, number)) for number in (1, 2, 3)] == [3, 3, 1]
    assert "3 times in all" in next(s for s in answer.sweeps if s.partition == 2).errors[0]
    assert not [event for event in events if isinstance(event, CallRetried)]


IMPOSSIBLE = (
    {"prompt_tokens": 0, "completion_tokens": 0},
    {"prompt_tokens": 10**30, "completion_tokens": 10**30},
    {"prompt_tokens": -5, "completion_tokens": 1},
)


async def test_usage_that_cannot_be_is_estimated_and_ends_no_run(endpoint, db, fake):
    async with model_on_papers(endpoint, db, fake, topics=3) as engine:
        for usage in IMPOSSIBLE:
            fake.refuse = lambda request, usage=usage: (
                None
                if request.body.get("stream") or not request.body
                else counted(contract_answer(request.body), usage)
            )
            fake.requests.clear()
            events = []
            answer = await engine.execute(
                "Why?", full_sweep=True, cache=False, on_event=events.append
            )
            assert not answer.partial
            assert answer.usage.estimated
            sent = sum(len(m["content"]) for chat in fake.chats for m in chat.body["messages"])
            assert sent / 8 < answer.usage.input_tokens < sent
            assert answer.usage.output_tokens > 100
            warned = [event.message for event in events if isinstance(event, Warned)]
            doubted = usage["prompt_tokens"] == 0
            assert sum("fewer tokens than" in message for message in warned) == doubted
            assert sum("fewer tokens than" in message for message in answer.warnings) == doubted
        fake.requests.clear()
        with pytest.raises(BudgetError):
            await engine.execute("How?", full_sweep=True, max_tokens=500, cache=False)
    assert fake.chats == []


async def test_what_neo4j_refuses_leaves_no_run_as_running(endpoint, db, fake, monkeypatch):
    monkeypatch.setattr(Ledger, "total", lambda ledger: Total(10**30, ledger.count()))
    async with model_on_papers(endpoint, db, fake, topics=2) as engine:
        with pytest.raises(QueryError):
            await engine.execute("Why?")
    assert fake.chats == []
    assert await count(db, "(x:PgsRun {status: 'failed'})") == 1


async def test_a_partition_too_large_for_the_budget_is_passed_over(endpoint, db, fake):
    rooms = {"sweep_max_tokens": 300, "synthesis_max_tokens": 300}
    async with model_on_papers(endpoint, db, fake, topics=3, **rooms) as engine:
        await alter(
            db,
            "MATCH (p:Paper {topic: 0}) SET p.abstract = reduce(t = '', i IN range(1, 2000) | "
            "t + p.title + ' says ' + i + '. ')",
        )
        answer = await engine.execute("Why?", full_sweep=True, max_tokens=20_000)
        assert answer.partial
        assert "max_tokens" in answer.stopped
        assert answer.coverage.nodes_read == 80
        assert 0 in {sweep.nodes_read for sweep in answer.sweeps}
        with pytest.raises(BudgetError, match=r"smallest limit that allows a call is [\d,]+$"):
            await engine.execute("How?", full_sweep=True, max_tokens=1_500)
