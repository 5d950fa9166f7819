"""Rerankers that follow relationships, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.rerankers import (
    RERANKERS,
    RerankOrder,
    rerank_by_distance,
    rerank_by_mentions,
)
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import engine_on

MAPPING = GraphMapping(
    labels=("Chunk", "Person"),
    relationship_types=("MENTIONS", "KNOWS"),
    text=("text",),
    title="name",
    chunk_labels=("Chunk",),
    mention_types=("MENTIONS",),
)
# A chain of persons, shortened by ways outside the view: another type, and another label.
CHAIN = """
UNWIND range(0, 6) AS i
CREATE (:Person {name: 'person ' + i, text: 'lighthouse keeper'})
WITH collect(i) AS all
UNWIND range(0, 5) AS i
MATCH (a:Person {name: 'person ' + i}), (b:Person {name: 'person ' + (i + 1)})
CREATE (a)-[:KNOWS]->(b)
WITH collect(i) AS all
MATCH (a:Person {name: 'person 0'}), (far:Person {name: 'person 6'}), (e:Person {name: 'person 5'})
CREATE (a)-[:LIKES]->(far), (a)<-[:KNOWS]-(:Stranger {name: 'stranger'})-[:KNOWS]->(e)
CREATE (:PgsPartition {name: 'ours'})<-[:PGS_IN]-(a)
WITH far, e UNWIND range(1, 3) AS i
CREATE (c:Chunk {name: 'chunk ' + i, text: 'about lighthouse keeper'})-[:MENTIONS]->(far)
CREATE (c)-[:MENTIONS]->(far), (c)-[:QUOTES]->(e)
CREATE (:Other {name: 'other ' + i, text: 'about lighthouse keeper'})-[:MENTIONS]->(e)
FOREACH (_ IN CASE i WHEN 1 THEN [1] ELSE [] END | CREATE (c)-[:MENTIONS]->(e))
"""
NAMES = "MATCH (n) WHERE n.name IS NOT NULL RETURN n.name AS name, elementId(n) AS id"


@pytest.fixture
async def ids(db: Database) -> dict[str, str]:
    await alter(db, CHAIN)
    rows = await fetch(db, NAMES)
    return {row["name"]: row["id"] for row in rows}


def order(
    db: Database, ids: dict[str, str], names: list[str], mapping: GraphMapping
) -> RerankOrder:
    scores = {ids[name]: 1 - place / 100 for place, name in enumerate(names)}
    return RerankOrder(db=db, mapping=mapping, scores=scores, vector=None)


def named(ids: dict[str, str], scores: Iterable[str]) -> list[str]:
    names = {element_id: name for name, element_id in ids.items()}
    return [names[element_id] for element_id in scores]


async def test_only_ways_within_the_view_count(
    db: Database, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgs_neo4j.search.rerankers.CENTERS", 1)
    names = ["person 0", *(f"person {i}" for i in (6, 5, 4, 3, 2, 1))]
    done = await rerank_by_distance(order(db, ids, names, replace(MAPPING, labels=("Person",))))
    # Three relationships count; those farther away keep their order.
    assert named(ids, done.scores) == [f"person {i}" for i in (0, 1, 2, 3, 6, 5, 4)]
    assert [*done.scores.values()] == sorted(done.scores.values(), reverse=True)
    every = await rerank_by_distance(order(db, ids, names, GraphMapping()))
    assert named(ids, every.scores) == [f"person {i}" for i in (0, 6, 1, 5, 2, 4, 3)]
    monkeypatch.undo()  # the three best are measured from, and stay in front
    names = [f"person {i}" for i in (0, 1, 4, 2, 6, 3, 5)]
    done = await rerank_by_distance(order(db, ids, names, replace(MAPPING, labels=("Person",))))
    assert named(ids, done.scores) == [f"person {i}" for i in (0, 1, 4, 2, 3, 5, 6)]


async def test_each_passage_counts_once(db: Database, ids: dict[str, str]) -> None:
    names = ["chunk 1", "person 1", "person 5", "person 6"]
    done = await rerank_by_mentions(order(db, ids, names, MAPPING))
    assert named(ids, done.scores) == ["person 6", "person 5", "chunk 1", "person 1"]


@pytest.fixture
async def pgs(endpoint: Endpoint, ids: dict[str, str]) -> AsyncIterator[PGS]:
    assert ids
    async with engine_on(endpoint) as opened:
        yield opened


async def test_a_search_puts_the_most_mentioned_first(pgs: PGS) -> None:
    plain = await pgs.search("lighthouse keeper", graph=MAPPING, top_k=20)
    found = await pgs.search("lighthouse keeper", graph=MAPPING, rerank="mentions", top_k=20)
    assert (found.items[0].title, found.warnings) == ("person 6", plain.warnings)
    assert {item.id for item in found.items} == {item.id for item in plain.items}
    assert [item.score for item in found.items] == [item.score for item in plain.items]


async def test_a_reranker_that_takes_too_long_or_fails_keeps_the_order(
    pgs: PGS, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = await pgs.search("lighthouse keeper", graph=MAPPING)
    monkeypatch.setattr("pgs_neo4j.pgs.answering.search.RERANK_S", 0.0)
    slow = await pgs.search("lighthouse keeper", graph=MAPPING, rerank="distance")
    assert slow.items == plain.items
    assert slow.warnings[-1] == (
        "the order was kept, because the reranker distance took longer than 0 s"
    )
    monkeypatch.undo()

    async def fail(order: RerankOrder) -> None:
        await fetch(order.db, "RETURN 1 / 0")

    monkeypatch.setitem(RERANKERS, "distance", fail)
    failed = await pgs.search("lighthouse keeper", graph=MAPPING, rerank="distance")
    assert failed.items == plain.items
    assert failed.warnings[-1].startswith(
        "the order was kept, because the reranker distance failed: "
    )
