"""Generations that grow from the one before share the partitions that did not change."""

import json
from dataclasses import replace

import pytest

from pgs_neo4j.documents.loading.brain import parse_brain
from pgs_neo4j.documents.loading.load import load
from pgs_neo4j.errors import LeaseLostError
from pgs_neo4j.pgs.partitioning import generation, writing
from tests.database import alter
from tests.engines import KNOBS, engine_on
from tests.graphs import checksum, count, home, papers
from tests.leftovers import expire, whole

LINK = (
    "MATCH (a:Paper {doi: 'doi/' + $from}) MATCH (b:Paper {doi: 'doi/' + $to}) "
    "CREATE (a)-[:CITES {strength: 1.0}]->(b)"
)
JOIN = (
    "MATCH (a:Paper {doi: 'doi/' + $to}) "
    "CREATE (:Paper {doi: 'new/' + $to, abstract: 'New at ' + $to})-[:CITES {strength: 1.0}]->(a)"
)


async def begun(engine, db, **shape):
    """The papers, partitioned."""
    await engine.graphs.add("papers", await papers(db, **shape))
    return await engine.partitions.build("papers")


async def links(db, made):
    """Which partitions of a generation are adjacent, as the database has it."""
    parts = await generation.read_partitions(db, made.generation.id)
    return {(p.id, near.id): near.edges for p in parts for near in p.adjacent}


async def test_only_the_partition_that_grew_is_written(engine, db):
    first = await begun(engine, db)
    assert (await engine.execute("Begin", graph="papers")).coverage.exhausted
    await alter(db, JOIN, to=90)
    before = await checksum(db)
    second = await engine.partitions.build("papers")
    assert second.generation.origin == "seeded"
    grown = await home(db, "new/90")
    assert grown == await home(db, "doi/90")
    was, now = (
        {p.id: (p.uid, p.lineage) for p in made.partitions if p.id != grown}
        for made in (first, second)
    )
    assert was == now
    assert len(now) == 3
    old, new = (made.partitions[grown - 1] for made in (first, second))
    assert (old.uid != new.uid, old.lineage == new.lineage) == (True, True)
    assert (old.size, new.size) == (40, 41)
    assert await count(db, "()-[x:PGS_IN]->()") == 160 + 41
    assert await checksum(db) == before
    assert (await engine.sessions.coverage("default", "papers")).nodes_read == 160
    prompts = len(engine.sweep_llm.prompts)
    assert (await engine.execute("Continue", graph="papers", mode="continue")).coverage.exhausted
    (swept,) = [p for p in engine.sweep_llm.prompts[prompts:] if p.task == "sweep"]
    assert "New at 90" in swept.user
    assert "fact90." not in swept.user


async def test_how_partitions_are_bound_belongs_to_a_generation(engine, db):
    first = await begun(engine, db)
    before = await links(db, first)
    for place in (3, 11):
        await alter(db, LINK, **{"from": place, "to": 120 + place})
    second = await engine.partitions.build("papers")
    assert second.generation.origin == "seeded"
    assert [p.uid for p in second.partitions] == [p.uid for p in first.partitions]
    ends = await home(db, "doi/3"), await home(db, "doi/123")
    after = await links(db, second)
    assert after.pop(ends) == after.pop(ends[::-1]) == 2
    assert after == before == await links(db, first)
    assert await count(db, "()-[x:PGS_IN]->()") == 160
    assert second.generation.modularity < first.generation.modularity


@pytest.mark.thorough
async def test_old_generations_go_and_leave_what_is_shared(engine, db):
    await begun(engine, db, isolates=40)
    for turn in range(4):
        await alter(db, LINK, **{"from": turn, "to": 40 + turn})
        await alter(db, JOIN, to=80 + turn)
        made = await engine.partitions.build("papers", keep_generations=1)
        assert made.generation.origin == "seeded"
        assert (made.generation.pools, made.generation.pooled_nodes) == (1, 40)
    assert await count(db, "(x:PgsGeneration)") == 1
    assert await count(db, "(x:PgsPartition {level: 0})") == made.generation.partition_count == 5
    assert await count(db, "()-[x:PGS_IN]->()") == 204
    assert await count(db, "()-[x:PGS_ADJACENT]->()") == len(await links(db, made)) > 0
    assert sorted(made.generation.sizes, reverse=True) == [44, 40, 40, 40, 40]
    drift = await engine.partitions.check("papers")
    assert not drift.changed


