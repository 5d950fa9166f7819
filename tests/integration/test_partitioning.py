"""Phase 0 on a real Neo4j + GDS: limits, reuse, atomic flips, and odd graphs."""

import asyncio
from collections import Counter

import numpy as np
import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database import queries
from pgs_neo4j.database.gds import Owner, seed_label
from pgs_neo4j.database.gds.projections import make_name
from pgs_neo4j.database.lease import LONGEST_S
from pgs_neo4j.documents.loading.brain import read_brain
from pgs_neo4j.documents.loading.load import load
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.purge import purge
from pgs_neo4j.errors import BusyError, DatabaseError, EmptyGraphError, GDSError, LeaseLostError
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning import build, generation, writing
from pgs_neo4j.pgs.partitioning.ensure import ensure_partitions
from pgs_neo4j.pgs.partitioning.order import PartitionOrder, PartitionTools
from pgs_neo4j.search.space import Space, choose
from pgs_neo4j.text.tokens import estimate
from tests.database import alter, fetch
from tests.graphs import checksum, count, papers
from tests.leftovers import expire, nothing_left, only

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
    rows = await fetch(
        db,
        "MATCH (n)-[m:PGS_IN]->(p:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $id}) "
        "RETURN coalesce(n.doi, elementId(n)) AS node, p.id AS part, m.rank AS rank",
        id=generation_id,
    )
    found = {row["node"]: (row["part"], row["rank"]) for row in rows}
    assert len(found) == len(rows), "a node is in two partitions"
    return found


async def test_topics_become_partitions_that_cover_every_node_once_with_exact_figures(db, ensure):
    mapping = await papers(db, isolates=3)
    embedder = HashingEmbedder()
    result = await ensure(mapping, space=choose("hashing", embedder, mapping))
    made = result.generation
    assert (made.origin, made.grown, result.drift) == ("cold", 0.0, None)
    assert (made.sizes, made.partition_count) == ((40, 40, 40, 40, 3), 5)
    assert (made.node_count, made.relationship_count, made.pooled_nodes) == (163, 483, 3)
    assert made.largest_fraction == pytest.approx(40 / 163)
    assert made.issues == {"isolated_nodes": 3, "nodes_without_weight": 3}
    found = await members(db, made.id)
    assert len(found) == 163
    assert [part.pool for part in result.partitions] == [False] * 4 + [True]
    for part in result.partitions:
        ranks = sorted(rank for p, rank in found.values() if p == part.id)
        assert ranks == list(range(part.size))

    first = result.partitions[0]
    heaviest = next(doi for doi, place in found.items() if place == (first.id, 0))
    assert int(heaviest.removeprefix("doi/")) % 40 == 0
    assert f"fact{heaviest.removeprefix('doi/')}" in first.summary
    assert {"ammonia", "memory", "debris", "medieval"} & set(first.keywords)

    links = {(p.id, a.id): (a.edges, a.weight) for p in result.partitions for a in p.adjacent}
    assert len(links) == 6
    assert all(link == (1, pytest.approx(0.1)) for link in links.values())
    assert all((b, a) in links for a, b in links)
    degrees = [240.1, 240.2, 240.2, 240.1]  # of 480.3 relationships, with those to neighbors
    expected = 480 / 480.3 - sum((degree / 960.6) ** 2 for degree in degrees)
    assert (made.modularity, made.raw_modularity) == pytest.approx((expected, expected))
    cut = [(degree - 240) / degree for degree in degrees]
    assert made.conductance == pytest.approx(np.mean([*cut, 0.0]))  # nothing leaves the pool
    assert [part.lineage for part in result.partitions] == [p.uid for p in result.partitions]
    rows = await fetch(db, "MATCH (n:Paper)-[:PGS_IN]->(p) RETURN p.id, n.abstract")
    tokens = Counter[int]()
    for row in rows:
        tokens[row["p.id"]] += estimate(row["n.abstract"])
    assert {part.id: part.tokens for part in result.partitions} == tokens

    question = (await embedder.embed(["medieval trade routes"]))[0]
    cosines = [p.centroid @ question / np.linalg.norm(p.centroid) for p in result.partitions]
    assert "medieval" in result.partitions[int(np.argmax(cosines))].keywords
    assert made.dimensions == len(question)


