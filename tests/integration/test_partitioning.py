"""Phase 0 on a real Neo4j + GDS: limits, reuse, atomic flips, and odd graphs."""

import asyncio
import gzip
import json

import numpy as np
import pytest

from pgs_neo4j import catalog
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import queries
from pgs_neo4j.errors import DatabaseError, EmptyGraphError, GDSError, LeaseLostError
from pgs_neo4j.events import ignore
from pgs_neo4j.gds import list_leftovers
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.partitioning import build, generation, membership, writing
from pgs_neo4j.partitioning.ensure import ensure_partitions
from pgs_neo4j.partitioning.order import PartitionOrder, PartitionTools
from pgs_neo4j.purge import purge
from pgs_neo4j.retrieval.space import Space, choose
from tests.graphs import checksum, count, papers

CONFIG = PGSConfig(min_community_size=10, target_partition_max=60)


@pytest.fixture
def ensure(db, gds):
    async def run(mapping, config=CONFIG, space=None, graph="papers", **options):
        await catalog.add(db, graph, mapping)
        order = PartitionOrder(graph=graph, mapping=mapping, config=config, **options)

        async def opened():
            return gds

        tools = PartitionTools(
            db=db, open_gds=opened, space=space or Space("none"), on_event=ignore
        )
        return await ensure_partitions(order, tools)

    return run


async def members(db, generation_id):
    """doi to (partition, rank) of a generation."""
    _, rows = await db.call(
        "MATCH (n)-[m:PGS_IN]->(p:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $id}) "
        "RETURN coalesce(n.doi, elementId(n)) AS node, p.id AS part, m.rank AS rank",
        {"id": generation_id},
        "read",
    )
    found = {row["node"]: (row["part"], row["rank"]) for row in rows}
    assert len(found) == len(rows), "a node is in two partitions"
    return found


async def test_topics_become_partitions_that_cover_every_node_once(db, ensure):
    mapping = await papers(db, topics=4, size=40, isolates=3)
    result = await ensure(mapping)
    current = result.generation
    assert current.sizes == (40, 40, 40, 40, 3)
    assert current.node_count == 163
    assert current.partition_count == 5
    assert current.pooled_nodes == 3
    assert current.largest_fraction == pytest.approx(40 / 163)
    assert current.modularity > 0.7
    assert current.issues == {"isolated_nodes": 3, "nodes_without_weight": 3}
    found = await members(db, current.id)
    assert len(found) == 163
    assert [p.pool for p in result.partitions] == [False] * 4 + [True]
    for part in result.partitions:
        ranks = sorted(rank for p, rank in found.values() if p == part.id)
        assert ranks == list(range(part.size))


async def test_the_heaviest_node_has_rank_0_and_opens_the_summary(db, ensure):
    mapping = await papers(db)
    result = await ensure(mapping)
    found = await members(db, result.generation.id)
    first = result.partitions[0]
    heaviest = next(doi for doi, place in found.items() if place == (first.id, 0))
    assert int(heaviest.removeprefix("doi/")) % 40 == 0
    assert f"fact{heaviest.removeprefix('doi/')}" in first.summary
    assert {"ammonia", "memory", "debris", "medieval"} & set(first.keywords)


async def test_adjacent_partitions_share_the_bridges(db, ensure):
    mapping = await papers(db)
    result = await ensure(mapping)
    links = {(p.id, a.id): (a.edges, a.weight) for p in result.partitions for a in p.adjacent}
    assert len(links) == 6
    assert all(link == (1, pytest.approx(0.1)) for link in links.values())
    assert all((b, a) in links for a, b in links)


async def test_a_generation_is_reused_until_something_changes(db, ensure):
    mapping = await papers(db)
    first = await ensure(mapping)
    assert not first.reused
    again = await ensure(mapping)
    assert again.reused
    assert again.generation.id == first.generation.id
    assert (await ensure(mapping, force=True)).generation.id != first.generation.id


