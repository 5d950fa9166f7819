"""Graph Data Science through gds/: projections, communities, exact means, and cleanup."""

import asyncio

import numpy as np
import pytest

from pgs_neo4j.database.gds import (
    Owner,
    Seeds,
    client,
    compute_centroids,
    detect_communities,
    drop_leftovers,
    list_leftovers,
    project_view,
    refuse_if_too_large,
)
from pgs_neo4j.database.gds.projections import make_name
from pgs_neo4j.errors import DatabaseTimeoutError, GDSError, GDSMemoryError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.scan import read_ids
from tests.database import alter, fetch

TRIANGLES = """
UNWIND range(0, 5) AS i CREATE (:Thing {i: i})
WITH count(*) AS _
UNWIND [[0,1],[1,2],[2,0],[3,4],[4,5],[5,3],[2,3]] AS pair
MATCH (a:Thing {i: pair[0]}), (b:Thing {i: pair[1]})
CREATE (a)-[:TIES {weight: CASE WHEN pair = [2,3] THEN 0.1 ELSE 1.0 END}]->(b)
"""
ALGORITHMS = ("leiden-louvain", "leiden", "louvain")
MAPPING = GraphMapping(labels=("Thing",), relationship_weight="weight")
# Ten blocks of 30, each node tied to a few of its own and a few of all.
BLOCKS = """
UNWIND range(0, 299) AS i CREATE (:Thing {i: i})
WITH count(*) AS _
MATCH (a:Thing)
UNWIND [1, 2, 3, 7, 11, 17, 101, 173] AS step
WITH a, step, CASE WHEN step < 30 THEN a.i / 30 * 30 + (a.i + step) % 30
                   ELSE (a.i * step + 5) % 300 END AS other
MATCH (b:Thing {i: other}) WHERE a <> b
CREATE (a)-[:TIES {weight: 1.0 + (a.i + step) % 3}]->(b)
"""


async def communities(gds, algorithm="leiden-louvain", mapping=MAPPING, **how):
    ids, _ = await read_ids(gds.db, mapping)
    async with project_view(gds, mapping, ids, **how) as projection:
        return await detect_communities(gds, projection, algorithm, seed=1, concurrency=1)


async def labels_of(db, found):
    """The communities of the nodes by their ``i``; freed ids come back in any order."""
    rows = await fetch(db, "MATCH (n:Thing) RETURN id(n) AS id ORDER BY n.i")
    label = dict(zip(found.ids.tolist(), found.labels.tolist(), strict=True))
    return [label[row["id"]] for row in rows]


@pytest.mark.thorough
async def test_both_ways_of_projecting_give_the_same_communities(db, gds):
    await alter(db, BLOCKS)
    for algorithm in ALGORITHMS:
        ours = await communities(gds, algorithm)
        direct = await communities(gds, algorithm, direct=True)
        assert (np.diff(ours.ids) > 0).all()
        assert ours.ids.tolist() == direct.ids.tolist(), algorithm
        assert ours.labels.tolist() == direct.labels.tolist(), algorithm
        assert ours.modularity == pytest.approx(direct.modularity), algorithm
        plain = [await communities(gds, algorithm, uniform=True, direct=d) for d in (False, True)]
        assert plain[0].labels.tolist() == plain[1].labels.tolist(), algorithm


@pytest.mark.parametrize(
    ("mapping", "spoiled"),
    [
        (GraphMapping(labels=("Thing", "Absent"), relationship_weight="weight"), ""),
        (GraphMapping(relationship_types=("TIES", "ABSENT"), relationship_weight="weight"), ""),
        (GraphMapping(labels=("Absent",)), "CREATE (:Absent)"),
        (MAPPING, "MATCH ()-[r:TIES]->() WITH r LIMIT 1 SET r.weight = 'heavy'"),
        (GraphMapping(relationship_weight="weight"), "CREATE ()"),
    ],
)
async def test_what_gds_cannot_read_by_itself_is_read_for_it(db, gds, mapping, spoiled):
    await alter(db, TRIANGLES)
    if spoiled:
        await alter(db, spoiled)
    ids, _ = await read_ids(db, mapping)
    found = await communities(gds, mapping=mapping, direct=True)
    assert found.ids.tolist() == ids.tolist()
    assert await list_leftovers(gds) == []