@pytest.mark.thorough
async def test_other_knobs_make_another_generation(db, ensure):
    mapping = await papers(db)
    first = await ensure(mapping)
    assert not first.reused
    again = await ensure(mapping, force=True)
    assert again.generation.id != first.generation.id
    homes = [await members(db, made.generation.id) for made in (first, again)]
    assert homes[0] == homes[1]  # the same seed gives the same partitions
    other = await ensure(mapping, config=PGSConfig(min_community_size=10, target_partition_max=25))
    assert not other.reused
    assert max(other.generation.sizes) <= 25
    assert other.generation.node_count == first.generation.node_count
    same = PGSConfig(min_community_size=10, target_partition_max=25, max_sweep_partitions=2)
    assert (await ensure(mapping, config=same)).reused


async def test_partitions_that_stay_in_pieces_are_told(db, ensure):
    # Leaves around a hub that has no room for them: nothing else connects them.
    await alter(
        db,
        "CREATE (h:Doc {text: 'hub'}) WITH h UNWIND range(1, 200) AS i "
        "CREATE (:Doc {text: 'leaf ' + i})-[:AT]->(h)",
    )
    made = (await ensure(GraphMapping(labels=("Doc",), text=("text",)))).generation
    assert made.pooled_nodes == 0
    assert made.partition_count > 1
    assert made.issues == {"partitions_in_pieces": made.partition_count - 1}
    again = await ensure(GraphMapping(labels=("Doc",), text=("text",)), config=CONFIG, force=False)
    assert again.generation.issues == made.issues
    await alter(db, "MATCH (d:Doc {text: 'leaf 7'}) SET d.text = 'leaf seven'")
    refreshed = (await ensure(GraphMapping(labels=("Doc",), text=("text",)))).generation
    assert refreshed.origin == "refreshed"
    assert refreshed.issues == made.issues


async def test_text_too_long_for_a_sweep_splits_a_partition(db, ensure):
    mapping = await papers(db, topics=1, size=40)
    await alter(
        db, "MATCH (p:Paper) SET p.abstract = reduce(t = '', i IN range(1, 100) | t + ' word' + i)"
    )
    config = PGSConfig(min_community_size=2, target_partition_max=100, max_partition_tokens=2000)
    result = await ensure(mapping, config=config)
    assert result.generation.partition_count > 1
    assert all(p.tokens <= 2000 for p in result.partitions)


async def test_stored_vectors_of_mixed_sizes_are_counted_and_the_common_size_is_used(db, ensure):
    mapping = await papers(db)
    await alter(
        db,
        "MATCH (p:Paper) SET p.v = CASE WHEN p.score > 38 THEN [1.0, 2.0, 3.0] "
        "WHEN p.score > 2 THEN [1.0, toFloat(p.topic)] END",
    )
    mapping = GraphMapping(labels=("Paper",), text=("abstract",), embedding="v")
    result = await ensure(mapping, space=choose("stored", None, mapping))
    assert result.generation.dimensions == 2
    assert result.generation.issues["embeddings_of_other_size"] == 8
    assert result.generation.issues["nodes_without_embedding"] == 8
    assert all(p.centroid is not None and p.centroid[0] == 1.0 for p in result.partitions)
    space = choose("stored", None, mapping)
    assert (await ensure(mapping, space=space)).reused
    await alter(db, "MATCH (p:Paper {doi: 'doi/9'}) SET p.v = [0.0, 1.0]")
    changed = await ensure(mapping, space=space)
    assert changed.generation.origin == "refreshed"
    assert [part.centroid is None for part in changed.partitions] == [False] * 4


async def test_odd_values_are_no_trouble_and_an_empty_view_is_refused(db, ensure):
    with pytest.raises(EmptyGraphError, match="pgs inspect"):
        await ensure(GraphMapping(labels=("Nothing",)), graph="nothing")
    mapping = await papers(db, topics=0)
    await alter(
        db,
        "UNWIND range(1, 15) AS i CREATE (:Paper {score: 0.0/0.0, abstract: ['1', 'true']})"
        "-[:CITES {strength: 1e308}]->(:Paper {score: -3, abstract: date()})",
    )
    made = (await ensure(mapping)).generation
    assert made.issues["huge_relationship_weights"] == 15
    assert sum(made.sizes) == 30 == len(await members(db, made.id))


