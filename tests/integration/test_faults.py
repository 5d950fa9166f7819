"""The database disappears, stalls, or returns while a question is under way."""

import asyncio
from dataclasses import replace

import pytest

from pgs_neo4j.database import connection as db_module
from pgs_neo4j.database.gds import list_leftovers
from pgs_neo4j.errors import DatabaseTimeoutError, DatabaseUnavailableError
from pgs_neo4j.llm.scripted import contract_reply
from tests.database import alter
from tests.engines import KNOBS, engine_on
from tests.graphs import checksum, count, papers
from tests.leftovers import expire


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """What is lost for good is not waited for as long as a server that restarts."""
    monkeypatch.setattr(db_module, "PATIENCE_S", 2.0)


async def silence(db):
    """Let the time pass in which a run that could not be closed counts as running."""
    past = "MATCH (r:PgsRun {status: 'running'}) SET r.updated_at = datetime() - duration('PT1M')"
    await alter(db, past)


def connect(endpoint, faulty, **settings):
    address = replace(endpoint, uri=f"bolt://127.0.0.1:{faulty.listening}")
    return engine_on(address, **KNOBS | settings)


@pytest.mark.thorough
async def test_a_database_that_disappears_in_mid_run(endpoint, db, faulty):
    mapping = await papers(db)
    before = await checksum(db)

    async def answer(prompt):
        if prompt.task == "sweep" and await count(db, "(x:PgsSweep)") >= 2:
            faulty.cut()
        return contract_reply(prompt)

    one_by_one = {"max_concurrent_sweeps": 1, "max_concurrent_calls": 1}
    async with connect(endpoint, faulty, **one_by_one) as engine:
        await engine.graphs.add("papers", mapping)
        engine.sweep_llm._answer = answer
        with pytest.raises(DatabaseUnavailableError, match="cannot be reached"):
            await asyncio.wait_for(engine.execute("Begin"), 120)
        faulty.mend()
        await silence(db)
        engine.sweep_llm._answer = contract_reply
        coverage = await engine.sessions.coverage("default", "papers")
        # A report that arrived while others were asked may have been recorded before the end.
        assert coverage.nodes_read in (80, 120)
        rest = await engine.execute("Continue", mode="continue")
        assert rest.coverage.exhausted
        assert len(rest.sweeps) == 4 - coverage.nodes_read // 40
    assert await checksum(db) == before


@pytest.mark.thorough
@pytest.mark.parametrize("step", ["communities", "enrich"])
async def test_a_database_that_disappears_while_partitioning(endpoint, db, gds, faulty, step):
    mapping = await papers(db)
    async with connect(endpoint, faulty) as engine:
        await engine.graphs.add("papers", mapping)
        first = await engine.partitions.build("papers")
        engine.on_event = lambda event: faulty.cut() if step in str(event) else None
        with pytest.raises(DatabaseUnavailableError):
            await asyncio.wait_for(engine.partitions.build("papers", force=True), 120)
        faulty.mend()
        await expire(db)  # a job that lost the database could not give its lease back
        engine.on_event = lambda event: None
        again = await engine.partitions.build("papers")
        assert again.reused
        assert again.generation.id == first.generation.id
    assert await list_leftovers(gds) == []


async def test_a_black_hole_ends_within_the_deadline(endpoint, db, faulty):
    mapping = await papers(db)
    async with connect(endpoint, faulty) as engine:
        await engine.graphs.add("papers", mapping)
        await engine.partitions.build("papers")
        engine.db.timeout_s = 2.0
        faulty.black_hole = True
        with pytest.raises(DatabaseTimeoutError, match="within 2 s"):
            await asyncio.wait_for(engine.partitions("papers"), 30)
        faulty.mend()