async def test_seeds_are_where_louvain_begins(db, gds):
    await alter(db, BLOCKS)
    cold = await communities(gds, direct=True)
    seeds = (cold.labels * 7 + 3).tolist()
    await alter(
        db,
        "UNWIND range(0, size($ids) - 1) AS i MERGE (p:PgsPartition:Seeds {id: $seeds[i]}) "
        "WITH p, i MATCH (n) WHERE id(n) = $ids[i] CREATE (n)-[:PGS_IN]->(p)",
        ids=cold.ids.tolist(),
        seeds=seeds,
    )
    count = len(set(seeds))
    warm = await communities(gds, direct=True, seeds=Seeds("Seeds", count))
    known = np.isin(warm.ids, cold.ids)
    assert known.sum() == len(cold.ids) == len(warm.ids) - count
    pairs = set(zip(cold.labels.tolist(), warm.labels[known].tolist(), strict=True))
    assert len(pairs) == count
    assert warm.modularity == pytest.approx(cold.modularity, abs=1e-6)


async def test_odd_relationships_are_no_trouble(db, gds):
    await alter(db, TRIANGLES)
    await alter(
        db,
        "MATCH (a:Thing {i: 0}), (b:Thing {i: 1}) CREATE (a)-[:TIES {weight: -4}]->(b), "
        "(a)-[:TIES {weight: 0.0/0.0}]->(b), (a)-[:TIES {weight: 'heavy'}]->(b), "
        "(a)-[:TIES {weight: 1.0/0.0}]->(b), (a)-[:TIES]->(b), (a)-[:TIES {weight: 2}]->(a), "
        "(a)-[:OTHER]->(:Alien), (a)-[:PGS_IN]->(:PgsPartition)",
    )
    found = await communities(gds)
    assert len(found.ids) == 6
    assert len(set(found.labels)) == 2
    await alter(db, "MATCH ({i: 2})-[r]->({i: 3}) SET r.weight = 1e308")
    labels = await labels_of(db, await communities(gds))
    assert labels[2] == labels[3], "one extreme weight among others binds most"


@pytest.mark.parametrize(
    ("weight", "modularity"),
    # Extreme weights are clipped, as if all weighed 1.
    [("1e308", 5 / 14), ("5e-324", 5 / 14), ("r.weight", 6 / 6.1 - 0.5)],
)
async def test_two_triangles_are_two_communities(db, gds, weight, modularity):
    await alter(db, TRIANGLES)
    await alter(db, f"MATCH ()-[r:TIES]->() SET r.weight = {weight}")
    for algorithm in ALGORITHMS:
        found = await communities(gds, algorithm)
        assert found.modularity == pytest.approx(modularity), algorithm
        labels = await labels_of(db, found)
        assert len(set(labels[:3])) == len(set(labels[3:])) == 1, algorithm
        assert labels[0] != labels[3], algorithm
    assert await list_leftovers(gds) == []


async def test_an_empty_label_list_is_everything_but_ours(db, gds):
    await alter(db, "CREATE (:A)-[:R]->(:B), (), (:PgsGraph {name: 'x'}), (:PgsMeta)")
    found = await communities(gds, mapping=GraphMapping())
    assert len(found.ids) == 3


async def test_centroids_are_exact_means_of_usable_vectors(db, gds):
    await alter(
        db,
        "CREATE (g:PgsGeneration {id: 'g1'}) WITH g UNWIND [1, 2] AS part "
        "CREATE (p:PgsPartition {id: part, uid: 'g1:' + part})-[:PGS_PART_OF]->(g) "
        "WITH p UNWIND [[1.0, 2.0], [3.0, 5.0]] AS v "
        "CREATE (:Thing {v: [x IN v | x * p.id], w: v[0]})-[:PGS_IN]->(p)",
    )
    await alter(
        db,
        "MATCH (p:PgsPartition {id: 1}) CREATE (:Thing {v: [9.0, 9.0, 9.0]})-[:PGS_IN]->(p), "
        "(:Thing {v: 'text'})-[:PGS_IN]->(p), (:Thing)-[:PGS_IN]->(p), "
        "(:Thing {v: [0.0/0.0, 1.0]})-[:PGS_IN]->(p), (:Thing {v: [2, 2]})-[:PGS_IN]->(p)",
    )
    found = await compute_centroids(gds, "g1", "v", 2)
    np.testing.assert_allclose(found[1], [2.0, 3.0], rtol=1e-6)
    np.testing.assert_allclose(found[2], [4.0, 7.0], rtol=1e-6)
    weighted = await compute_centroids(gds, "g1", "v", 2, weight="w")
    np.testing.assert_allclose(weighted[2], [20 / 34, 1.0], rtol=1e-6)  # its direction
    some = await compute_centroids(gds, "g1", "v", 2, partition_ids=[2])
    assert {part: mean.dtype for part, mean in some.items()} == {2: np.float32}
    for vector, usable in (
        ("[0.0/0.0, 1.0]", False),
        ("[1.0]", False),
        ("'text'", False),
        ("null", False),
        ("[1e29, -2e29]", True),
    ):
        await alter(db, f"MATCH (n:Thing) SET n.v = {vector}, n.w = 1e308")
        found = await compute_centroids(gds, "g1", "v", 2, weight="w")
        assert set(found) == ({1, 2} if usable else set())
        assert all(mean == pytest.approx([0.5, -1.0]) for mean in found.values())
    assert await list_leftovers(gds) == []


