"""Graph Data Science through our door: projections, communities, exact means, and cleaning up."""

import asyncio
import gc
import threading
import time

import numpy as np
import pytest

from pgs_neo4j import gds as gds_module
from pgs_neo4j import gds_calls
from pgs_neo4j.errors import (
    DatabaseTimeoutError,
    EmptyGraphError,
    GDSError,
    GDSMemoryError,
    GDSMissingError,
    QueryError,
)
from pgs_neo4j.model import GraphMapping

RING = """
MATCH (n:Thing) WITH collect(n) AS all UNWIND range(0, 59999) AS i UNWIND [1, 3, 7, 11, 13] AS step
WITH all[i] AS a, all[(i + step) % 60000] AS b CREATE (a)-[:TIES]->(b)
"""
TRIANGLES = """
UNWIND range(0, 5) AS i CREATE (:Thing {i: i})
WITH count(*) AS _
UNWIND [[0,1],[1,2],[2,0],[3,4],[4,5],[5,3],[2,3]] AS pair
MATCH (a:Thing {i: pair[0]}), (b:Thing {i: pair[1]})
CREATE (a)-[:TIES {weight: CASE WHEN pair = [2,3] THEN 0.1 ELSE 1.0 END}]->(b)
"""
MAPPING = GraphMapping(labels=("Thing",), relationship_weight="weight")


async def ring(db):
    """60,000 nodes and 300,000 relationships, which take most of a second to project."""
    await db.call("UNWIND range(1, 60000) AS i CREATE (:Thing)", {}, "write")
    await db.call(RING, {}, "write")


async def project(gds):
    async with gds.project_view(MAPPING, uniform=False, concurrency=1) as graph:
        return graph.name()


async def some_projections(gds, wanted):
    async with asyncio.timeout(60):
        while len(found := await gds.leftovers()) < wanted:
            await asyncio.sleep(0.02)
    return found


async def communities(gds, algorithm="leiden-louvain", mapping=MAPPING):
    async with gds.project_view(mapping, uniform=False, concurrency=1) as graph:
        return await gds.detect(graph, algorithm, seed=1, concurrency=1)


@pytest.mark.parametrize("algorithm", ["leiden-louvain", "leiden", "louvain"])
async def test_two_triangles_are_two_communities(db, gds, algorithm):
    await db.call(TRIANGLES, {}, "write")
    found = await communities(gds, algorithm)
    assert len(found.ids) == 6
    assert (np.diff(found.ids) > 0).all()
    assert len(set(found.labels[:3])) == len(set(found.labels[3:])) == 1
    assert found.labels[0] != found.labels[3]
    assert found.modularity > 0.4
    assert await gds.leftovers() == []


async def test_the_same_seed_gives_the_same_communities(db, gds):
    await db.call(TRIANGLES, {}, "write")
    results = [(await communities(gds)).labels.tolist() for _ in range(3)]
    assert results[0] == results[1] == results[2]


async def test_odd_relationships_are_no_trouble(db, gds):
    await db.call(TRIANGLES, {}, "write")
    await db.call(
        "MATCH (a:Thing {i: 0}), (b:Thing {i: 1}) CREATE (a)-[:TIES {weight: -4}]->(b), "
        "(a)-[:TIES {weight: 0.0/0.0}]->(b), (a)-[:TIES {weight: 'heavy'}]->(b), "
        "(a)-[:TIES {weight: 1.0/0.0}]->(b), (a)-[:TIES]->(b), (a)-[:TIES {weight: 2}]->(a), "
        "(a)-[:OTHER]->(:Alien), (a)-[:PGS_IN]->(:PgsPartition)",
        {},
        "write",
    )
    found = await communities(gds)
    assert len(found.ids) == 6
    assert len(set(found.labels)) == 2


@pytest.mark.parametrize("algorithm", ["leiden-louvain", "leiden", "louvain"])
@pytest.mark.parametrize("weight", [1e308, 1e200, 1e-300, 5e-324])
async def test_extreme_weights_are_clipped(db, gds, algorithm, weight):
    await db.call(TRIANGLES, {}, "write")
    await db.call("MATCH ()-[r:TIES]->() SET r.weight = $w", {"w": weight}, "write")
    found = await communities(gds, algorithm)
    assert found.modularity == pytest.approx(5 / 14)  # as when all weigh 1
    assert len(set(found.labels[:3])) == len(set(found.labels[3:])) == 1
    assert found.labels[0] != found.labels[3]


async def test_one_extreme_weight_among_others_binds_most(db, gds):
    await db.call(TRIANGLES, {}, "write")
    heavy = "MATCH ({i: 2})-[r]->({i: 3}) SET r.weight = 1e308"
    await db.call(heavy, {}, "write")
    found = await communities(gds)
    assert found.labels[2] == found.labels[3]


