"""Graph Data Science through our door: projections, communities, exact means, and cleaning up."""

import numpy as np
import pytest

from pgs_neo4j import gds as gds_module
from pgs_neo4j import gds_calls
from pgs_neo4j.errors import (
    EmptyGraphError,
    GDSError,
    GDSMemoryError,
    GDSMissingError,
    QueryError,
)
from pgs_neo4j.model import GraphMapping

TRIANGLES = """
UNWIND range(0, 5) AS i CREATE (:Thing {i: i})
WITH count(*) AS _
UNWIND [[0,1],[1,2],[2,0],[3,4],[4,5],[5,3],[2,3]] AS pair
MATCH (a:Thing {i: pair[0]}), (b:Thing {i: pair[1]})
CREATE (a)-[:TIES {weight: CASE WHEN pair = [2,3] THEN 0.1 ELSE 1.0 END}]->(b)
"""
MAPPING = GraphMapping(labels=("Thing",), relationship_weight="weight")


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
