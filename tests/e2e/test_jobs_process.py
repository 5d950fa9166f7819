"""`pgs repartition` and `pgs schedule` as an operator runs them: processes, signals, codes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j import catalog
from pgs_neo4j.database import lease
from pgs_neo4j.database.connection import Database
from pgs_neo4j.runs.jobs import list_jobs
from tests.conftest import Endpoint
from tests.forks import Fork, Forks
from tests.graphs import checksum, count, locked_papers, papers
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 180.0
JOB = ("repartition", "--graph", "papers")
Ended = tuple[int | None, str, str]
Start = Callable[..., Awaitable[Fork]]

SCHEDULE = """
[[schedule]]
graph = "papers"
cron = "17 3 1 1 *"

[[schedule]]
graph = "absent"
cron = "17 3 1 1 *"
"""


@pytest.fixture
async def stored(db: Database) -> Database:
    """Four topics of papers, stored as a graph."""
    mapping = await papers(db)
    await catalog.add(db, "papers", mapping)
    return db


@pytest.fixture
async def start(tmp_path: Path, endpoint: Endpoint, forks: Forks) -> AsyncIterator[Start]:
    """Starts ``pgs`` in an empty folder; what still runs at the end is killed."""
    home = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    knobs = {"PGS_MIN_COMMUNITY_SIZE": "10", "PGS_TARGET_PARTITION_MAX": "60"}
    settings = {**kept, **home, **knobs, **endpoint.environment(), "PYTHONPATH": str(ROOT)}
    started: list[Fork] = []

    async def begin(*arguments: str) -> Fork:
        process = await forks.start(*arguments, cwd=tmp_path, env=settings)
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ended(process: Fork) -> Ended:
    async with asyncio.timeout(WAIT_S):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def working(db: Database) -> bool:
    return await lease.read_holder(db, "papers") is not None


async def shift(db: Database, minutes: int) -> None:
    """Move the end of the lease, and the last sign of life of each job, by so many minutes."""
    given = {"minutes": minutes}
    by = "duration({minutes: $minutes})"
    await db.call(f"MATCH (l:PgsLease) SET l.expires_at = l.expires_at + {by}", given, "write")
    await db.call(f"MATCH (j:PgsJob) SET j.updated_at = j.updated_at + {by}", given, "write")


def jobs_of(out: str) -> list[Any]:
    return list(json.loads(out)["jobs"])


async def test_a_night_without_and_with_changes(start: Start, stored: Database) -> None:
    code, out, _ = await ended(await start(*JOB, "--if-changed", "--json"))
    assert code == 0
    (first,) = jobs_of(out)
    assert (first["outcome"], first["figures"]["nodes"]) == ("repartitioned", 160)
    code, out, err = await ended(await start(*JOB, "--if-changed", "--json", "--quiet"))
    assert (code, err) == (0, "")
    assert jobs_of(out)[0]["outcome"] == "unchanged"
    code, out, _ = await ended(await start("jobs", "list", "--json"))
    assert [job["outcome"] for job in jobs_of(out)] == ["unchanged", "repartitioned"]
    code, out, _ = await ended(await start("jobs", "show", first["id"]))
    assert code == 0
    assert f"generation        {first['generation']}" in out.splitlines()


async def test_of_eight_at_once_one_runs_and_seven_leave_with_4(
    start: Start, stored: Database
) -> None:
    async with locked_papers(stored):
        tasks = [asyncio.create_task(ended(await start(*JOB, "--quiet"))) for _ in range(8)]

        async def seven() -> bool:
            return sum(task.done() for task in tasks) == 7

        await until(seven, WAIT_S)
        assert await working(stored)
    found = await asyncio.gather(*tasks)
    codes = sorted(code for code, _, _ in found if code is not None)
    assert codes == [0, 4, 4, 4, 4, 4, 4, 4], [err for code, _, err in found if code not in (0, 4)]
    refused = [err for code, _, err in found if code == 4]
    assert all(err.startswith("pgs: graph papers is being partitioned by") for err in refused)
    assert all(len(err.splitlines()) == 1 for err in refused)
    outcomes = sorted(job.outcome for job in await list_jobs(stored))
    assert outcomes == ["busy"] * 7 + ["repartitioned"]
    assert await count(stored, "(x:PgsGeneration)") == 1


async def test_a_killed_job_leaves_what_there_was_and_the_next_cleans_up(
    start: Start, stored: Database
) -> None:
    before = await checksum(stored)
    assert (await ended(await start(*JOB, "--quiet")))[0] == 0
    generation = (await catalog.get(stored, "papers")).generation
    async with locked_papers(stored):
        process = await start(*JOB, "--quiet")

        async def at_work() -> bool:
            assert process.returncode is None
            return await working(stored)

        await until(at_work, WAIT_S)
        process.kill()
        assert (await ended(process))[0] == -signal.SIGKILL
    assert (await catalog.get(stored, "papers")).generation == generation
    await shift(stored, 10)
    assert (await ended(await start(*JOB, "--quiet")))[0] == 4  # its lease has not run out
    await shift(stored, -120)
    assert (await ended(await start(*JOB, "--quiet")))[0] == 0
    outcomes = [job.outcome for job in await list_jobs(stored)]
    assert outcomes == ["repartitioned", "busy", "killed", "repartitioned"]
    assert await count(stored, "(x:PgsGeneration) WHERE x.status <> 'complete'") == 0
    assert await checksum(stored) == before


async def test_sigterm_interrupts_a_job_and_frees_the_lease(start: Start, stored: Database) -> None:
    async with locked_papers(stored):
        process = await start(*JOB, "--quiet")

        async def at_work() -> bool:
            assert process.returncode is None
            return await working(stored)

        await until(at_work, WAIT_S)
        process.send_signal(signal.SIGTERM)
        code, out, err = await ended(process)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "pgs: interrupted"
    assert [job.outcome for job in await list_jobs(stored)] == ["interrupted"]
    assert not await working(stored)


async def test_the_schedule_once(start: Start, stored: Database, tmp_path: Path) -> None:
    (tmp_path / "pgs.toml").write_text(SCHEDULE)
    code, out, err = await ended(await start("schedule", "--once", "--json"))
    assert code == 2
    first, second = (json.loads(line) for line in out.splitlines())
    assert (first["entry"], first["outcome"]) == (1, "repartitioned")
    assert (second["entry"], second["outcome"]) == (2, "failed")
    assert "there is no graph absent" in second["error"]
    assert err == (
        f"note: {tmp_path / 'pgs.toml'} is in force, because it is in the working directory\n"
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_schedule_well(
    start: Start, stored: Database, tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "pgs.toml").write_text(SCHEDULE)
    process = await start("schedule")
    assert process.stderr is not None
    async with asyncio.timeout(WAIT_S):
        first = (await process.stderr.readline()).decode()
    assert first.startswith("note: 2 entries scheduled, the next is graph papers at ")
    process.send_signal(number)
    code, out, err = await ended(process)
    assert (code, out) == (0, "")
    assert err.splitlines()[-1] == "note: the schedule has ended"
    assert "Traceback" not in err
