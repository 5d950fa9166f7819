"""The database is killed and started again in the middle of a question."""

from __future__ import annotations

import asyncio

import psutil
import pytest

from pgs_neo4j import local
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.local import LocalOptions
from pgs_neo4j.model import Prompt
from tests.database import empty
from tests.graphs import checksum, count, papers

pytestmark = pytest.mark.timeout(1800)  # many a start of a server, on a busy machine
PATIENCE_S = 400.0


async def test_a_database_restarted_during_the_third_of_eight_sweeps_loses_nothing(
    options: LocalOptions, pgs: PGS
) -> None:
    """Replies of the downtime are recorded once, when the database is back."""
    await empty(pgs.db)
    await pgs.add_graph("papers", await papers(pgs.db, topics=8, size=20))
    await pgs.partition("papers")
    users, restarting = await checksum(pgs.db), asyncio.Event()
    asked: list[int | None] = []

    async def restart() -> None:
        pid = local.status(options).pid
        assert pid is not None
        psutil.Process(pid).kill()
        await local.ensure_running(options)

    async def answer(prompt: Prompt) -> str:
        asked.append(prompt.partition)
        if len(asked) == 3 and not restarting.is_set():
            restarting.set()
            restarts.append(asyncio.create_task(restart()))
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
