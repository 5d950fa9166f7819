"""Faults in mid-run: lost acknowledgements, black holes, failing and limiting endpoints."""

import asyncio
import itertools
import random
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from pgs_neo4j.errors import DeadlineError, ModelTimeoutError
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.scripted import contract_reply
from tests.database import fetch
from tests.engines import answering, engine_on_papers, model_on_papers
from tests.fakes.openai_server import Answer, FakeOpenAI, Stall, Status, contract_answer
from tests.graphs import count


@pytest.fixture
def fake():
    with FakeOpenAI(default=Answer(contract_answer)) as server:
        yield server


@asynccontextmanager
async def through(faulty, endpoint, db, **settings):
    """An engine on partitioned papers that reaches its database through a proxy."""
    faulty_endpoint = replace(endpoint, uri=f"bolt://127.0.0.1:{faulty.listening}")
    async with engine_on_papers(faulty_endpoint, db, **settings) as engine:
        await engine.partitions.build()
        yield engine


async def test_a_lost_acknowledgement_of_a_commit_is_no_error_and_no_duplicate(
    endpoint, db, faulty
):
    async with through(faulty, endpoint, db, topics=8) as engine:

        def answer(prompt):
            if prompt.task == "sweep" and prompt.partition in (2, 5):
                faulty.lost_commits = 1
            return contract_reply(prompt)

        answering(engine, answer)
        result = await engine.execute("Why?", full_sweep=True)
    assert faulty.lost_commits == 0
    assert result.coverage.exhausted
    assert not result.partial
    assert await count(db, "(x:PgsSweep)") == 8
    assert await count(db, "(x:PgsFinding)") == sum(len(s.report.findings) for s in result.sweeps)
    assert await count(db, "(x:PgsReply)") == 9


@pytest.mark.parametrize("moment", ["sweep", "synthesis"])
async def test_a_black_hole_ends_a_run_within_its_deadline(endpoint, db, faulty, clock, moment):
    async with through(faulty, endpoint, db, query_timeout_s=7200) as engine:

        def answer(prompt):
            faulty.black_hole = faulty.black_hole or prompt.task == moment
            return contract_reply(prompt)

        answering(engine, answer)
        asking = asyncio.create_task(engine.execute("Why?", run_timeout_s=600))
        await faulty.swallowed.wait()
        began = clock.now()
        clock.forward(600)
        with pytest.raises(DeadlineError, match="run_timeout_s"):
            await asking
        assert clock.now() - began < 700  # and not when the query would have ended
        faulty.mend()


@pytest.mark.thorough
async def test_a_third_of_calls_refused_for_their_rate_costs_time_and_nothing_else(
    endpoint, db, fake
):
    draw, waits = random.Random(7), itertools.count()

    def refuse(request):
        refused = request.path.endswith("completions") and draw.random() < 0.3
        if refused:
            next(waits)
        return Status(429, {"retry-after-ms": "40"}) if refused else None

    fake.refuse = refuse
    async with model_on_papers(endpoint, db, fake, topics=8) as engine:
        # Before the first sweeps, one call settles what the synthesis takes.
        for question, calls in (("Why?", 10), ("How?", 9), ("When?", 9)):
            answer = await engine.execute(question, full_sweep=True)
            assert not answer.partial
            assert answer.usage.calls == calls
    assert next(waits) > 3
    assert len(fake.chats) + len(fake.settling) == 28 + next(waits) - 1


@pytest.mark.thorough
async def test_a_stream_that_stalls_is_never_stored_as_whole(endpoint, db, fake):
    ten = " ".join(f"word{i}" for i in range(60))

    def refuse(request):
        return Stall(10, f"## Thesis\n{ten}") if request.body.get("stream") else None

    fake.refuse = refuse
    writer = OpenAILLM("writer", Endpoint(fake.base_url, None, 60.0), idle_timeout_s=1.5)
    async with model_on_papers(endpoint, db, fake) as engine:
        engine.synthesis_llm = writer
        with pytest.raises(ModelTimeoutError, match="stalled"):
            await engine.execute("Why?")
        rows = await fetch(db, "MATCH (r:PgsRun) RETURN r {.*} AS run")
        run = rows[0]["run"]
        assert run["status"] == "failed"
        assert "answer" not in run
        assert await count(db, "(x:PgsThesis)") == 0
        assert await count(db, "(x:PgsReply)") == 4
        fake.refuse = lambda request: None
        done = await engine.resume(run["id"])
        assert done.synthesis.complete
        assert not done.partial
    await writer.close()