@pytest.mark.parametrize(
    ("error", "module", "name"),
    [
        (DatabaseError("the disk is full"), writing.enrich, "describe"),  # type: ignore[attr-defined]
        (asyncio.CancelledError(), writing.enrich, "describe"),  # type: ignore[attr-defined]
        (GDSError("no"), build, "detect_communities"),
    ],
)
async def test_a_failure_leaves_the_current_generation_and_nothing_else(
    db, gds, ensure, monkeypatch, error, module, name
):
    mapping = await papers(db)
    first = await ensure(mapping)

    async def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(module, name, fail)
    with pytest.raises(type(error)):
        await ensure(mapping, force=True)
    monkeypatch.undo()
    assert (await generation.read_current(db, "papers")).id == first.generation.id
    await only(db, 1)
    await nothing_left(db, gds)
    assert (await ensure(mapping)).reused


async def test_the_flip_decides_whether_a_canceled_or_abandoned_generation_is_current(
    db, ensure, monkeypatch
):
    mapping = await papers(db)
    first = await ensure(mapping)
    flip = generation.make_current

    async def given_up(database, graph, name, stored):
        await generation.abandon(database, name)
        await flip(database, graph, name, stored)

    async def flip_and_stop(*args):
        await flip(*args)
        raise asyncio.CancelledError

    monkeypatch.setattr(generation, "make_current", given_up)
    with pytest.raises(LeaseLostError, match="was abandoned"):
        await ensure(mapping, force=True)
    assert (await generation.read_current(db, "papers")).id == first.generation.id
    monkeypatch.setattr(generation, "make_current", flip_and_stop)
    with pytest.raises(asyncio.CancelledError):
        await ensure(mapping, force=True)
    monkeypatch.undo()
    current = await generation.read_current(db, "papers")
    assert current.id != first.generation.id
    assert (await ensure(mapping)).reused


@pytest.mark.thorough
async def test_old_generations_go_by_number_and_stay_when_a_session_needs_them(db, ensure):
    mapping = await papers(db)
    config = PGSConfig(min_community_size=10, target_partition_max=60, keep_generations=2)
    ids = [(await ensure(mapping, config=config, force=True)).generation.id for _ in range(3)]
    kept = (await db.read(queries.get("pgs/partitioning/read_generations"), graph="papers"))[0][
        "ids"
    ]
    assert set(kept) == set(ids[1:])
    await alter(
        db,
        "MATCH (p:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $id}) "
        "CREATE (:PgsSweep)-[:PGS_READ]->(p)",
        id=ids[1],
    )
    for _ in range(3):
        await ensure(mapping, config=config, force=True)
    kept = (await db.read(queries.get("pgs/partitioning/read_generations"), graph="papers"))[0][
        "ids"
    ]
    assert ids[1] in kept
    assert len(kept) == 3
    await alter(db, "MATCH (w:PgsSweep) DETACH DELETE w")
    again = await ensure(mapping, config.model_copy(update={"keep_generations": 1}))
    assert again.reused  # an unchanged graph keeps no more than it is to
    assert await count(db, "(x:PgsGeneration)") == 1
    assert await count(db, "()-[x:PGS_IN]->()") == 160


async def test_a_dead_job_leaves_neither_seeds_nor_projections(db, gds, ensure):
    mapping = await papers(db, topics=2)
    first = await ensure(mapping)
    (dead,) = await db.write(
        queries.get("database/merge_leases"),
        graph="papers",
        holder="dead",
        seconds=30.0,
        longest=LONGEST_S,
    )
    projecting = "MATCH (n:Paper) RETURN gds.graph.project($name, n, null) AS graph"
    name = make_name(gds.owned_by(Owner("papers", dead["fence"])))
    await fetch(db, projecting, name=name)
    label = seed_label("papers")
    marking = queries.get("pgs/partitioning/set_seeds")
    await db.write(marking, generation=first.generation.id, label=label)
    with pytest.raises(BusyError):  # alive as far as anybody can tell
        await ensure(mapping)
    await expire(db)
    assert (await ensure(mapping)).reused
    await nothing_left(db, gds)


@pytest.mark.schema
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
    assert await db.read(queries.get("engine/purge/read_constraints")) == []
    assert (await purge(db)).nodes == 0


@pytest.mark.thorough
async def test_removing_a_graph_keeps_the_others(db, ensure):
    mapping = await papers(db)
    await ensure(mapping, graph="one")
    await ensure(mapping, graph="two")
    await catalog.remove(db, "one")
    assert [g.name for g in await catalog.graphs(db)] == ["two"]
    assert await count(db, "(x:PgsGeneration)") == 1
    assert (await ensure(mapping, graph="two")).reused


@pytest.mark.thorough
async def test_a_brain_is_partitioned_within_the_issues_bounds(db, ensure, brain):
    mapping = (await load(db, read_brain(brain.path), "physics")).mapping
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
