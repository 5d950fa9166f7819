"""Faults in mid-run: lost acknowledgements, black holes, failing and limiting endpoints."""

import asyncio
import itertools
import random
from urllib.parse import urlparse

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import DeadlineError, ModelTimeoutError, PGSError
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import SweepStatus
from tests.engines import KNOBS, engine_on_papers, with_model
from tests.fakes.openai_server import Answer, FakeOpenAI, Stall, Status, contract_answer
from tests.fakes.tcp_proxy import proxy
from tests.graphs import count, papers


@pytest.fixture
async def faulty(endpoint, db):
    address = urlparse(endpoint.uri)
    async with proxy(address.hostname, address.port or 7687) as running:
        yield running


@pytest.fixture
def fake():
    with FakeOpenAI(default=Answer(contract_answer)) as server:
        yield server


def through(faulty, endpoint, **settings):
    return PGS.connect(
        neo4j_uri=f"bolt://127.0.0.1:{faulty.listening}",
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        sweep_llm=ScriptedLLM(contract_reply),
        synthesis_llm=ScriptedLLM(contract_reply),
        **KNOBS | settings,
    )


def chats_on(fake, partition):
    return [r for r in fake.chats if f"Partition P{partition}:" in str(r.body["messages"])]


async def test_a_lost_acknowledgement_of_a_commit_is_no_error_and_no_duplicate(
    endpoint, db, faulty
):
    mapping = await papers(db, topics=8)
    async with through(faulty, endpoint) as engine:
        await engine.add_graph("papers", mapping)
        await engine.partition()

        def answer(prompt):
            if prompt.task == "sweep" and prompt.partition in (2, 5):
                faulty.lost_commits = 1
            return contract_reply(prompt)

        engine.sweep_llm._answer = answer
        result = await engine.execute("Why?", full_sweep=True)
    assert faulty.lost_commits == 0
    assert result.coverage.exhausted
    assert not result.partial
    assert await count(db, "(x:PgsSweep)") == 8
    assert await count(db, "(x:PgsFinding)") == sum(len(s.report.findings) for s in result.sweeps)
    assert await count(db, "(x:PgsReply)") == 9


async def test_a_slow_link_costs_time_and_nothing_else(endpoint, db, faulty):
    """A database far away: 10 ms each way, 1 MB a second."""
    mapping = await papers(db, size=20)
    async with through(faulty, endpoint) as engine:
        await engine.add_graph("papers", mapping)
        await engine.partition()
        faulty.latency_s, faulty.bytes_per_s = 0.01, 1e6
        result = await engine.execute("Why?", full_sweep=True)
        assert result.coverage.exhausted
        assert not result.partial
        assert (result.usage.calls, await count(db, "(x:PgsSweep)")) == (5, 4)
        again = await engine.execute("Why?", mode="continue")
        assert (again.usage.calls, again.usage.cached) == (0, 5)
    assert await count(db, "(x:PgsRun {status: 'complete'})") == 2


@pytest.mark.parametrize("moment", ["sweep", "synthesis"])
async def test_a_black_hole_ends_a_run_within_its_deadline(endpoint, db, faulty, clock, moment):
    mapping = await papers(db)
    async with through(faulty, endpoint, query_timeout_s=7200) as engine:
        await engine.add_graph("papers", mapping)
        await engine.partition()

        def answer(prompt):
            faulty.black_hole = faulty.black_hole or prompt.task == moment
            return contract_reply(prompt)

        engine.sweep_llm._answer = engine.synthesis_llm._answer = answer
        asking = asyncio.create_task(engine.execute("Why?", run_timeout_s=600))
        await faulty.swallowed.wait()
        began = clock.now()
        clock.forward(600)
        with pytest.raises(DeadlineError, match="run_timeout_s"):
            await asking
        assert clock.now() - began < 700  # and not when the query would have ended
        faulty.mend()


