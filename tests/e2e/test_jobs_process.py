"""`pgs repartition` and `pgs schedule` as an operator runs them: processes, signals, codes."""

from __future__ import annotations

import asyncio
import json
import signal

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import catalog
from pgs_neo4j.pgs.runs.jobs import list_jobs
from tests.forks import Fork
from tests.graphs import checksum, count, locked_papers
from tests.leases import read_holder
from tests.shells import WAIT_S, Done, Shell, finished, until

JOB = ("repartition", "--graph", "papers")

SCHEDULE = """
[[schedule]]
graph = "papers"
cron = "17 3 1 1 *"

[[schedule]]
graph = "absent"
cron = "17 3 1 1 *"
"""


async def job(pgs: Shell, *words: str) -> Done:
    """Run a job to its end, in silence."""
    return await pgs(*JOB, "--quiet", *words)


async def working(db: Database) -> bool:
    return await read_holder(db, "papers") is not None


async def shift(db: Database, minutes: int) -> None:
    """Move the end of the lease, and the last sign of life of each job, by so many minutes."""
    given = {"minutes": minutes}
    by = "duration({minutes: $minutes})"
    await db.call(f"MATCH (l:PgsLease) SET l.expires_at = l.expires_at + {by}", given, "write")
    await db.call(f"MATCH (j:PgsJob) SET j.updated_at = j.updated_at + {by}", given, "write")


async def test_a_night_without_and_with_changes(shell: Shell, stored: Database) -> None:
    (first,) = (await shell(*JOB, "--if-changed", "--json")).document["jobs"]
    assert (first["outcome"], first["figures"]["nodes"]) == ("repartitioned", 160)
    again = await job(shell, "--if-changed", "--json")
    assert (again.code, again.err) == (0, "")
    assert again.document["jobs"][0]["outcome"] == "unchanged"
    listed = (await shell("jobs", "list", "--json")).document["jobs"]
    assert [one["outcome"] for one in listed] == ["unchanged", "repartitioned"]
    shown = await shell("jobs", "show", first["id"])
    assert shown.code == 0
    assert f"generation        {first['generation']}" in shown.out.splitlines()


@pytest.mark.nightly
async def test_a_killed_job_leaves_what_there_was_and_the_next_cleans_up(
    shell: Shell, stored: Database
) -> None:
    before = await checksum(stored)
    assert (await job(shell)).code == 0
    generation = (await catalog.get(stored, "papers")).generation
    async with locked_papers(stored):
        process = await at_work(shell, stored)
        process.kill()
        assert (await finished(process)).code == -signal.SIGKILL
    assert (await catalog.get(stored, "papers")).generation == generation
    await shift(stored, 10)
    assert (await job(shell)).code == 4  # its lease has not run out
    await shift(stored, -120)
    assert (await job(shell)).code == 0
    outcomes = [job.outcome for job in await list_jobs(stored)]
    assert outcomes == ["repartitioned", "busy", "killed", "repartitioned"]
    assert await count(stored, "(x:PgsGeneration) WHERE x.status <> 'complete'") == 0
    assert await checksum(stored) == before


async def at_work(shell: Shell, db: Database) -> Fork:
    """Start a job, and return its process once it holds the lease."""
    process = await shell.start(*JOB, "--quiet")
    await until(lambda: working(db), process)
    return process


async def test_sigterm_interrupts_a_job_and_frees_the_lease(shell: Shell, stored: Database) -> None:
    async with locked_papers(stored):
        process = await at_work(shell, stored)
        process.send_signal(signal.SIGTERM)
        done = await finished(process)
    assert (done.code, done.out) == (130, "")
    assert done.err.splitlines()[-1] == "pgs: interrupted"
    assert [job.outcome for job in await list_jobs(stored)] == ["interrupted"]
    assert not await working(stored)


async def test_the_schedule_once(shell: Shell, stored: Database) -> None:
    (shell.folder / "pgs.toml").write_text(SCHEDULE)
    done = await shell("schedule", "--once", "--json")
    assert done.code == 2
    first, second = (json.loads(line) for line in done.out.splitlines())
    assert (first["entry"], first["outcome"]) == (1, "repartitioned")
    assert (second["entry"], second["outcome"]) == (2, "failed")
    assert "there is no graph absent" in second["error"]
    file = shell.folder / "pgs.toml"
    assert done.err == f"note: {file} is in force, because it is in the working directory\n"


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.thorough)]
)
async def test_a_signal_ends_the_schedule_well(
    shell: Shell, stored: Database, number: signal.Signals
) -> None:
    (shell.folder / "pgs.toml").write_text(SCHEDULE)
    process = await shell.start("schedule")
    assert process.stderr is not None
    async with asyncio.timeout(WAIT_S):
        first = (await process.stderr.readline()).decode()
    assert first.startswith("note: 2 entries scheduled, the next is graph papers at ")
    process.send_signal(number)
    done = await finished(process)
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines()[-1] == "note: the schedule has ended"
    assert "Traceback" not in done.err
