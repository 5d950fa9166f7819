"""A repartition job whose process is killed, or stopped past its lease, at any of its steps."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from pgs_neo4j.database import lease
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import GDS, list_leftovers
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.jobs import repartition
from pgs_neo4j.errors import BusyError
from pgs_neo4j.pgs.partitioning import result
from pgs_neo4j.pgs.runs.jobs import list_jobs
from tests.conftest import Endpoint
from tests.engines import engine_on
from tests.graphs import checksum, count, papers
from tests.interpreters import PATIENCE_S, Interpreter, interpreting
from tests.leftovers import expire, nothing_left, only, whole
from tests.waiting import until

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not hasattr(os, "fork") or not hasattr(signal, "SIGSTOP"),
        reason="this system can neither fork nor stop a process",
    ),
]
KILLED, BUSY = -9, 4
KEEP = 3
KNOBS: dict[str, Any] = {
    "min_community_size": 10,
    "target_partition_max": 60,
    "embedder": "none",
    "keep_generations": KEEP,
}
# Each step that reads or writes something else.
STEPS = ("check", "scan", "communities", "write", "enrich", "flip", "prune")
SHIFT = "MATCH (j:PgsJob) SET j.updated_at = j.updated_at - duration('PT1H')"
# A job that sends itself a signal when it comes to a step.
WORK = """
import os, signal, sys
import pgs_neo4j.database.gds.runner
from pgs_neo4j.cli.run import code_of
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.jobs import repartition
from pgs_neo4j.errors import PGSError
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply

async def work(order):
    def heard(event):
        if order["at"] in (getattr(event, "step", ""), getattr(event, "what", "")):
            os.kill(os.getpid(), getattr(signal, order["signal"]))

    llm = ScriptedLLM(contract_reply)
    try:
        async with PGS.connect(sweep_llm=llm, synthesis_llm=llm) as pgs:
            await repartition(pgs, "papers", on_event=heard)
    except PGSError as error:
        print(error, file=sys.stderr, flush=True)
        return code_of(error)
"""


@pytest.fixture
async def jobs(tmp_path: Path, endpoint: Endpoint) -> AsyncIterator[Interpreter]:
    """The interpreter that runs jobs."""
    knobs = {f"PGS_{name.upper()}": str(value) for name, value in KNOBS.items()}
    async with interpreting(WORK, tmp_path, {**knobs, **endpoint.environment()}) as opened:
        yield opened


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine in this process, on papers that are partitioned."""
    mapping = await papers(db)
    async with engine_on(endpoint, **KNOBS) as opened:
        await opened.graphs.add("papers", mapping)
        for _ in range(KEEP):
            await opened.partitions.build("papers", force=True)
        yield opened


@pytest.mark.nightly
async def test_a_job_killed_at_any_step_leaves_old_or_new_and_the_next_one_cleans_up(
    jobs: Interpreter, pgs: PGS, db: Database, gds: GDS
) -> None:
    users = await checksum(db)
    for step in STEPS:
        before = await whole(db)
        await jobs.begin(at=step, signal="SIGKILL")
        assert await jobs.end() == KILLED, step
        after = await whole(db)
        assert (after.id != before.id) == (step == "prune"), step
        read = await result.read_current(db, "papers")
        assert read is not None
        assert read.generation.id == after.id
        assert await lease.is_unreleased(db, "papers") == (step != "check")
        assert len(await list_leftovers(gds)) == (step == "communities"), step
        half = "(x:PgsGeneration {status: 'building'})"
        assert await count(db, half) == (step in ("write", "enrich", "flip"))
        if step == "write":  # alive as far as anybody can tell
            with pytest.raises(BusyError):
                await pgs.partitions.build("papers", force=True)
        await expire(db)
        assert (await repartition(pgs, "papers")).outcome == "repartitioned"
        assert (await whole(db)).id != after.id
        await nothing_left(db, gds)
        await only(db, KEEP)
    assert await checksum(db) == users
    found = await list_jobs(db, "papers", limit=100)
    assert [job.outcome for job in found[::-1]] == ["running", "repartitioned"] * len(STEPS)
    await db.call(SHIFT, {}, "write")
    assert (await repartition(pgs, "papers", if_changed=True)).outcome == "unchanged"
    found = await list_jobs(db, "papers", limit=100)
    ended = [job.outcome for job in found[::-1]]
    assert ended == [*["killed", "repartitioned"] * len(STEPS), "unchanged"]


async def test_a_job_stopped_past_its_lease_can_no_longer_write(
    jobs: Interpreter, pgs: PGS, db: Database, gds: GDS
) -> None:
    for step in ("flip", "enrich", "write"):
        late = psutil.Process(await jobs.begin(at=step, signal="SIGSTOP"))

        async def stopped(late: psutil.Process = late) -> bool:
            return late.status() == psutil.STATUS_STOPPED

        await until(stopped, PATIENCE_S)
        await expire(db)
        second = await repartition(pgs, "papers")
        assert second.outcome == "repartitioned", step
        current = await whole(db)
        assert current.id == second.generation
        late.send_signal(signal.SIGCONT)
        assert await jobs.end() == BUSY, step
        assert await whole(db) == current
        await nothing_left(db, gds)
        await only(db, KEEP)
        newest, first = await list_jobs(db, "papers", limit=2)
        assert (newest.id, first.outcome) == (second.id, "failed"), step
        assert first.error is not None
        assert "took over" in first.error