@pytest.mark.parametrize("shared", [True, False])
async def test_a_node_that_vanishes_from_a_shared_partition_is_noticed(
    engine, db, monkeypatch, shared
):
    await begun(engine, db)
    await alter(db, JOIN, to=90)
    gone = "doi/7" if shared else "doi/91"
    write = writing.write
    calls = []

    async def late(*args):
        if not calls:
            await alter(db, "MATCH (p:Paper {doi: $doi}) DETACH DELETE p", doi=gone)
        calls.append(1)
        return await write(*args)

    monkeypatch.setattr(writing, "write", late)
    made = await engine.partitions.build("papers")
    assert len(calls) == 2
    assert made.generation.node_count == 160
    assert sum((await whole(db)).sizes) == 160
    assert not (await engine.partitions.check("papers")).changed


async def test_a_member_that_is_attached_no_more_is_a_change(engine, db):
    """As when a node is deleted and made again, the same, under the same internal id."""
    await begun(engine, db)
    await alter(db, "MATCH (:Paper {doi: 'doi/7'})-[m:PGS_IN]->() DELETE m")
    drift = await engine.partitions.check("papers")
    assert (drift.nodes_added, drift.nodes_removed) == (1, 1)
    made = await engine.partitions.build("papers")
    assert not made.reused
    assert sum((await whole(db)).sizes) == 160
    assert not (await engine.partitions.check("papers")).changed


@pytest.mark.thorough
async def test_what_a_failed_or_killed_job_shared_stays_and_the_rest_of_it_goes(
    engine, db, monkeypatch
):
    first = await begun(engine, db)
    before = await links(db, first)
    assert (await engine.execute("Begin", graph="papers")).coverage.exhausted
    await alter(db, JOIN, to=90)

    async def killed(*args, **kwargs):
        raise RuntimeError("killed")

    monkeypatch.setattr(generation, "make_current", killed)
    with pytest.raises(RuntimeError, match="killed"):
        await engine.partitions.build("papers")
    assert await count(db, "(x:PgsGeneration)") == 1
    assert await count(db, "()-[x:PGS_IN]->()") == 160
    assert await links(db, first) == before
    assert await count(db, "()-[x:PGS_ADJACENT]->()") == len(before)
    monkeypatch.setattr(writing.generation, "abandon", killed)  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match="killed"):
        await engine.partitions.build("papers")
    monkeypatch.undo()
    assert await count(db, "(x:PgsGeneration {status: 'building'})") == 1
    await expire(db)
    made = await engine.partitions.build("papers", force=True)
    assert made.generation.origin == "cold"
    assert await count(db, "(x:PgsGeneration)") == 2
    assert await count(db, "(x:PgsPartition {level: 0})") == 8
    assert await count(db, "()-[x:PGS_IN]->()") == 160 + 161
    assert (await engine.sessions.coverage("default", "papers")).nodes_read == 160


async def test_from_nothing_nothing_is_shared_and_who_comes_late_changes_nothing(engine, db):
    first = await begun(engine, db)
    await alter(db, LINK, **{"from": 3, "to": 123})
    second = await engine.partitions.build("papers", force=True)
    assert not {p.uid for p in first.partitions} & {p.uid for p in second.partitions}
    assert await count(db, "()-[x:PGS_IN]->()") == 320
    before = await links(db, second)
    parts = [part.uid for part in second.partitions]
    for name in (first.generation.id, "gone"):
        with pytest.raises(LeaseLostError):
            await generation.write_adjacents(db, "papers", name, [(parts[0], parts[2], 1, 1.0)])
    await generation.make_current(db, "papers", first.generation.id, {"modularity": -1.0})
    assert await links(db, second) == before
    current = await engine.partitions.generation("papers")
    assert current.id == second.generation.id
    assert await count(db, "(x:PgsGeneration {modularity: -1.0})") == 0


