"""Passages found through what they mention, on a real database."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.neighbors import find_passages
from tests.conftest import Endpoint
from tests.database import alter, fetch
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


async def test_the_nearest_passages_of_a_node_and_of_its_neighbors_are_found(
    endpoint: Endpoint, db: Database
) -> None:
    await alter(db, LETTERS)
    names = {row["id"]: row["name"] for row in await fetch(db, NAMES)}
    ada = next(node for node, name in names.items() if name == "Ada")
    hits = await find_passages(db, MAPPING, {ada: 1.0}, np.array([1.0, 0.0], np.float32))
    found = [(names[node], pytest.approx(score)) for node, score in hits.scores.items()]
    cosines = [1.0, 1 / np.hypot(1, 0.1), 1 / np.hypot(1, 0.2)]
    assert found == [
        *((f"letter {i}", cosine) for i, cosine in enumerate(cosines)),
        ("note 0", 0.5),
    ]
    async with engine_on(endpoint) as pgs:  # a local search leads to those of what it names
        local = await pgs.search("Who is “Ada”?", graph=MAPPING, mode="local", top_k=20)
    assert [path.name for path in local.paths][-1] == "passages"
    assert not any(path.error for path in local.paths)
    assert local.items[0].title == "Ada"
    through = [item.title for item in local.items if "passages" in item.scores]
    # The endpoint's vectors have another size, so no letter is nearer than another.
    assert len([title for title in through if title.startswith("letter")]) == 3
    assert not any(title.startswith("other") for title in through)