@pytest.mark.parametrize(
    "change",
    [
        "MATCH (p:Paper {doi: 'doi/7'}) SET p.abstract = 'Something else altogether.'",
        "MATCH (p:Paper {doi: 'doi/7'}) SET p.abstract = replace(p.abstract, 'fact7', 'tcaf7')",
        "MATCH (p:Paper {doi: 'doi/7'}) SET p.score = 99.5",
        "MATCH (p:Paper {doi: 'doi/7'}) DETACH DELETE p",
        "CREATE (:Paper {abstract: 'new'})",
        "MATCH (:Paper {doi: 'doi/7'})-[r:CITES]->() WITH r LIMIT 1 SET r.strength = 3.0",
        "MATCH (:Paper {doi: 'doi/7'})-[r:CITES]->() WITH r LIMIT 1 DELETE r",
        "MATCH (a:Paper {doi: 'doi/7'})-[r:CITES]->(b) WITH a, r, b LIMIT 1 DELETE r "
        "CREATE (b)-[:CITES {strength: 1.0}]->(a)",
    ],
)
async def test_every_kind_of_change_is_noticed(db, ensure, change):
    mapping = await papers(db)
    first = await ensure(mapping)
    await db.call(change, {}, "write")
    second = await ensure(mapping)
    assert not second.reused
    assert second.generation.id != first.generation.id


async def test_what_is_outside_the_view_changes_nothing(db, ensure):
    mapping = await papers(db)
    await ensure(mapping)
    await db.call(
        "MATCH (p:Paper {doi: 'doi/7'}) SET p.unmapped = 1 CREATE (:Author)-[:WROTE]->(p)",
        {},
        "write",
    )
    assert (await ensure(mapping)).reused


async def test_other_knobs_make_another_generation(db, ensure):
    mapping = await papers(db)
    first = await ensure(mapping)
    other = await ensure(mapping, config=PGSConfig(min_community_size=10, target_partition_max=25))
    assert not other.reused
    assert max(other.generation.sizes) <= 25
    assert other.generation.node_count == first.generation.node_count
    same = PGSConfig(min_community_size=10, target_partition_max=25, max_sweep_partitions=2)
    assert (await ensure(mapping, config=same)).reused


async def test_the_same_seed_gives_the_same_partitions(db, ensure):
    mapping = await papers(db, topics=6, size=20)
    first = await members(db, (await ensure(mapping)).generation.id)
    second = await members(db, (await ensure(mapping, force=True)).generation.id)
    assert first == second


async def test_text_too_long_for_a_sweep_splits_a_partition(db, ensure):
    mapping = await papers(db, topics=1, size=40)
    await db.call(
        "MATCH (p:Paper) SET p.abstract = reduce(t = '', i IN range(1, 100) | t + ' word' + i)",
        {},
        "write",
    )
    config = PGSConfig(min_community_size=2, target_partition_max=100, max_partition_tokens=2000)
    result = await ensure(mapping, config=config)
    assert result.generation.partition_count > 1
    assert all(p.tokens <= 2000 for p in result.partitions)


async def test_hashed_centroids_are_means_and_tell_topics_apart(db, ensure):
    mapping = await papers(db)
    embedder = HashingEmbedder()
    result = await ensure(mapping, space=choose("hashing", embedder, mapping))
    question = (await embedder.embed(["medieval trade routes"]))[0]
    cosines = [p.centroid @ question / np.linalg.norm(p.centroid) for p in result.partitions]
    assert "medieval" in result.partitions[int(np.argmax(cosines))].keywords
    assert result.generation.dimensions == len(question)


async def test_stored_vectors_of_mixed_sizes_are_counted_and_the_common_size_is_used(db, ensure):
    mapping = await papers(db)
    await db.call(
        "MATCH (p:Paper) SET p.v = CASE WHEN p.score > 38 THEN [1.0, 2.0, 3.0] "
        "WHEN p.score > 2 THEN [1.0, toFloat(p.topic)] END",
        {},
        "write",
    )
    mapping = GraphMapping(labels=("Paper",), text=("abstract",), embedding="v")
    result = await ensure(mapping, space=choose("stored", None, mapping))
    assert result.generation.dimensions == 2
    assert result.generation.issues["embeddings_of_other_size"] == 8
    assert result.generation.issues["nodes_without_embedding"] == 8
    assert all(p.centroid is not None and p.centroid[0] == 1.0 for p in result.partitions)


