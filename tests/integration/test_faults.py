"""The database disappears, stalls, or returns while a question is under way."""

import asyncio
from dataclasses import replace
from urllib.parse import urlparse

import pytest

from pgs_neo4j.database import connection as db_module
from pgs_neo4j.errors import DatabaseTimeoutError, DatabaseUnavailableError
from pgs_neo4j.gds import list_leftovers
from pgs_neo4j.llm.scripted import contract_reply
from tests.engines import KNOBS, engine_on
from tests.fakes.tcp_proxy import proxy
from tests.graphs import checksum, count, papers
from tests.leftovers import expire
from tests.thorough import tries


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """What is lost for good is not waited for as long as a server that restarts."""
    monkeypatch.setattr(db_module, "PATIENCE_S", 2.0)


@pytest.fixture
async def faulty(endpoint, db):
    """A proxy before the test database."""
    address = urlparse(endpoint.uri)
    async with proxy(address.hostname, address.port or 7687) as running:
        yield running


async def silence(db):
    """Let the time pass in which a run that could not be closed counts as running."""
    past = "MATCH (r:PgsRun {status: 'running'}) SET r.updated_at = datetime() - duration('PT1M')"
    await db.call(past, {}, "write")


def connect(endpoint, faulty, **settings):
    address = replace(endpoint, uri=f"bolt://127.0.0.1:{faulty.listening}")
    return engine_on(address, **KNOBS | settings)


async def test_a_database_that_disappears_in_mid_run(endpoint, db, faulty):
    mapping = await papers(db)
    before = await checksum(db)

    async def answer(prompt):
        if prompt.task == "sweep" and await count(db, "(x:PgsSweep)") >= 2:
            faulty.cut()
        return contract_reply(prompt)

    one_by_one = {"max_concurrent_sweeps": 1, "max_concurrent_calls": 1}
    async with connect(endpoint, faulty, **one_by_one) as engine:
        await engine.add_graph("papers", mapping)
        engine.sweep_llm._answer = answer
        with pytest.raises(DatabaseUnavailableError, match="cannot be reached"):
            await asyncio.wait_for(engine.execute("Begin"), 120)
        faulty.mend()
        await silence(db)
        engine.sweep_llm._answer = contract_reply
        coverage = await engine.coverage("papers", "default")
        # A report that arrived while others were asked may have been recorded before the end.
        assert coverage.nodes_read in (80, 120)
        rest = await engine.execute("Continue", mode="continue")
        assert rest.coverage.exhausted
        assert len(rest.sweeps) == 4 - coverage.nodes_read // 40
    assert await checksum(db) == before


@pytest.mark.parametrize("step", ["communities", "enrich"])
async def test_a_database_that_disappears_while_partitioning(endpoint, db, gds, faulty, step):
    mapping = await papers(db)
    async with connect(endpoint, faulty) as engine:
        await engine.add_graph("papers", mapping)
        first = await engine.partition("papers")
        engine.on_event = lambda event: faulty.cut() if step in str(event) else None
        with pytest.raises(DatabaseUnavailableError):
            await asyncio.wait_for(engine.partition("papers", force=True), 120)
        faulty.mend()
        await expire(db)  # a job that lost the database could not give its lease back
        engine.on_event = lambda event: None
        again = await engine.partition("papers")
        assert again.reused
        assert again.generation.id == first.generation.id
    assert await list_leftovers(gds) == []


async def test_a_black_hole_ends_within_the_deadline(endpoint, db, faulty):
    mapping = await papers(db)
    async with connect(endpoint, faulty) as engine:
        await engine.add_graph("papers", mapping)
        await engine.partition("papers")
        engine.db.timeout_s = 2.0
        faulty.black_hole = True
        with pytest.raises(DatabaseTimeoutError, match="within 2 s"):
            await asyncio.wait_for(engine.partitions("papers"), 30)
        faulty.mend()


async def test_many_megabytes_in_one_text_are_read_to_the_last_word(endpoint, db, faulty):
    mapping = await papers(db, topics=1, size=10)
    megabytes = tries(3, 30)
    text = "".join(
        f"sentence number {i:6} of a very long text. " for i in range(26_000 * megabytes)
    )
    assert len(text) > megabytes * 2**20
    query = "MATCH (p:Paper {doi: 'doi/0'}) SET p.abstract = $text + 'The very end.'"
    await db.call(query, {"text": text}, "write")
    async with connect(endpoint, faulty, max_partition_tokens=10**8) as engine:
        await engine.add_graph("papers", mapping)
        answer = await engine.execute("What is at the end?")
        prompts = engine.sweep_llm.prompts
        assert answer.coverage.exhausted
        assert not answer.partial
        assert 2 * megabytes < len([p for p in prompts if p.task == "sweep"]) < 4 * megabytes
        assert any("The very end." in p.user for p in prompts)
        assert all(len(p.system) + len(p.user) <= 500_000 for p in prompts)
