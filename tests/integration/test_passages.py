"""Passages found through what they mention, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.paths.passages import find_passages
from tests.conftest import Endpoint
from tests.engines import engine_on

MAPPING = GraphMapping(
    labels=("Chunk", "Person"),
    relationship_types=("MENTIONS", "KNOWS"),
    text=("text",),
    title="name",
    embedding="vector",
    chunk_labels=("Chunk",),
    mention_types=("MENTIONS",),
)
LETTERS = """
CREATE (ada:Person {name: 'Ada'})-[:KNOWS]->(bob:Person {name: 'Bob'})
WITH ada, bob UNWIND range(0, 5) AS i
WITH ada, bob, i, [1.0, i / 10.0] AS vector
CREATE (:Chunk {name: 'letter ' + i, text: 'Of engines.', vector: vector})-[:MENTIONS]->(ada)
CREATE (:Chunk {name: 'note ' + i, text: 'Of boats.', vector: vector})-[:MENTIONS]->(bob)
CREATE (:Other {name: 'other ' + i, text: 'Of Ada.', vector: [1.0, 0.0]})-[:MENTIONS]->(ada)
"""
NAMES = "MATCH (n) RETURN n.name AS name, elementId(n) AS id"


@pytest.fixture
async def names(db: Database) -> dict[str, str]:
    await db.call(LETTERS, {}, "write")
    _, rows = await db.call(NAMES, {}, "read")
    return {row["id"]: row["name"] for row in rows}


async def test_the_nearest_passages_of_a_node_and_of_its_neighbors_are_found(
    db: Database, names: dict[str, str]
) -> None:
    ada = next(node for node, name in names.items() if name == "Ada")
    hits = await find_passages(db, MAPPING, {ada: 1.0}, np.array([1.0, 0.0], np.float32))
    found = [(names[node], pytest.approx(score)) for node, score in hits.scores.items()]
    cosines = [1.0, 1 / np.hypot(1, 0.1), 1 / np.hypot(1, 0.2)]
    assert found == [
        *((f"letter {i}", cosine) for i, cosine in enumerate(cosines)),
        ("note 0", 0.5),
    ]


@pytest.fixture
async def pgs(endpoint: Endpoint, names: dict[str, str]) -> AsyncIterator[PGS]:
    async with engine_on(endpoint) as opened:
        assert names
        yield opened


async def test_a_local_search_leads_to_the_passages_of_what_is_named(pgs: PGS) -> None:
    found = await pgs.search("Who is “Ada”?", graph=MAPPING, mode="local", top_k=20)
    assert [path.name for path in found.paths][-1] == "passages"
    assert not any(path.error for path in found.paths)
    assert found.items[0].title == "Ada"
    through = [item.title for item in found.items if "passages" in item.scores]
    # The endpoint's vectors have another size, so no letter is nearer than another.
    assert len([title for title in through if title.startswith("letter")]) == 3
    assert not any(title.startswith("other") for title in through)
