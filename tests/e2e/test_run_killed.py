"""A question killed at random moments continues and pays for little again."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections import Counter
from contextlib import suppress

import psutil
import pytest

from pgs_neo4j.engine import PGS
from tests.engines import KNOBS
from tests.fakes.openai_server import Answer, FakeOpenAI, contract_answer
from tests.graphs import checksum, count, papers
from tests.interpreters import PATIENCE_S, interpreting

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
KILLS = 5
CALLS = 9  # of a whole run: eight sweeps and a synthesis
IN_FLIGHT = 3
WORK = """
import openai, httpx2
from pgs_neo4j.engine import PGS

async def work(order):
    async with PGS.connect(**order["settings"]) as pgs:
        await pgs.execute(order["question"], session_id=order["question"], full_sweep=True)
"""


@pytest.fixture
def fake():
    with FakeOpenAI(default=Answer(contract_answer, delay_s=0.03)) as server:
        yield server


@pytest.fixture
async def runs(tmp_path):
    async with interpreting(WORK, tmp_path, {}) as opened:
        yield opened


async def reached(fake, pid, calls):
    """Wait until a run has sent so many calls, or has ended."""
    async with asyncio.timeout(PATIENCE_S):
        while len(fake.chats) < calls and psutil.pid_exists(pid):
            await asyncio.sleep(0.005)


def asked(fake):
    """How often each prompt was sent so far."""
    return Counter(json.dumps(request.body["messages"]) for request in list(fake.chats))


@pytest.mark.nightly
async def test_a_killed_run_repeats_no_more_calls_than_were_in_flight(endpoint, db, fake, runs):
    settings = {
        **KNOBS,
        "neo4j_uri": endpoint.uri,
        "neo4j_user": endpoint.user,
        "neo4j_password": endpoint.password,
        "llm_base_url": fake.base_url,
        "llm_provider": "openai",
        "max_concurrent_sweeps": IN_FLIGHT,
        "max_concurrent_calls": IN_FLIGHT,
    }
    draw, mapping = random.Random(5), await papers(db, topics=8, size=20)
    statuses, repeated, unsent = Counter(), [], []
    async with PGS.connect(**settings) as pgs:
        await pgs.graphs.add("papers", mapping)
        await pgs.partitions.build()
        users = await checksum(db)
        for kill in range(KILLS):
            fake.requests.clear()
            question = f"Question {kill}?"
            pid = await runs.begin(settings=settings, question=question)
            # Before the first call, among the others, and after the last one.
            await reached(fake, pid, calls=(CALLS + 1) * kill // (KILLS - 1))
            await asyncio.sleep(draw.uniform(0.0, 0.05))
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            await runs.end()
            await asyncio.sleep(0.05)  # what is on its way to the fake arrives
            before = asked(fake)
            find = "MATCH (r:PgsRun {question: $q}) RETURN r.id AS id, r.status AS status"
            _, rows = await db.call(find, {"q": question}, "read")
            if not rows:
                statuses["not begun"] += 1
                assert not before
                continue
            statuses[rows[0]["status"]] += 1
            answer = await pgs.resume(rows[0]["id"])
            # A process that dies between its record and the endpoint leaves calls that were not
            # sent, and nobody can know that: they count, as those in flight do.
            sent = len(fake.chats) + len(fake.settling)
            unsent.append(answer.usage.calls - sent)
            assert 0 <= unsent[-1] <= IN_FLIGHT, kill
            assert answer.coverage.exhausted
            assert not answer.partial
            again = asked(fake) - before
            repeated.append(sum(again[prompt] for prompt in again if prompt in before))
            assert repeated[-1] <= IN_FLIGHT, (kill, rows)
            assert len(asked(fake)) == CALLS
            _, swept = await db.call(
                "MATCH (:PgsRun {question: $q})-[:PGS_SWEPT]->(w) RETURN count(w) AS n",
                {"q": question},
                "read",
            )
            assert swept[0]["n"] == 8
        assert await checksum(db) == users
    assert statuses["running"] > KILLS / 3, statuses
    assert max(repeated) > 0
    if KILLS >= 50:  # enough to tell what is rare
        assert sum(map(bool, unsent)) < KILLS / 3, unsent
    assert await count(db, "(x:PgsRun {status: 'running'})") == 0