async def test_a_partition_that_always_fails_is_named_in_a_partial_answer(endpoint, db, fake):
    mapping = await papers(db)
    fake.refuse = lambda request: (
        Status(500) if "Partition P3:" in str(request.body.get("messages")) else None
    )
    async with with_model(endpoint, fake, model_timeout_s=20) as engine:
        await engine.add_graph("papers", mapping)
        answer = await engine.execute("Why?")
    assert answer.partial
    failed = [s for s in answer.sweeps if s.status is SweepStatus.FAILED]
    assert [s.partition for s in failed] == [3]
    assert "HTTP 500" in failed[0].errors[0]
    assert any("P3: 0 of 40 nodes were read" in warning for warning in answer.warnings)
    assert answer.coverage.nodes_read == 120
    assert len(chats_on(fake, 3)) == 5
    synthesis = fake.chats[-1].body["messages"][1]["content"]
    assert "Not read in this run, 1 partitions:\nP3 (40 nodes)" in synthesis


async def test_a_third_of_calls_refused_for_their_rate_costs_time_and_nothing_else(
    endpoint, db, fake
):
    mapping = await papers(db, topics=8)
    draw, waits = random.Random(7), itertools.count()

    def refuse(request):
        refused = request.path.endswith("completions") and draw.random() < 0.3
        if refused:
            next(waits)
        return Status(429, {"retry-after-ms": "40"}) if refused else None

    fake.refuse = refuse
    async with with_model(endpoint, fake) as engine:
        await engine.add_graph("papers", mapping)
        for question in ("Why?", "How?", "When?"):
            answer = await engine.execute(question, full_sweep=True)
            assert not answer.partial
            assert answer.usage.calls == 9
    assert next(waits) > 3
    assert len(fake.chats) == 27 + next(waits) - 1


async def test_a_stream_that_stalls_is_never_stored_as_whole(endpoint, db, fake):
    mapping = await papers(db)
    ten = " ".join(f"word{i}" for i in range(60))

    def refuse(request):
        return Stall(10, f"## Thesis\n{ten}") if request.body.get("stream") else None

    fake.refuse = refuse
    writer = OpenAILLM("writer", Endpoint(fake.base_url, None, 20.0), idle_timeout_s=1.5)
    async with with_model(endpoint, fake) as engine:
        engine.synthesis_llm = writer
        await engine.add_graph("papers", mapping)
        with pytest.raises(ModelTimeoutError, match="stalled"):
            await engine.execute("Why?")
        _, rows = await db.call("MATCH (r:PgsRun) RETURN r {.*} AS run", {}, "read")
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


async def test_many_that_continue_one_session_cover_the_union(endpoint, db):
    async with engine_on_papers(endpoint, db) as engine:
        await engine.execute("Why?", max_sweep_partitions=1, session_id="shared", full_sweep=False)
        answers = await asyncio.gather(
            *(
                engine.execute(
                    f"Question {number}?",
                    mode="continue",
                    session_id="shared",
                    max_sweep_partitions=1 + number % 3,
                )
                for number in range(32)
            ),
            return_exceptions=True,
        )
        failed = [each for each in answers if isinstance(each, BaseException)]
        assert failed == []
        read = set()
        _, rows = await db.call(
            "MATCH (w:PgsSweep)-[:PGS_READ]->(p:PgsPartition)<-[m:PGS_IN]-(n) "
            "WHERE any(i IN range(0, size(w.read_first) - 1) "
            "WHERE w.read_first[i] <= m.rank < w.read_last[i]) RETURN collect(DISTINCT n.doi) AS d",
            {},
            "read",
        )
        read |= set(rows[0]["d"])
        coverage = await engine.coverage("papers", "shared")
        assert coverage.nodes_read == len(read)
        assert await count(db, "(x:PgsRun {status: 'complete'})") == 33
        _, rows = await db.call(
            "MATCH (r:PgsRun)-[:PGS_SWEPT]->(w:PgsSweep) RETURN count(*) AS n", {}, "read"
        )
        assert rows[0]["n"] == await count(db, "(x:PgsSweep)")


async def test_an_error_says_what_to_do(endpoint, db, fake):
    mapping = await papers(db)
    fake.default = Status(401)
    async with with_model(endpoint, fake) as engine:
        await engine.add_graph("papers", mapping)
        with pytest.raises(PGSError, match="PGS_LLM_API_KEY"):
            await engine.execute("Why?")
