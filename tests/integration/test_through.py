"""Walking through bare hubs, on a real database."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.neighbors import find_through_hubs
from pgs_neo4j.search.paths.walk import Hits
from tests.database import alter, fetch

MAPPING = GraphMapping(labels=("Doc",), text=("text",), title="name", embedding="vector")
HUBS = """
UNWIND range(0, 19) AS i
CREATE (a:Doc {name: 'hit ' + i, text: 'seen', vector: [1.0, 0.0]})
CREATE (h:Subject {name: 'hub ' + i})
CREATE (b:Doc {name: 'target ' + i, text: 'unseen', vector: [0.6, 0.8]})
CREATE (a)-[:ABOUT]->(h)<-[:NAMES]-(b)
CREATE (g:Subject {name: 'wide ' + i})-[:BROADER]->(h)
CREATE (g)<-[:ABOUT]-(:Doc {name: 'far ' + i, text: 'unseen', vector: [0.0, 1.0]})
CREATE (a)-[:CITES]->(:Doc {name: 'plain ' + i, text: 'a neighbor', vector: [0.1, 0.2]})
"""
MANY = """
CREATE (a:Doc {name: 'hit', text: 'seen', vector: [1.0, 0.0]})-[:ABOUT]->(h:Subject {name: 'all'})
WITH h UNWIND range(0, 9999) AS i
CREATE (h)<-[:ABOUT]-(:Doc {name: 'leaf ' + i, text: 'one of many', vector: [i / 100.0, 1.0]})
"""


async def ids_of(db: Database, name: str) -> dict[str, str]:
    statement = (
        "MATCH (d:Doc) WHERE d.name STARTS WITH $name RETURN d.name AS n, elementId(d) AS id"
    )
    rows = await fetch(db, statement, name=name)
    return {row["n"]: row["id"] for row in rows}


async def through(db: Database, entries: dict[str, str], **changed: Any) -> Hits:
    given: dict[str, Any] = {"vector": np.array([0.0, 1.0], np.float32), "k": 100} | changed
    return await find_through_hubs(db, MAPPING, dict.fromkeys(entries.values(), 1.0), **given)


async def test_targets_beyond_one_and_two_hubs_come_with_their_true_paths(db: Database) -> None:
    await alter(db, HUBS)
    hits, targets, far = [await ids_of(db, name) for name in ("hit", "target", "far")]
    found = await through(db, hits, vector=None)
    assert len(found.ways) == 20  # of the first ten hits, two each
    assert set(found.scores.values()) == {0.0}
    for number in range(20):
        found = await through(db, {f"hit {number}": hits[f"hit {number}"]})
        assert [*found.ways.items()] == [
            (
                far[f"far {number}"],
                f"hit {number} --[ABOUT]--> (hub {number}) <--[BROADER]-- (wide {number}) "
                f"<--[ABOUT]-- far {number}",
            ),
            (
                targets[f"target {number}"],
                f"hit {number} --[ABOUT]--> (hub {number}) <--[NAMES]-- target {number}",
            ),
        ]
        assert [*found.scores.values()] == pytest.approx([1.0, 0.8])


async def test_a_hub_of_many_leaves_gives_the_nearest(db: Database) -> None:
    await alter(db, MANY)
    entries = await ids_of(db, "hit")
    found = await through(db, entries, k=5)
    assert [way.split()[-1] for way in found.ways.values()] == ["0", "1", "2", "3", "4"]
    assert all("(all)" in way for way in found.ways.values())