async def test_a_projection_is_dropped_when_a_procedure_in_it_fails(db, gds):
    await alter(db, TRIANGLES)
    ids, _ = await read_ids(db, MAPPING)
    with pytest.raises(GDSError, match="Graph Data Science failed"):
        async with project_view(gds, MAPPING, ids) as graph:
            assert len(await list_leftovers(gds)) == 1
            await detect_communities(gds, graph, "leiden", seed=1, concurrency=10_000)
    assert await list_leftovers(gds) == []


@pytest.mark.parametrize("fault", [ValueError, KeyError, IndexError, TypeError])
async def test_what_the_client_cannot_read_is_told_without_the_statement(db, fault):
    def work():
        raise fault("MATCH (n) RETURN n.secret")

    with pytest.raises(GDSError, match="client cannot read") as caught:
        await client.run_supervised(db, work)
    assert fault.__name__ in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_only_projections_of_earlier_jobs_on_the_same_graph_are_dropped(db, gds):
    await alter(db, "CREATE (:Thing)")
    names = {fence: make_name(gds.owned_by(Owner("papers", fence))) for fence in (3, 4, 5)}
    other = make_name(gds.owned_by(Owner("books", 1)))
    for name in (*names.values(), other, "pgs_of_somebody", "theirs"):
        query = "MATCH (n:Thing) RETURN gds.graph.project($name, n, null) AS graph"
        await fetch(db, query, name=name)
    assert sorted(await list_leftovers(gds)) == sorted([*names.values(), other])
    assert sorted(await list_leftovers(gds, graph="papers")) == sorted(names.values())
    assert await list_leftovers(gds, 3600.0) == []
    assert sorted(await drop_leftovers(gds, Owner("papers", 5))) == sorted([names[3], names[4]])
    assert await drop_leftovers(gds, Owner("papers", 6)) == [names[5]]
    rows = await fetch(db, "CALL gds.graph.list() YIELD graphName AS name")
    assert {row["name"] for row in rows} == {other, "pgs_of_somebody", "theirs"}


async def test_a_statement_of_an_earlier_job_is_ended_by_the_next_one(db, gds):
    slow = "UNWIND range(1, 1000000000) AS i WITH i WHERE i % 7 = 8 RETURN count(i) AS found"

    def work():
        return client.current_call().run(slow, {}, "read")

    late = asyncio.create_task(client.run_supervised(db, work, Owner("papers", 1)))
    shown = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.pgs_graph = 'papers' RETURN metaData"
    while not await fetch(db, shown):
        await asyncio.sleep(0.02)
    await drop_leftovers(gds, Owner("books", 9))
    await drop_leftovers(gds, Owner("papers", 1))
    assert not late.done()
    await drop_leftovers(gds, Owner("papers", 2))
    with pytest.raises(DatabaseTimeoutError):
        await late


async def test_a_graph_that_does_not_fit_is_refused_with_the_figures(gds):
    with pytest.raises(GDSMemoryError, match=r"needs up to [\d,]+ MiB, but .* heap is [\d,]+ MiB"):
        await refuse_if_too_large(gds, 10**10, 10**11, "leiden-louvain")
    await refuse_if_too_large(gds, 1000, 5000, "leiden-louvain")