@pytest.mark.parametrize(
    ("create", "sizes"),
    [
        ("CREATE (:Paper)", (1,)),
        ("UNWIND range(1, 25) AS i CREATE (:Paper)", (25,)),
        ("UNWIND range(1, 150) AS i CREATE (:Paper)", (50, 50, 50)),
        ("CREATE (a:Paper)-[:CITES]->(a)", (1,)),
        ("CREATE (a:Paper)-[:CITES]->(b:Paper) CREATE (a)-[:CITES]->(b)", (2,)),
        (
            "UNWIND range(1, 15) AS i CREATE (:Paper)-[:CITES {strength: 0.0}]->(:Paper)",
            None,
        ),
        (
            "UNWIND range(1, 15) AS i CREATE (:Paper {score: 0.0/0.0, abstract: [1, 'x', true]})"
            "-[:CITES {strength: -1.0}]->(:Paper {score: -3, abstract: date()})",
            None,
        ),
    ],
)
async def test_odd_graphs_are_partitioned_within_limits(db, ensure, create, sizes):
    mapping = await papers(db, topics=0)
    await db.call(create.replace("[1, 'x', true]", "['1', 'x', 'true']"), {}, "write")
    result = await ensure(mapping)
    total = await count(db, "(x:Paper)")
    assert sum(result.generation.sizes) == total == len(await members(db, result.generation.id))
    assert max(result.generation.sizes) <= 60
    if sizes is not None:
        assert result.generation.sizes == sizes


async def test_an_empty_view_is_refused_with_what_to_do(db, ensure):
    with pytest.raises(EmptyGraphError, match="pgs inspect"):
        await ensure(GraphMapping(labels=("Nothing",)))


async def test_hostile_labels_and_properties_are_only_names(db, ensure):
    label, prop = "La`bel') DETACH DELETE n //", "te`xt'}) MATCH (x) DELETE x //"
    await db.call(
        "UNWIND range(1, 12) AS i CREATE (n:$($label)) SET n[$prop] = 'wise words ' + i "
        "WITH collect(n) AS nodes UNWIND range(0, 10) AS i "
        "WITH nodes[i] AS a, nodes[i + 1] AS b CREATE (a)-[:$($label)]->(b)",
        {"label": label, "prop": prop},
        "write",
    )
    mapping = GraphMapping(
        labels=(label,), relationship_types=(label,), text=(prop,), weight=prop, embedding=prop
    )
    result = await ensure(mapping)
    assert result.generation.node_count == 12
    assert result.generation.relationship_count == 11
    assert "wise" in result.partitions[0].keywords


async def test_a_failure_leaves_the_current_generation_and_nothing_else(
    db, gds, ensure, monkeypatch
):
    mapping = await papers(db)
    first = await ensure(mapping)

    async def fail(*args, **kwargs):
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(writing.enrich, "describe", fail)  # type: ignore[attr-defined]
    with pytest.raises(DatabaseError, match="disk is full"):
        await ensure(mapping, force=True)
    monkeypatch.undo()
    assert (await generation.read_current(db, "papers")).id == first.generation.id
    assert await count(db, "(x:PgsGeneration)") == 1
    assert await count(db, "(x:PgsPartition)") == 4
    assert await list_leftovers(gds) == []
    assert (await ensure(mapping)).reused


async def test_a_failing_gds_leaves_no_projection(db, gds, ensure, monkeypatch):
    mapping = await papers(db)

    async def fail(*args, **kwargs):
        raise GDSError("no")

    monkeypatch.setattr(build, "detect_communities", fail)
    with pytest.raises(GDSError):
        await ensure(mapping)
    assert await list_leftovers(gds) == []
    assert await count(db, "(x:PgsGeneration)") == 0


