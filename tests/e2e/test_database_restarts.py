"""The database is killed and started again in the middle of a job or a question."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

from pgs_neo4j import local
from pgs_neo4j.calls.replies import Replies, kept
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.repartition import repartition
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.gds import open_gds
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.local import LocalOptions
from pgs_neo4j.model import Completion, Prompt, Usage
from pgs_neo4j.partitioning import build, generation, membership, result
from pgs_neo4j.partitioning.scan import view
from pgs_neo4j.runs.jobs import list_jobs
from tests.bench.ingestion.corpus import make_world, write_files, write_texts
from tests.bench.ingestion.replies import FaithfulLLM
from tests.database import empty
from tests.graphs import checksum, count, papers
from tests.killed_ingest import graph_without_name, half_documents
from tests.leftovers import expire, nothing_left, only, whole

# Each starts servers again and again, which takes long, most of all on a busy machine.
pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1800)]
KEEP = 2  # generations that the engine of conftest keeps
PATIENCE_S = 400.0
DATABASE_KILLS = 3
WRITERS = 8
DOCUMENTS = 60  # two publications, and a prompt for each document
Restart = Callable[[], Awaitable[None]]


async def kill_and_start(options: LocalOptions) -> None:
    """Kill the server as a power cut does, and wait until another one answers."""
    pid = kill(options)
    assert (await local.ensure_running(options)).pid != pid


def kill(options: LocalOptions) -> int:
    """Kill the server; return the id that its process had."""
    pid = local.status(options).pid
    assert pid is not None
    psutil.Process(pid).kill()
    return pid


# What is at work while the server dies, and when. At the first moment nobody
# knows whether the members were written. After the communities, their projection is gone.
MOMENTS: tuple[tuple[ModuleType, str, str], ...] = (
    (membership, "write_members", "during"),
    (generation, "make_current", "before"),
    (build, "detect_communities", "after"),
    (view, "scan", "before"),
)


def disturb(
    patch: pytest.MonkeyPatch, module: ModuleType, name: str, when: str, fault: Restart
) -> None:
    """Have something happen before, during, or after the work of a function."""
    work = getattr(module, name)

    async def disturbed(*args: Any, **how: Any) -> Any:
        if when == "before":
            await fault()
        working = asyncio.create_task(work(*args, **how))
        if when == "during":
            await asyncio.sleep(0)
            await fault()
        found = await working
        if when == "after":
            await fault()
        return found

    patch.setattr(module, name, disturbed)


async def test_a_database_restarted_between_any_steps_keeps_old_or_new(
    options: LocalOptions, pgs: PGS
) -> None:
    """The server dies as in a power cut, and is back when the job continues."""
    db, users = pgs.db, await checksum(pgs.db)
    restarts = 0

    async def restart() -> None:
        nonlocal restarts
        restarts += 1
        await kill_and_start(options)

    for number, moment in enumerate(MOMENTS, start=1):
        before = await whole(db)
        ended = ""
        with pytest.MonkeyPatch.context() as patch:
            disturb(patch, *moment, restart)
            async with asyncio.timeout(PATIENCE_S):
                with suppress(DatabaseError):
                    ended = (await repartition(pgs, "papers")).generation or ""
        assert restarts == number, moment
        after = await whole(db)
        assert after.id == (ended or before.id), moment
        read = await result.read_current(db, "papers")
        assert read is not None
        assert read.generation.id == after.id
        (job,) = await list_jobs(db, "papers", limit=1)
        assert job.outcome == ("repartitioned" if ended else "failed")
        await expire(db)
        assert (await repartition(pgs, "papers")).outcome == "repartitioned"
        await nothing_left(db, await open_gds(db))
        await only(db, KEEP)
        assert await checksum(db) == users


async def test_a_database_restarted_during_the_third_of_eight_sweeps_loses_nothing(
    options: LocalOptions, pgs: PGS
) -> None:
    """Replies of the downtime are recorded once, when the database is back."""
    await empty(pgs.db)
    await pgs.add_graph("papers", await papers(pgs.db, topics=8, size=20))
    await pgs.partition("papers")
    users, restarting = await checksum(pgs.db), asyncio.Event()
    asked: list[int | None] = []

    async def answer(prompt: Prompt) -> str:
        asked.append(prompt.partition)
        if len(asked) == 3 and not restarting.is_set():
            restarting.set()
            restarts.append(asyncio.create_task(kill_and_start(options)))
            await asyncio.sleep(0.5)
        return contract_reply(prompt)

    restarts: list[asyncio.Task[None]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pgs, "sweep_llm", ScriptedLLM(answer))
        async with asyncio.timeout(PATIENCE_S):
            result = await pgs.execute("Why?", full_sweep=True, max_flag_sweeps=0)
    await asyncio.gather(*restarts)
    assert restarts
    assert result.coverage.exhausted
    assert not result.partial
    assert sorted(filter(None, asked)) == list(range(1, 9))
    assert await count(pgs.db, "(x:PgsSweep)") == 8
    assert await count(pgs.db, "(x:PgsFinding)") == 24
    assert await checksum(pgs.db) == users


async def test_a_database_restarted_during_an_ingestion_loses_and_doubles_nothing(
    options: LocalOptions, pgs: PGS, tmp_path: Path
) -> None:
    """Replies of the downtime are kept, and their documents published, when it is back."""
    await empty(pgs.db)
    world = make_world(40, 2 * DOCUMENTS)
    write_files(tmp_path, write_texts(world.facts, 2, 1500))
    faithful, restarts = FaithfulLLM(), list[asyncio.Task[None]]()
    asked: list[str] = []

    async def extracted(prompt: Prompt) -> str:
        asked.append(prompt.user)
        if len(asked) == DOCUMENTS + 3:
            restarts.append(asyncio.create_task(kill_and_start(options)))
            await asyncio.sleep(0.5)
        return faithful.extract(prompt)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pgs, "sweep_llm", ScriptedLLM(extracted))
        await pgs.ingest(tmp_path, "whole")
        async with asyncio.timeout(PATIENCE_S):
            done = await pgs.ingest(tmp_path, "restarted")
    await asyncio.gather(*restarts)
    assert restarts
    assert done.complete
    assert sorted(asked) == sorted(2 * asked[:DOCUMENTS])
    assert await half_documents(pgs.db, "restarted") == []
    undisturbed = await graph_without_name(pgs.db, "whole")
    assert await graph_without_name(pgs.db, "restarted") == undisturbed


async def test_whatever_was_acknowledged_before_a_kill_is_there_after_it(
    options: LocalOptions, pgs: PGS
) -> None:
    """The server dies at random moments while many write; no acknowledged write is lost."""
    db, draw, acknowledged = pgs.db, random.Random(11), list[str]()
    replies = Replies(db, "r1")
    failed = 0

    async def write(kill: int, writer: int) -> None:
        nonlocal failed
        for number in itertools.count():
            key = f"{kill}:{writer}:{number}"
            row = replies.row(key, Completion(text=key, usage=Usage(calls=1), model="m"))
            try:
                await replies.keep([row])
            except DatabaseError:
                failed += 1
                return
            acknowledged.append(key)

    for kill_number in range(DATABASE_KILLS):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(db, "timeout_s", 3.0)
            writing = [asyncio.create_task(write(kill_number, n)) for n in range(WRITERS)]
            await asyncio.sleep(draw.uniform(0.1, 1.5))
            kill(options)
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*writing)
        await local.ensure_running(options)
        with suppress(DatabaseError):  # the first one may meet a connection that is dead
            await kept(db)
        found = await replies.find(acknowledged)
        assert [key for key in acknowledged if key not in found] == []
        assert all(found[key].text == key for key in acknowledged)
    assert len(acknowledged) > DATABASE_KILLS
    assert failed == DATABASE_KILLS * WRITERS
