"""A GDS call that is cancelled or too slow ends at the server too, alone, and leaves nothing."""

import asyncio
import gc
import threading
import time
from urllib.parse import urlparse

import pytest

from pgs_neo4j.database import connection as db_module
from pgs_neo4j.database.gds import (
    client,
    detect_communities,
    list_leftovers,
    open_gds,
    project_view,
)
from pgs_neo4j.errors import DatabaseTimeoutError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.scan import read_ids
from tests.database import alter, drop_projections, empty, fetch
from tests.fakes.tcp_proxy import proxy
from tests.thorough import tries

NODES = 24_000
MOMENTS = 10  # of a projection, at which it is cancelled
RING = """
UNWIND range(1, $nodes) AS i CREATE (n:Thing)
WITH collect(n) AS nodes UNWIND range(0, $nodes - 1) AS i UNWIND [1, 3, 7, 11, 13] AS step
WITH nodes[i] AS a, nodes[(i + step) % $nodes] AS b CREATE (a)-[:TIES]->(b)
"""
MAPPING = GraphMapping(labels=("Thing",))


@pytest.fixture(scope="module")
async def ring(endpoint):
    """A graph that takes most of a second to project: five relationships per node."""
    async with db_module.connect(endpoint.uri, endpoint.user, endpoint.password) as opened:
        await empty(opened)
        await alter(opened, RING, nodes=NODES)
        yield opened


@pytest.fixture
async def db(ring):
    """The ring, which no test here changes, without a projection."""
    await drop_projections(ring)
    return ring


async def project(gds):
    ids, _ = await read_ids(gds.db, MAPPING)
    async with project_view(gds, MAPPING, ids) as projection:
        return projection.graph.name()


async def louvain(gds):
    ids, _ = await read_ids(gds.db, MAPPING)
    async with project_view(gds, MAPPING, ids) as projection:
        return await detect_communities(gds, projection, "louvain", seed=1, concurrency=1)


async def transactions(db):
    query = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.pgs_call IS NOT NULL RETURN metaData"
    rows = await fetch(db, query)
    return len(rows)


async def some_projections(gds, wanted):
    async with asyncio.timeout(60):
        while len(found := await list_leftovers(gds)) < wanted:
            await asyncio.sleep(0.02)
    return found


@pytest.mark.thorough
async def test_no_moment_of_a_projection_leaks_it_when_cancelled(db, gds, monkeypatch):
    unheard = []
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(loop, "call_exception_handler", unheard.append)
    await project(gds)  # the first one takes longer
    begin = time.perf_counter()
    await project(gds)
    whole = time.perf_counter() - begin
    cancelled = 0
    async with asyncio.timeout(120):
        for i in range(MOMENTS):
            begin, task = time.perf_counter(), asyncio.create_task(project(gds))
            await asyncio.wait({task}, timeout=whole * i / MOMENTS)
            if task.done():  # the machine was busier when it was measured
                whole = time.perf_counter() - begin
            task.cancel()
            if i % 2:  # the caller may be impatient
                await asyncio.sleep(0.01)
                task.cancel()
            await asyncio.wait({task})
            cancelled += task.cancelled()
            # A transaction that still runs could register its projection later.
            assert await transactions(db) == 0, f"cancelled after {i} of {MOMENTS} parts"
            assert await list_leftovers(gds) == [], f"cancelled after {i} of {MOMENTS} parts"
    assert cancelled >= 2  # the first moment, and one more on a machine of any speed
    gc.collect()
    await asyncio.sleep(0)
    assert unheard == []


@pytest.mark.thorough
async def test_a_server_that_hears_late_of_a_cancellation_keeps_nothing(endpoint, db, gds):
    address = urlparse(endpoint.uri)
    async with (
        proxy(address.hostname, address.port or 7687) as running,
        db_module.connect(
            f"bolt://127.0.0.1:{running.listening}", endpoint.user, endpoint.password
        ) as opened,
    ):
        running.closing_s = 5.0
        task = asyncio.create_task(project(await open_gds(opened)))
        async with asyncio.timeout(60):
            while not await transactions(db):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            while await transactions(db):
                await asyncio.sleep(0.02)
        assert task.cancelled()
        assert await list_leftovers(gds) == []


@pytest.mark.parametrize("timeout_s", [0.05, 0.1, 0.2][: tries(1, 3)])
async def test_a_projection_that_takes_too_long_is_not_left_behind(db, gds, monkeypatch, timeout_s):
    monkeypatch.setattr(client, "TIMEOUT_S", timeout_s)
    with pytest.raises(DatabaseTimeoutError):
        await louvain(gds)
    assert await transactions(db) == 0
    assert await list_leftovers(gds) == []


@pytest.mark.thorough
async def test_canceling_one_job_leaves_the_other_alone(db, gds):
    jobs = [asyncio.create_task(louvain(gds)) for _ in range(2)]
    await some_projections(gds, 2)
    jobs[0].cancel()
    ended = await asyncio.gather(*jobs, return_exceptions=True)
    assert isinstance(ended[0], asyncio.CancelledError)
    assert len(ended[1].ids) == NODES
    assert await list_leftovers(gds) == []


async def test_a_cancelled_call_sends_nothing_more_and_its_thread_leaves(db, gds):
    between, go, left = threading.Event(), threading.Event(), threading.Event()

    def work():
        try:
            client.current_call().run("CREATE (:First)", {}, "write")
            between.set()
            go.wait(30)
            client.current_call().run("CREATE (:Second)", {}, "write")
        finally:
            left.set()

    task = asyncio.create_task(client.run_supervised(db, work))
    assert await asyncio.to_thread(between.wait, 30)
    task.cancel()
    asyncio.get_running_loop().call_later(0.1, go.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left.is_set()
    rows = await fetch(db, "MATCH (n:First|Second) RETURN labels(n) AS labels")
    assert rows == [{"labels": ["First"]}]