async def test_canceling_leaves_nothing(db, gds, ensure, monkeypatch):
    mapping = await papers(db)
    reached = asyncio.Event()

    async def hang(*args, **kwargs):
        reached.set()
        await asyncio.sleep(60)

    monkeypatch.setattr(writing.enrich, "describe", hang)  # type: ignore[attr-defined]
    task = asyncio.create_task(ensure(mapping))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await count(db, "(x:PgsGeneration|PgsPartition)") == 0
    assert await count(db, "()-[x:PGS_IN]->()") == 0
    assert await list_leftovers(gds) == []


async def test_canceling_after_the_flip_keeps_the_new_generation(db, ensure, monkeypatch):
    mapping = await papers(db)
    first = await ensure(mapping)
    flip = generation.make_current

    async def flip_and_stop(*args):
        await flip(*args)
        raise asyncio.CancelledError

    monkeypatch.setattr(generation, "make_current", flip_and_stop)
    with pytest.raises(asyncio.CancelledError):
        await ensure(mapping, force=True)
    monkeypatch.undo()
    current = await generation.read_current(db, "papers")
    assert current is not None
    assert current.id != first.generation.id
    assert (await ensure(mapping)).reused


async def test_a_generation_given_up_during_its_build_is_not_made_current(db, ensure, monkeypatch):
    mapping = await papers(db)
    first = await ensure(mapping)
    flip = generation.make_current

    async def given_up(database, graph, name, stored):
        await generation.abandon(database, name)
        await flip(database, graph, name, stored)

    monkeypatch.setattr(generation, "make_current", given_up)
    with pytest.raises(LeaseLostError, match="was abandoned"):
        await ensure(mapping, force=True)
    assert (await generation.read_current(db, "papers")).id == first.generation.id


async def test_new_vectors_of_the_same_length_are_noticed(db, ensure):
    mapping = await papers(db)
    await db.call("MATCH (p:Paper) SET p.v = [1.0, 0.0, 0.5]", {}, "write")
    mapping = GraphMapping(labels=("Paper",), text=("abstract",), embedding="v")
    space = choose("stored", None, mapping)
    assert not (await ensure(mapping, space=space)).reused
    assert (await ensure(mapping, space=space)).reused
    await db.call("MATCH (p:Paper {doi: 'doi/9'}) SET p.v = [0.0, 1.0, 0.5]", {}, "write")
    assert not (await ensure(mapping, space=space)).reused


async def test_huge_weights_are_clipped_and_counted(db, ensure):
    mapping = await papers(db, topics=2)
    await db.call(
        "MATCH (:Paper {doi: 'doi/7'})-[r:CITES]->() WITH r LIMIT 1 SET r.strength = 1e308",
        {},
        "write",
    )
    result = await ensure(mapping)
    assert result.generation.issues["huge_relationship_weights"] == 1
    assert result.generation.node_count == 80


async def test_nodes_deleted_during_the_scan_are_noticed_and_the_scan_is_repeated(
    db, ensure, monkeypatch
):
    mapping = await papers(db)
    write = membership.write_members
    deleted = []

    async def delete_first(*args, **kwargs):
        if not deleted:
            deleted.append(1)
            await db.call("MATCH (p:Paper {doi: 'doi/7'}) DETACH DELETE p", {}, "write")
        return await write(*args, **kwargs)

    monkeypatch.setattr(membership, "write_members", delete_first)
    result = await ensure(mapping)
    assert result.generation.node_count == 159
    assert len(await members(db, result.generation.id)) == 159
    assert await count(db, "(x:PgsGeneration)") == 1


async def test_a_graph_that_keeps_changing_gives_up_in_one_sentence(db, ensure, monkeypatch):
    mapping = await papers(db)

    async def none(*args, **kwargs):
        return 0

    monkeypatch.setattr(membership, "write_members", none)
    with pytest.raises(DatabaseError, match="changed while it was partitioned"):
        await ensure(mapping)
    assert await count(db, "(x:PgsGeneration|PgsPartition)") == 0


