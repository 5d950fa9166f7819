"""The members nearest to a question: by comparing all embeddings, or by the user's index."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.search import evidence
from pgs_neo4j.search.evidence import NearMembers, find_near_members
from pgs_neo4j.search.indexes import drop_indexes, make_indexes, want_vectors
from pgs_neo4j.search.nodes import Place
from tests.database import alter

MAPPING = GraphMapping(labels=("Doc",), text=("text",), embedding="v")
PARTS = [Partition(id=number, uid=f"g:{number}", size=50, tokens=1) for number in (1, 2)]
CREATE = """
UNWIND range(0, 99) AS i
MERGE (p:PgsPartition {uid: 'g:' + (1 + i / 50), id: 1 + i / 50})
CREATE (:Doc {v: [cos(i * 0.01), sin(i * 0.01)]})-[:PGS_IN {rank: i % 50}]->(p)
"""
ODD = """
MATCH (p:PgsPartition {uid: 'g:1'})
UNWIND [[50, [1.0, 0.0, 0.0]], [51, [0.0, 0.0]], [52, null], [53, 'x'], [54, [1, 2]],
        [55, [-1.0, 0.0]]] AS row
CREATE (:Doc {v: row[1]})-[:PGS_IN {rank: row[0]}]->(p)
"""


@pytest.fixture
async def docs(db: Database) -> None:
    """A hundred documents on an arc, fifty in each partition, and some odd vectors in the first."""
    await alter(db, CREATE)
    await alter(db, ODD)


@pytest.fixture
async def index(db: Database, docs: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """An index that must be asked."""
    monkeypatch.setattr(evidence, "QUICK", 0)
    outcome = await make_indexes(db, want_vectors(MAPPING, 2))
    return outcome.created[0].name


def at(angle: float) -> NDArray[np.float32]:
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


async def near(db: Database, angle: float, parts: list[Partition] = PARTS) -> NearMembers:
    found = await find_near_members(db, MAPPING, parts, at(angle), 3)
    assert found is not None
    return found


async def test_every_embedding_of_the_right_size_is_compared(db: Database, docs: None) -> None:
    found = await near(db, 0.502)
    assert list(found.scores) == [Place(2, 0), Place(2, 1), Place(1, 49)]
    assert found.scores[Place(2, 0)] == pytest.approx(np.cos(0.002), abs=1e-6)
    assert found.method == "every stored embedding"
    assert next(iter((await near(db, 1.1)).scores)) == Place(1, 54)  # integers count as well
    assert all(score > 0 for score in (await near(db, 3.0)).scores.values())
    assert {place.partition for place in (await near(db, 0.5, PARTS[:1])).scores} == {1}
    assert await find_near_members(db, GraphMapping(), PARTS, at(0.5), 3) is None
    with pytest.MonkeyPatch.context() as patch:  # many are left alone without an index
        patch.setattr(evidence, "QUICK", 0)
        none = await near(db, 0.5)
    assert (none.scores, none.method) == ({}, "")
    assert "'pgs index create' makes one" in none.advice
    await alter(db, "MATCH (n:Doc) WHERE n.v = 'x' SET n.v = [1.0, 0.0 / 0.0]")
    assert await find_near_members(db, MAPPING, PARTS, at(0.5), 3) is None, "one is not finite"


async def test_an_index_finds_the_same(db: Database, index: str) -> None:
    found = await near(db, 0.502)
    assert list(found.scores) == [Place(2, 0), Place(2, 1), Place(1, 49)]
    assert found.method == f"vector index {index}"
    # It knows others that do not count.
    assert {place.partition for place in (await near(db, 0.5, PARTS[:1])).scores} == {1}


@pytest.mark.schema
async def test_an_index_that_is_gone_leaves_the_words(
    db: Database, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stale(*_: object) -> list[str]:
        return [index]

    monkeypatch.setattr(evidence, "covering_indexes", stale)
    await drop_indexes(db)
    assert await find_near_members(db, MAPPING, PARTS, at(0.5), 3) is None
