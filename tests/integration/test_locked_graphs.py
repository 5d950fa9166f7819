"""Another program locks nodes of a graph: only what links those nodes waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.jobs import repartition
from pgs_neo4j.errors import BusyError
from pgs_neo4j.pgs.runs.jobs import list_jobs
from tests.conftest import Endpoint
from tests.database import fetch
from tests.engines import engine_on_papers
from tests.graphs import checksum, count, locked_papers
from tests.leases import read_holder
from tests.waiting import until

PATIENCE_S = 120.0
LEASE_S = 5.0
LINKING = """
SHOW TRANSACTIONS YIELD status, elapsedTime
WHERE status = 'Closing' AND elapsedTime.milliseconds > 1000 * $seconds
RETURN count(*) AS waiting
"""


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on papers, whose leases are short."""
    async with engine_on_papers(endpoint, db, lease_s=LEASE_S) as opened:
        yield opened


async def waits_for(db: Database, seconds: float) -> None:
    """Return when a commit has waited so long for a lock."""

    async def waiting() -> bool:
        rows = await fetch(db, LINKING, seconds=seconds)
        return bool(rows[0]["waiting"])

    await until(waiting, PATIENCE_S)


@pytest.mark.thorough
async def test_a_job_that_waits_for_a_lock_keeps_its_lease_and_others_are_told(pgs: PGS) -> None:
    before = await checksum(pgs.db)
    async with asyncio.TaskGroup() as group, locked_papers(pgs.db):
        job = group.create_task(repartition(pgs, "papers"))
        await waits_for(pgs.db, 2 * LEASE_S)
        holder = await read_holder(pgs.db, "papers")
        assert holder is not None
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(BusyError, match=holder.holder.replace(".", r"\.")):
                await repartition(pgs, "papers")
        assert [one.outcome for one in await list_jobs(pgs.db)] == ["busy", "running"]
    assert job.result().outcome == "repartitioned"
    assert await checksum(pgs.db) == before
    assert await count(pgs.db, "(x:PgsGeneration) WHERE x.status <> 'complete'") == 0
