"""Generations that grow from the one before share the partitions that did not change."""

import pytest

from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.pgs import generation
from tests.graphs import checksum, count, papers

KNOBS = {"min_community_size": 10, "target_partition_max": 60, "embedder": "none"}
LINK = (
    "MATCH (a:Paper {doi: 'doi/' + $from}) MATCH (b:Paper {doi: 'doi/' + $to}) "
    "CREATE (a)-[:CITES {strength: 1.0}]->(b)"
)
JOIN = (
    "MATCH (a:Paper {doi: 'doi/' + $to}) "
    "CREATE (:Paper {doi: 'new/' + $to, abstract: 'New at ' + $to})-[:CITES {strength: 1.0}]->(a)"
)


@pytest.fixture
async def engine(endpoint, db):
    """An engine on the emptied database; the user's own connection is ``db``."""
    async with PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        sweep_llm=ScriptedLLM(contract_reply),
        synthesis_llm=ScriptedLLM(contract_reply),
        **KNOBS,
    ) as opened:
        yield opened


async def begun(engine, db, **shape):
    """The papers, partitioned."""
    await engine.add_graph("papers", await papers(db, **shape))
    return await engine.partition("papers")


async def links(db, made):
    """Which partitions of a generation are adjacent, as the database has it."""
    parts = await generation.read_partitions(db, made.generation.id)
    return {(p.id, near.id): near.edges for p in parts for near in p.adjacent}


async def holding(db, doi):
    """Id of the current partition of a paper."""
    _, rows = await db.call(
        "MATCH (:PgsGraph)-[:PGS_CURRENT]->()<-[:PGS_PART_OF]-(p)<-[:PGS_IN]-(:Paper {doi: $doi}) "
        "RETURN p.id AS id",
        {"doi": doi},
        "read",
    )
    return rows[0]["id"]


async def test_only_the_partition_that_grew_is_written(engine, db):
    first = await begun(engine, db)
    assert (await engine.execute("Begin", graph="papers")).coverage.exhausted
    await db.call(JOIN, {"to": 90}, "write")
    before = await checksum(db)
    second = await engine.partition("papers")
    assert second.generation.origin == "seeded"
    grown = await holding(db, "new/90")
    assert grown == await holding(db, "doi/90")
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
    assert (await engine.coverage("papers", "default")).nodes_read == 160
    prompts = len(engine.sweep_llm.prompts)
    assert (await engine.execute("Go on", graph="papers", mode="continue")).coverage.exhausted
    (swept,) = [p for p in engine.sweep_llm.prompts[prompts:] if p.task == "sweep"]
    assert "New at 90" in swept.user
    assert "fact90." not in swept.user


async def test_how_partitions_are_bound_belongs_to_a_generation(engine, db):
    first = await begun(engine, db)
    before = await links(db, first)
    for place in (3, 11):
        await db.call(LINK, {"from": place, "to": 120 + place}, "write")
    second = await engine.partition("papers")
    assert second.generation.origin == "seeded"
    assert [p.uid for p in second.partitions] == [p.uid for p in first.partitions]
    ends = await holding(db, "doi/3"), await holding(db, "doi/123")
    after = await links(db, second)
    assert after.pop(ends) == after.pop(ends[::-1]) == 2
    assert after == before == await links(db, first)
    assert await count(db, "()-[x:PGS_IN]->()") == 160
    assert second.generation.modularity < first.generation.modularity


async def test_old_generations_go_and_leave_what_is_shared(engine, db):
    await begun(engine, db, isolates=40)
    for turn in range(4):
        await db.call(LINK, {"from": turn, "to": 40 + turn}, "write")
        await db.call(JOIN, {"to": 80 + turn}, "write")
        made = await engine.partition("papers", keep_generations=1)
        assert made.generation.origin == "seeded"
        assert (made.generation.pools, made.generation.pooled_nodes) == (1, 40)
    assert await count(db, "(x:PgsGeneration)") == 1
    assert await count(db, "(x:PgsPartition {level: 0})") == made.generation.partition_count == 5
    assert await count(db, "()-[x:PGS_IN]->()") == 204
    assert await count(db, "()-[x:PGS_ADJACENT]->()") == len(await links(db, made)) > 0
    assert sorted(made.generation.sizes, reverse=True) == [44, 40, 40, 40, 40]
    drift = await engine.check("papers")
    assert not drift.changed


async def test_an_unfinished_generation_takes_no_shared_partition_along(engine, db, monkeypatch):
    first = await begun(engine, db)
    before = await links(db, first)
    await db.call(LINK, {"from": 3, "to": 123}, "write")

    async def fail(*args, **kwargs):
        raise RuntimeError("midway")

    monkeypatch.setattr(generation, "make_current", fail)
    with pytest.raises(RuntimeError, match="midway"):
        await engine.partition("papers")
    monkeypatch.undo()
    assert await count(db, "(x:PgsGeneration)") == 1
    assert await count(db, "()-[x:PGS_IN]->()") == 160
    assert await links(db, first) == before
    assert await count(db, "()-[x:PGS_ADJACENT]->()") == len(before)
    assert (await engine.partition("papers")).generation.origin == "seeded"


async def test_from_nothing_nothing_is_shared(engine, db):
    first = await begun(engine, db)
    await db.call(LINK, {"from": 3, "to": 123}, "write")
    second = await engine.partition("papers", force=True)
    assert not {p.uid for p in first.partitions} & {p.uid for p in second.partitions}
    assert await count(db, "()-[x:PGS_IN]->()") == 320