@pytest.mark.thorough
async def test_vectors_of_another_length_are_taken_everywhere(endpoint, db):
    mapping = replace(await papers(db), embedding="vector")
    fill = (
        "MATCH (p:Paper) WHERE p.topic IN $topics "
        "SET p.vector = [i IN range(1, $size) | 1.0 * i + p.topic]"
    )
    async with engine_on(endpoint, **KNOBS | {"embedder": "stored"}) as engine:
        await engine.graphs.add("papers", mapping)
        await alter(db, fill, topics=[0, 1, 2, 3], size=4)
        await engine.partitions.build("papers")
        await alter(db, fill, topics=[0, 1, 2], size=6)
        made = await engine.partitions.build("papers")
        assert made.generation.origin == "refreshed"
        assert made.generation.dimensions == 6
        lengths = sorted(0 if p.centroid is None else len(p.centroid) for p in made.partitions)
        assert lengths == [0, 6, 6, 6]
        await alter(db, fill, topics=[3], size=6)
        made = await engine.partitions.build("papers")
        assert [len(p.centroid) for p in made.partitions] == [6, 6, 6, 6]


async def test_a_view_that_gds_cannot_seed_grows_all_the_same(engine, db):
    await engine.graphs.add("papers", await papers(db))
    loop = "MATCH (p:Paper {doi: 'doi/2'}) CREATE (p)-[:CITES {strength: 1.0}]->(p)"
    await alter(db, loop)
    first = await engine.partitions.build("papers")
    assert first.generation.issues["self_loops"] == 1
    await alter(db, JOIN, to=90)
    second = await engine.partitions.build("papers")
    assert second.generation.origin == "seeded"
    same = {p.uid for p in first.partitions} & {p.uid for p in second.partitions}
    assert len(same) == 3


@pytest.mark.thorough
async def test_what_grew_and_grew_begins_from_nothing_in_the_end(engine, db):
    await begun(engine, db)
    origins, grown = [], []
    for turn in range(4):
        await alter(
            db,
            "UNWIND range(0, 11) AS i MATCH (a:Paper {doi: 'doi/' + (i + 12 * $turn)}) "
            "CREATE (:Paper {abstract: 'More.'})-[:CITES {strength: 1.0}]->(a)",
            turn=turn,
        )
        made = await engine.partitions.build("papers")
        origins.append(made.generation.origin)
        grown.append(round(made.generation.grown, 3))
        assert made.drift.grown + made.drift.fraction <= 0.2 or origins[-1] == "cold"
    assert origins == ["seeded", "seeded", "seeded", "cold"]
    assert 0 < grown[0] < grown[1] < grown[2] <= 0.2
    assert grown[3] == 0.0


@pytest.mark.thorough
async def test_what_is_loaded_again_is_a_change(engine, db):
    """Loading goes through our own connection, and is still the user's data."""

    def chain(count):
        nodes = [{"id": i, "concept": f"idea {i}"} for i in range(count)]
        edges = [{"source": i, "target": i + 1, "weight": 1.0} for i in range(count - 1)]
        return parse_brain(json.dumps({"nodes": nodes, "edges": edges}).encode())

    loaded = await load(engine.db, chain(40), "chain")
    await engine.graphs.add("chain", loaded.mapping)
    first = await engine.partitions.build("chain")
    assert first.generation.node_count == 40
    await load(engine.db, chain(40), "chain")
    assert not (await engine.partitions.check("chain")).changed
    await load(engine.db, chain(45), "chain")
    drift = await engine.partitions.check("chain")
    assert (drift.committed, drift.nodes_added) == (True, 5)
    assert (await engine.partitions.build("chain")).generation.node_count == 45