async def test_a_view_without_nodes_is_an_empty_graph(gds):
    with pytest.raises(EmptyGraphError, match="no node left"):
        await communities(gds)


async def test_an_empty_label_list_is_everything_but_ours(db, gds):
    await db.call("CREATE (:A)-[:R]->(:B), (), (:PgsGraph {name: 'x'}), (:PgsMeta)", {}, "write")
    found = await communities(gds, mapping=GraphMapping())
    assert len(found.ids) == 3


async def test_isolated_nodes_take_part(db, gds):
    await db.call("UNWIND range(1, 4) AS i CREATE (:Thing)", {}, "write")
    found = await communities(gds)
    assert len(set(found.labels)) == 4


async def test_centroids_are_exact_means_of_usable_vectors(db, gds):
    await db.call(
        "CREATE (g:PgsGeneration {id: 'g1'}) WITH g UNWIND [1, 2] AS part "
        "CREATE (p:PgsPartition {id: part, uid: 'g1:' + part})-[:PGS_PART_OF]->(g) "
        "WITH p UNWIND [[1.0, 2.0], [3.0, 5.0]] AS v "
        "CREATE (:Thing {v: [x IN v | x * p.id], w: v[0]})-[:PGS_IN]->(p)",
        {},
        "write",
    )
    await db.call(
        "MATCH (p:PgsPartition {id: 1}) CREATE (:Thing {v: [9.0, 9.0, 9.0]})-[:PGS_IN]->(p), "
        "(:Thing {v: 'text'})-[:PGS_IN]->(p), (:Thing)-[:PGS_IN]->(p), "
        "(:Thing {v: [0.0/0.0, 1.0]})-[:PGS_IN]->(p), (:Thing {v: [2, 2]})-[:PGS_IN]->(p)",
        {},
        "write",
    )
    found = await gds.centroids("g1", "v", 2)
    np.testing.assert_allclose(found[1], [2.0, 3.0], rtol=1e-6)
    np.testing.assert_allclose(found[2], [4.0, 7.0], rtol=1e-6)
    weighted = await gds.centroids("g1", "v", 2, weight="w")
    direction = weighted[2] / np.linalg.norm(weighted[2])
    expected = np.array([1 * 2 + 3 * 6, 1 * 4 + 3 * 10.0])
    np.testing.assert_allclose(direction, expected / np.linalg.norm(expected), rtol=1e-6)
    assert await gds.leftovers() == []


@pytest.mark.parametrize("vector", ["[0.0/0.0, 1.0]", "[1.0]", "'text'", "null"])
async def test_without_a_usable_vector_there_are_no_centroids(db, gds, vector):
    await db.call(
        "CREATE (g:PgsGeneration {id: 'g1'})<-[:PGS_PART_OF]-(p:PgsPartition {id: 1, uid: 'g1:1'}) "
        f"WITH p UNWIND [1, 2] AS _ CREATE (:Thing {{v: {vector}}})-[:PGS_IN]->(p)",
        {},
        "write",
    )
    assert await gds.centroids("g1", "v", 2) == {}
    assert await gds.leftovers() == []


async def test_extreme_vectors_and_weights_have_a_finite_centroid(db, gds):
    await db.call(
        "CREATE (g:PgsGeneration {id: 'g1'})<-[:PGS_PART_OF]-(p:PgsPartition {id: 1, uid: 'g1:1'}) "
        "WITH p UNWIND [1e29, 3e29] AS x CREATE (:Thing {v: [x, -2 * x], w: 1e308})-[:PGS_IN]->(p)",
        {},
        "write",
    )
    found = await gds.centroids("g1", "v", 2, weight="w")
    np.testing.assert_allclose(found[1], [0.5, -1.0], rtol=1e-6)


async def test_a_projection_is_dropped_when_the_work_in_it_fails(db, gds):
    await db.call(TRIANGLES, {}, "write")
    with pytest.raises(RuntimeError, match="midway"):
        async with gds.project_view(MAPPING, uniform=False, concurrency=1):
            assert len(await gds.leftovers()) == 1
            raise RuntimeError("midway")
    assert await gds.leftovers() == []