async def test_old_generations_go_by_number_and_stay_when_a_session_needs_them(db, ensure):
    mapping = await papers(db)
    config = PGSConfig(min_community_size=10, target_partition_max=60, keep_generations=2)
    ids = [(await ensure(mapping, config=config, force=True)).generation.id for _ in range(3)]
    kept = (await db.read(queries.get("partitioning/read_generations"), graph="papers"))[0]["ids"]
    assert set(kept) == set(ids[1:])
    await db.call(
        "MATCH (p:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $id}) "
        "CREATE (:PgsSweep)-[:PGS_READ]->(p)",
        {"id": ids[1]},
        "write",
    )
    for _ in range(3):
        await ensure(mapping, config=config, force=True)
    kept = (await db.read(queries.get("partitioning/read_generations"), graph="papers"))[0]["ids"]
    assert ids[1] in kept
    assert len(kept) == 3


async def test_purge_leaves_the_users_graph_as_it_was(db, ensure):
    mapping = await papers(db, isolates=2)
    before = await checksum(db)
    await ensure(mapping)
    assert await checksum(db) == before
    assert await count(db, "()-[x:PGS_IN]->()") == 162
    purged = await purge(db)
    assert purged.relationships > 162
    assert await checksum(db) == before
    assert await count(db, "(x:PgsGraph|PgsGeneration|PgsPartition|PgsMeta)") == 0
    assert await db.read(queries.get("purge/read_constraints")) == []
    assert (await purge(db)).nodes == 0


async def test_removing_a_graph_keeps_the_others(db, ensure):
    mapping = await papers(db)
    await ensure(mapping, graph="one")
    await ensure(mapping, graph="two")
    await catalog.remove(db, "one")
    assert [g.name for g in await catalog.graphs(db)] == ["two"]
    assert await count(db, "(x:PgsGeneration)") == 1
    assert (await ensure(mapping, graph="two")).reused


async def test_a_brain_is_partitioned_within_the_issues_bounds(db, ensure, brain):
    with gzip.open(brain.path, "rt", encoding="utf-8") as file:
        document = json.load(file)
    await db.call(
        "UNWIND $rows AS row CREATE (n:Concept) SET n += row", {"rows": document["nodes"]}, "write"
    )
    await db.call("CREATE INDEX concept_id FOR (n:Concept) ON (n.id)", {}, "write")
    await db.call("CALL db.awaitIndexes()", {}, "read")
    await db.call(
        "UNWIND $rows AS row MATCH (a:Concept {id: row.source}), (b:Concept {id: row.target}) "
        "CREATE (a)-[:LINK {weight: row.weight}]->(b)",
        {"rows": document["edges"]},
        "write",
    )
    mapping = GraphMapping(
        labels=("Concept",),
        text=("concept",),
        key="id",
        weight="weight",
        relationship_weight="weight",
        embedding="embedding",
    )
    config = PGSConfig()
    result = await ensure(mapping, config=config, space=choose("stored", None, mapping))
    current = result.generation
    assert current.node_count == brain.nodes
    assert current.relationship_count == brain.relationships
    assert current.largest_fraction <= 0.35
    assert current.modularity >= 0.38
    pools = [p for p in result.partitions if p.pool]
    assert len(pools) == 1
    assert pools[0].size == current.pooled_nodes == current.issues["isolated_nodes"]
    assert all(p.size >= 30 for p in result.partitions if not p.pool)
    again = await ensure(mapping, config=config, space=choose("stored", None, mapping), force=True)
    assert again.generation.sizes == current.sizes


async def test_an_unchanged_graph_keeps_no_more_than_it_is_to(db, ensure):
    mapping = await papers(db)
    for _ in range(3):
        await ensure(mapping, force=True)
    assert await count(db, "(x:PgsGeneration)") == 3
    again = await ensure(mapping, CONFIG.model_copy(update={"keep_generations": 1}))
    assert again.reused
    assert await count(db, "(x:PgsGeneration)") == 1
    assert await count(db, "()-[x:PGS_IN]->()") == 160
