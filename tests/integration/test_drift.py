"""Change detection: what others committed, how far a graph moved, and what is done about it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.schema import read_change_token
from pgs_neo4j.model import GraphMapping
from tests.database import alter, fetch
from tests.graphs import checksum, count, papers


async def begun(engine, db, **shape):
    """The papers, partitioned."""
    mapping = await papers(db, **shape)
    await engine.graphs.add("papers", mapping)
    return await engine.partitions.build("papers")


async def members(db):
    """doi to lineage of the current generation."""
    rows = await fetch(
        db,
        "MATCH (:PgsGraph)-[:PGS_CURRENT]->(:PgsGeneration)<-[:PGS_PART_OF]-(p)<-[:PGS_IN]-(n) "
        "RETURN n.doi AS doi, p.lineage AS lineage",
    )
    return {row["doi"]: row["lineage"] for row in rows}


@pytest.mark.thorough
async def test_an_unchanged_graph_is_known_without_a_scan(engine, db, monkeypatch):
    await begun(engine, db)

    async def refuse(*args, **kwargs):
        raise AssertionError("the graph was scanned")

    monkeypatch.setattr("pgs_neo4j.pgs.partitioning.view.scan", refuse)
    drift = await engine.partitions.check("papers")
    assert not drift.committed
    assert not drift.changed
    assert (drift.nodes, drift.relationships) == (160, 483)
    assert (await engine.partitions.build("papers")).reused
    stored = await engine.partitions.generation("papers")
    assert stored.seconds.keys() >= {"check", "scan", "project", "communities", "limits", "write"}
    assert stored.settings
    assert stored.token == await read_change_token(db)
    rows = await db.read(queries.get("pgs/partitioning/read_sketches"), generation=stored.id)
    assert len(rows[0]["sketch"]) == 8192
    assert np.any(rows[0]["sketch"])
    answer = await engine.execute("What is known?", graph="papers")
    assert answer.coverage.exhausted
    # The question wrote sessions, runs, and reports: those are ours, and do not count.
    assert not (await engine.partitions.check("papers")).committed
    await engine.execute("And then?", graph="papers")


async def test_what_others_commit_is_noticed_and_scanned_once(engine, db):
    await begun(engine, db)
    await alter(db, "CREATE (:Elsewhere)")
    first = await engine.partitions.check("papers", scan=False)
    assert first.committed
    second = await engine.partitions.check("papers")
    assert second.committed
    assert not second.changed
    assert not (await engine.partitions.check("papers")).committed
    assert (await engine.partitions.build("papers")).reused


CHANGES = (
    ("UNWIND range(1, 3) AS i CREATE (:Paper {doi: 'new/' + i})", {"nodes_added": 3}),
    (
        "MATCH (p:Paper {doi: 'doi/7'}) DETACH DELETE p",
        {"nodes_removed": 1, "relationships_changed": 6},
    ),
    ("MATCH (p:Paper {topic: 1}) SET p.abstract = 'Other.'", {"texts_changed": 40}),
    (
        "MATCH (p:Paper {doi: 'doi/17'}) SET p.abstract = replace(p.abstract, 'fact17', 'tcaf17')",
        {"texts_changed": 1},
    ),
    ("MATCH (p:Paper {doi: 'doi/17'}) SET p.score = 99.5", {"facts_changed": 1}),
    (
        "MATCH (:Paper {doi: 'doi/17'})-[r:CITES]->() WITH r LIMIT 1 SET r.strength = 3.0",
        {"relationships_changed": 1},
    ),
    (
        "MATCH (:Paper {doi: 'doi/17'})-[r:CITES]->() WITH r LIMIT 1 DELETE r",
        {"relationships_changed": 1},
    ),
    (
        "MATCH (a:Paper {doi: 'doi/17'})-[r:CITES]->(b) WITH a, r, b LIMIT 1 DELETE r "
        "CREATE (b)-[:CITES {strength: 1.0}]->(a)",
        {"relationships_changed": 1},
    ),
    ("MATCH (p:Paper {doi: 'doi/17'}) SET p.unmapped = 1 CREATE (:Author)-[:WROTE]->(p)", {}),
)


@pytest.mark.thorough
async def test_the_drift_counts_what_changed(engine, db):
    await begun(engine, db)
    names = (
        *("nodes_added", "nodes_removed", "texts_changed", "facts_changed"),
        "relationships_changed",
    )
    for change, expected in CHANGES:
        await alter(db, change)
        drift = await engine.partitions.check("papers")
        found = {name: getattr(drift, name) for name in names if getattr(drift, name)}
        assert found == expected, change
        assert drift.changed == bool(expected), change
        assert (await engine.partitions.build("papers")).reused == (not expected), change
        assert not (await engine.partitions.check("papers")).committed, change
    await engine.graphs.add("all", GraphMapping(labels=("Paper",), text=("abstract",)))
    await engine.partitions.build("all")
    await alter(
        db,
        "MATCH (a:Paper {doi: 'doi/57'})-[r:CITES]->(b) WITH a, r, b LIMIT 1 DELETE r "
        "CREATE (a)-[:REFUTES]->(b)",
    )
    assert (await engine.partitions.check("all")).relationships_changed == 1, "another type"


async def test_other_settings_are_another_partitioning_though_nobody_committed(engine, db):
    await engine.graphs.add("papers", await papers(db))
    assert await engine.partitions.check("papers") is None
    await engine.partitions.build("papers")
    assert not (await engine.partitions.check("papers")).settings_changed
    drift = await engine.partitions.check("papers", target_partition_max=25)
    assert (drift.settings_changed, drift.changed, drift.committed) == (True, True, False)
    assert drift.fraction == 0.0
    mapping = (await engine.graphs.get("papers")).mapping
    await engine.graphs.add("papers", replace(mapping, text=("title",)), replace=True)
    drift = await engine.partitions.check("papers")
    assert not drift.committed
    assert drift.settings_changed
    made = await engine.partitions.build("papers")
    assert not made.reused
    assert made.partitions[0].summary.endswith(("Paper 0", "Paper 40", "Paper 80", "Paper 120"))


async def test_a_changed_text_refreshes_only_the_partition_it_stands_in(engine, db):
    first = await begun(engine, db)
    assert first.generation.origin == "cold"
    await alter(
        db, "MATCH (p:Paper {doi: 'doi/7'}) SET p.abstract = 'Zeppelins zeppelins over Lakehurst.'"
    )
    before = await checksum(db)
    units = await engine.partitions.units("papers")
    second = await engine.partitions.build("papers")
    assert second.generation.origin == "refreshed"
    assert second.drift.texts_changed == 1
    figures = ("sizes", "modularity", "grown", "levels", "issues")
    for name in figures:
        assert getattr(second.generation, name) == getattr(first.generation, name), name
    assert await engine.partitions.units("papers") == units
    old = {part.lineage: part for part in first.partitions}
    new = {part.lineage: part for part in second.partitions}
    assert old.keys() == new.keys()
    changed = [lineage for lineage in old if old[lineage].uid != new[lineage].uid]
    assert len(changed) == 1
    touched = new[changed[0]]
    assert touched.id == old[changed[0]].id
    assert touched.tokens != old[changed[0]].tokens
    # Bridges lead to the new partition and from it, and the old ones are not counted twice.
    bridges = [
        {(p.id, a.id): (a.edges, a.weight) for p in made.partitions for a in p.adjacent}
        for made in (first, second)
    ]
    assert bridges[0] == bridges[1]
    assert await count(db, "()-[x:PGS_IN]->()") == 160 + touched.size
    assert await checksum(db) == before
    # Old generations that share partitions go without taking members along.
    for turn in range(3):
        await alter(
            db, "MATCH (p:Paper {doi: $doi}) SET p.abstract = 'Turn'", doi=f"doi/{turn * 40}"
        )
        made = await engine.partitions.build("papers", keep_generations=1)
        assert made.generation.origin == "refreshed"
    assert await count(db, "(x:PgsGeneration)") == 1
    assert await count(db, "(x:PgsPartition)") == 4
    assert await count(db, "()-[x:PGS_IN]->()") == 160
    # What was refreshed is unread, and the others stay read.
    assert (await engine.execute("Begin", graph="papers")).coverage.exhausted
    await alter(db, "MATCH (p:Paper {doi: 'doi/9'}) SET p.abstract = 'Airships.'")
    await engine.partitions.build("papers")
    assert (await engine.sessions.coverage("default", "papers")).nodes_read == 159
    prompts = len(engine.sweep_llm.prompts)
    rest = await engine.execute("Continue", graph="papers", mode="continue")
    assert rest.coverage.exhausted
    (swept,) = [p for p in engine.sweep_llm.prompts[prompts:] if p.task == "sweep"]
    assert "Airships" in swept.user
    assert "fact8." not in swept.user


async def test_a_small_change_of_structure_grows_from_the_partitions_before(engine, db):
    first = await begun(engine, db, topics=6, isolates=40)
    assert (first.generation.pools, first.generation.pooled_nodes) == (1, 40)
    before = await members(db)
    await alter(
        db,
        "UNWIND range(1, 3) AS i MATCH (a:Paper {doi: 'doi/' + i}) "
        "CREATE (:Paper {doi: 'far/' + i}) CREATE (a)-[:CITES {strength: 1.0}]->"
        "(:Paper {doi: 'new/' + i, abstract: 'New ' + i})",
    )
    second = await engine.partitions.build("papers")
    assert second.generation.origin == "seeded"
    assert (second.drift.nodes_added, second.drift.relationships_changed) == (6, 3)
    assert second.generation.grown == pytest.approx(6 / 286)
    after = await members(db)
    assert len(after) == 286
    assert all(after[doi] == lineage for doi, lineage in before.items())
    assert {after[f"new/{i}"] for i in (1, 2, 3)} == {before["doi/1"]}
    assert {after[f"far/{i}"] for i in (1, 2, 3)} == {before["alone/1"]}
    assert (second.generation.pools, second.generation.pooled_nodes) == (1, 43)
    old = {part.uid for part in first.partitions}
    assert sum(part.uid in old for part in second.partitions) == 5  # the unchanged ones are shared
    assert second.generation.modularity > first.generation.modularity - 0.01
    assert await count(db, "(x) WHERE any(l IN labels(x) WHERE l STARTS WITH 'PgsSeed')") == 0
    cold = await engine.partitions.build("papers", force=True)
    assert (cold.generation.origin, cold.generation.grown) == ("cold", 0.0)
    assert sorted(cold.generation.sizes) == sorted(second.generation.sizes)


async def test_a_session_across_three_generations_counts_each_node_once(engine, db):
    await begun(engine, db, topics=5, size=30)
    first = await engine.execute("Begin", graph="papers", max_sweep_partitions=2, session_id="long")
    assert first.coverage.nodes_read == 60
    read = {doi for prompt in engine.sweep_llm.prompts for doi in facts(prompt)}
    for turn, knobs in enumerate(({"target_partition_max": 20}, {"target_partition_max": 70})):
        await alter(db, "CREATE (:Paper {doi: 'more/' + $t, abstract: 'fact more' + $t})", t=turn)
        made = await engine.partitions.build("papers", force=True, keep_generations=1, **knobs)
        coverage = await engine.sessions.coverage("long", "papers")
        assert coverage.nodes_total == 151 + turn
        assert coverage.nodes_read == len(read)
        prompts = len(engine.sweep_llm.prompts)
        answer = await engine.execute(
            "Continue",
            graph="papers",
            mode="continue",
            session_id="long",
            sweep_fraction=0.34,
            keep_generations=1,
            **knobs,
        )
        new = [doi for prompt in engine.sweep_llm.prompts[prompts:] for doi in facts(prompt)]
        assert len(new) == len(set(new))
        assert not read & set(new), "a node was read twice"
        assert new
        read |= set(new)
        assert answer.coverage.nodes_read == len(read)
        assert made.generation.origin == "cold"
    last = await engine.execute(
        "End",
        graph="papers",
        mode="continue",
        session_id="long",
        full_sweep=True,
        target_partition_max=70,
    )
    assert last.coverage.exhausted
    assert last.coverage.nodes_read == 152


def facts(prompt):
    """The papers whose text stood in a prompt of a sweep."""
    return set(re.findall(r"fact\d+|more\d", " ".join(n.text for n in prompt.nodes)))


async def test_a_large_pool_is_divided_by_likeness(engine, db):
    topics = ("zebra stripes", "violin strings", "granite quarries")
    mapping = await papers(db, topics=0)
    await alter(
        db,
        "UNWIND range(0, 149) AS i CREATE (:Paper {doi: 'doi/' + i, topic: i % 3, "
        "abstract: $topics[i % 3] + ' described in note ' + i})",
        topics=list(topics),
    )
    await engine.graphs.add("papers", mapping)
    made = await engine.partitions.build("papers")
    assert made.generation.pools == 3
    assert made.generation.sizes == (50, 50, 50)
    rows = await fetch(
        db,
        "MATCH (n:Paper)-[:PGS_IN]->(p) RETURN p.id AS part, n.topic AS topic, count(*) AS nodes",
    )
    purest = {row["part"]: 0 for row in rows}
    for row in rows:
        purest[row["part"]] = max(purest[row["part"]], row["nodes"])
    assert sum(purest.values()) >= 140, rows


@pytest.mark.thorough
async def test_the_hierarchy_is_written_and_nested(engine, db):
    mapping = await papers(db, topics=30, size=20)
    await engine.graphs.add("papers", mapping)
    made = await engine.partitions.build("papers", min_community_size=5, target_partition_max=10)
    units = await engine.partitions.units("papers")
    assert made.generation.levels == tuple(
        sum(unit.level == level for unit in units)
        for level in range(1, len(made.generation.levels) + 1)
    )
    assert len(made.generation.levels) >= 1
    assert len(made.partitions) > made.generation.levels[0]
    top = len(made.generation.levels)
    by_place = {(unit.level, unit.id): unit for unit in units}
    beneath = dict.fromkeys(by_place, 0)
    for part in made.partitions:
        level, parent = 1, part.parent
        while parent is not None:
            beneath[level, parent] += part.size
            level, parent = level + 1, by_place[level, parent].parent
        assert level == top + 1
    assert {place: unit.size for place, unit in by_place.items()} == beneath
    assert all(unit.keywords for unit in units)
    await engine.partitions.build(
        "papers", force=True, keep_generations=1, target_partition_max=600
    )
    left = (await engine.partitions.generation("papers")).levels
    assert await count(db, "(x:PgsPartition) WHERE x.level > 0") == sum(left)
