"""Documents stay together when their graph is partitioned, whatever entities they share."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search import evidence
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import without_models

TOPICS = ("Harbor", "Orchard", "Foundry", "Glacier")
KNOBS = {"embedder": "none", "min_community_size": 5, "chunk_tokens": 50, "chunk_overlap": 0}
PLACES = """
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition {level: 0})
MATCH (d:Document)-[:PART_OF]->(c:Chunk)-[:PGS_IN]->(p)
RETURN d.id AS document, c.index AS place, p.id AS partition ORDER BY document, place
"""
MENTIONING = """
MATCH (e:__Entity__ {name: 'Harbor Company 2'})-[:MENTIONED_IN]->(:Chunk)<-[:PART_OF]-(d:Document)
RETURN DISTINCT d.id AS document
"""
OTHER_TOOL = """
UNWIND range(0, 7) AS d
CREATE (doc:Document {path: 'doc ' + d})
WITH d, doc
UNWIND range(0, 5) AS c
CREATE (chunk:Chunk:__KGBuilder__ {text: 'passage ' + c + ' of document ' + d, index: c})
CREATE (chunk)-[:FROM_DOCUMENT]->(doc)
WITH d, c, chunk
UNWIND [0, 1, 2] AS e
MERGE (entity:__Entity__:__KGBuilder__ {name: 'entity ' + ((d + c) * (e + 1)) % 6})
CREATE (entity)-[:FROM_CHUNK]->(chunk)
"""


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with without_models(endpoint, **KNOBS) as opened:
        yield opened


def write_documents(folder: Path, count: int, sentences: int) -> None:
    """Write documents whose sentences mention names of all topics, which outnumber their order."""
    chance = random.Random(5)
    for number in range(count):
        lines = []
        for _ in range(sentences):
            first, second = chance.sample(TOPICS, 2)
            numbers = chance.randrange(6), chance.randrange(6)
            lines.append(
                f"The {first} Company {numbers[0]} sold its old machines to the {second} Museum "
                f"{numbers[1]} after a winter of long and careful talks about money."
            )
        (folder / f"report{number}.txt").write_text("\n\n".join(lines))


async def places_of(db: Database, generation: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for row in await fetch(db, PLACES, generation=generation):
        found[row["document"]].append(row["partition"])
    return found


async def test_no_document_that_fits_is_divided(pgs: PGS, db: Database, tmp_path: Path) -> None:
    write_documents(tmp_path, 12, 12)
    await pgs.ingest(tmp_path, "docs")
    made = (await pgs.partitions.build("docs", target_partition_max=40)).generation
    places = await places_of(db, made.id)
    assert len(places) == 12
    assert all(len(parts) > 2 and len(set(parts)) == 1 for parts in places.values())
    assert made.partition_count > 1
    assert made.documents_together == 1.0


async def test_a_document_over_the_limit_is_divided_into_runs(
    pgs: PGS, db: Database, tmp_path: Path
) -> None:
    write_documents(tmp_path, 3, 60)
    await pgs.ingest(tmp_path, "docs")
    made = (await pgs.partitions.build("docs", target_partition_max=15)).generation
    places = await places_of(db, made.id)
    for parts in places.values():
        assert len(parts) > 15
        changes = sum(one != other for one, other in pairwise(parts))
        assert changes < -(-len(parts) // 14) + 1
    assert made.documents_together is not None
    assert 0.0 < made.documents_together < 1.0


async def test_documents_stay_together_as_they_grow(pgs: PGS, db: Database, tmp_path: Path) -> None:
    write_documents(tmp_path, 12, 12)
    await pgs.ingest(tmp_path, "docs")
    await pgs.partitions.build("docs", target_partition_max=40)
    longer = tmp_path / "report3.txt"
    longer.write_text(longer.read_text() + "\n\nThe Harbor Company 2 closed its last warehouse.")
    await pgs.ingest(tmp_path, "docs")
    made = (await pgs.partitions.build("docs", target_partition_max=40)).generation
    places = await places_of(db, made.id)
    assert all(len(set(parts)) == 1 for parts in places.values())
    assert made.documents_together == 1.0
    forced = (await pgs.partitions.build("docs", target_partition_max=40, force=True)).generation
    again = (await pgs.partitions.build("docs", target_partition_max=40, force=True)).generation
    assert await places_of(db, forced.id) == await places_of(db, again.id)


async def test_documents_of_another_tool_stay_together(pgs: PGS, db: Database) -> None:
    await alter(db, OTHER_TOOL)
    mapping = GraphMapping(
        labels=("__Entity__", "Chunk", "Document"),
        text=("text", "name"),
        chunk_labels=("Chunk",),
        mention_types=("FROM_CHUNK",),
    )
    await pgs.graphs.add("other", mapping)
    made = (await pgs.partitions.build("other", target_partition_max=20)).generation
    rows = await fetch(
        db,
        """
        MATCH (doc:Document)
        MATCH (doc)<-[:FROM_DOCUMENT]-(c:Chunk)-[:PGS_IN]->(p)
        MATCH (doc)-[:PGS_IN]->(own)
        RETURN doc.path AS document, collect(DISTINCT p.id) AS partitions, own.id AS own
        """,
    )
    assert len(rows) == 8
    assert all(row["partitions"] == [row["own"]] for row in rows)
    assert made.documents_together == 1.0


async def test_a_graph_without_passages_tells_nothing_of_documents(pgs: PGS, db: Database) -> None:
    await alter(db, OTHER_TOOL)
    await pgs.graphs.add("plain", GraphMapping(labels=("__Entity__", "Chunk"), text=("text",)))
    made = (await pgs.partitions.build("plain")).generation
    assert made.documents_together is None


async def test_documents_vote_for_the_partitions_that_hold_them(
    pgs: PGS, db: Database, tmp_path: Path
) -> None:
    write_documents(tmp_path, 6, 8)
    for place in (1, 4):
        report = tmp_path / f"report{place}.txt"
        report.write_text(report.read_text() + "\n\nThe tungsten lighthouse of Tallinn leaned.")
    await pgs.ingest(tmp_path, "docs")
    made = (await pgs.partitions.build("docs", target_partition_max=25)).generation
    places = await places_of(db, made.id)
    holding = {places[f"report{place}.txt"][0] for place in (1, 4)}
    routing = await pgs.route("Why did the tungsten lighthouse lean?", graph="docs")
    assert {route.partition for route in routing.routes} == holding
    assert all(route.evidence for route in routing.routes)


async def test_documents_are_read_for_what_they_mention_and_what_refers_to_them(
    pgs: PGS, db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_documents(tmp_path, 12, 12)
    await pgs.ingest(tmp_path, "docs")
    made = (await pgs.partitions.build("docs", target_partition_max=40)).generation
    places = await places_of(db, made.id)
    # Of all that matches, only the two best nodes are evidence, so the others are found by those.
    monkeypatch.setattr(evidence, "MOST_NODES", 2)
    routing = await pgs.route(
        "What did the Harbor Company 2 sell?", graph="docs", min_sweep_partitions=50
    )
    routed = [route.partition for route in routing.routes]
    assert len(routed) == len({*routed})
    holding = {places[row["document"]][0] for row in await fetch(db, MENTIONING)}
    assert {route.partition for route in routing.routes if route.evidence} <= {*routed}
    assert holding <= {*routed}
    assert any(not route.evidence for route in routing.routes if route.partition in holding)
    first = await pgs.route("What did the Harbor Company 2 sell?", graph="docs")
    again = await pgs.route("What did the Harbor Company 2 sell?", graph="docs")
    assert first == again