async def test_cancelling_ends_the_work_and_drops_the_projection(db, gds):
    await ring(db)
    task = asyncio.create_task(communities(gds, "louvain"))
    await some_projections(gds, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gds.leftovers() == []


async def test_no_moment_of_a_projection_leaks_it_when_cancelled(db, gds, monkeypatch):
    await ring(db)
    unheard = []
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(loop, "call_exception_handler", unheard.append)
    begin = time.perf_counter()
    await project(gds)
    whole = time.perf_counter() - begin
    cancelled = 0
    async with asyncio.timeout(120):
        for i in range(20):
            task = asyncio.create_task(project(gds))
            await asyncio.sleep(whole * i / 20)
            task.cancel()
            if i % 2:  # whoever cancels may be impatient
                await asyncio.sleep(0.01)
                task.cancel()
            await asyncio.wait({task})
            cancelled += task.cancelled()
            assert await gds.leftovers() == [], f"cancelled after {i} of 20 parts"
    assert cancelled >= 10
    gc.collect()
    await asyncio.sleep(0)
    assert unheard == []


@pytest.mark.parametrize("timeout_s", [0.05, 0.2, 0.35, 0.5])
async def test_a_projection_that_takes_too_long_is_not_left_behind(db, gds, monkeypatch, timeout_s):
    await ring(db)
    monkeypatch.setattr(gds_calls, "TIMEOUT_S", timeout_s)
    with pytest.raises(DatabaseTimeoutError):
        await communities(gds, "louvain")
    assert await gds.leftovers() == []


async def test_cancelling_one_job_leaves_the_other_alone(db, gds):
    await ring(db)
    jobs = [asyncio.create_task(communities(gds, "louvain")) for _ in range(2)]
    await some_projections(gds, 2)
    jobs[0].cancel()
    ended = await asyncio.gather(*jobs, return_exceptions=True)
    assert isinstance(ended[0], asyncio.CancelledError)
    assert len(ended[1].ids) == 60_000
    assert await gds.leftovers() == []


async def test_a_cancelled_call_sends_nothing_more_and_its_thread_leaves(db, gds):
    between, go, left = threading.Event(), threading.Event(), threading.Event()

    def work():
        try:
            gds_calls.current().run("CREATE (:First)", {}, "write")
            between.set()
            go.wait(30)
            gds_calls.current().run("CREATE (:Second)", {}, "write")
        finally:
            left.set()

    task = asyncio.create_task(gds_calls.supervised(db, work))
    assert await asyncio.to_thread(between.wait, 30)
    task.cancel()
    asyncio.get_running_loop().call_later(0.1, go.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left.is_set()
    _, rows = await db.call("MATCH (n) RETURN labels(n) AS labels", {}, "read")
    assert rows == [{"labels": ["First"]}]


async def test_cleaning_up_goes_to_its_end_before_a_cancellation_does():
    steps = []

    async def clean():
        for step in range(3):
            await asyncio.sleep(0.01)
            steps.append(step)

    task = asyncio.create_task(gds_calls.to_the_end(clean()))
    for _ in range(2):
        await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == [0, 1, 2]


@pytest.mark.parametrize("fault", [ValueError, KeyError, IndexError, TypeError])
async def test_what_the_client_cannot_read_is_told_without_the_statement(db, fault):
    def work():
        raise fault("MATCH (n) RETURN n.secret")

    with pytest.raises(GDSError, match="client cannot use") as caught:
        await gds_calls.supervised(db, work)
    assert fault.__name__ in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_only_old_projections_of_ours_are_dropped_as_leftovers(db, gds):
    ours = "pgs_0123456789abcdef"
    await db.call("CREATE (:Thing)", {}, "write")
    for name in (ours, "pgs_of_somebody", "theirs"):
        query = "MATCH (n:Thing) RETURN gds.graph.project($name, n, null) AS graph"
        await db.call(query, {"name": name}, "read")
    assert await gds.drop_leftovers(3600.0) == []
    assert await gds.leftovers() == [ours]
    assert await gds.drop_leftovers(0.0) == [ours]
    _, rows = await db.call("CALL gds.graph.list() YIELD graphName AS name", {}, "read")
    assert {row["name"] for row in rows} == {"pgs_of_somebody", "theirs"}


async def test_a_failing_procedure_is_a_gds_error(db, gds):
    await db.call("CREATE (:Thing)", {}, "write")
    async with gds.project_view(MAPPING, uniform=False, concurrency=1) as graph:
        with pytest.raises(GDSError, match="Graph Data Science failed"):
            await gds.detect(graph, "leiden", seed=1, concurrency=10_000)


async def test_a_graph_that_does_not_fit_is_refused_with_the_figures(gds):
    with pytest.raises(GDSMemoryError, match=r"needs up to [\d,]+ MiB .* heap is [\d,]+ MiB"):
        await gds.refuse_if_too_large(10**10, 10**11, "leiden-louvain")
    await gds.refuse_if_too_large(1000, 5000, "leiden-louvain")


async def test_a_server_without_gds_is_told_how_to_get_it(db, monkeypatch):
    async def refuse(query, **params):
        raise QueryError("Unknown function 'gds.version'")

    monkeypatch.setattr(type(db), "read", lambda self, query, **p: refuse(query, **p))
    with pytest.raises(GDSMissingError, match="install the graph-data-science plugin"):
        await gds_module.open_gds(db)
