"""Passages that mention the best nodes, with the scores of these."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.paths.hits import Hits
from pgs_neo4j.retrieval.paths.passages import NEAR_NODES, find_passages
from tests.fakes.database import FakeDatabase

MAPPING = GraphMapping(chunk_labels=("Chunk",), mention_types=("MENTIONS",), embedding="v")
SCORES = {"a": 5.0, "b": 3.0, "c": 1.0}


def mention(node: str, passage: str, score: float | None, *, direct: bool = True) -> Row:
    return {"node": node, "passage": passage, "score": score, "direct": direct}


async def passages_of(*found: Row, **changed: Any) -> tuple[Hits, FakeDatabase]:
    db = FakeDatabase(find_passages=[{"passages": list(found)}])
    given: dict[str, Any] = {"mapping": MAPPING, "scores": SCORES} | changed
    vector = np.array([1.0, 0.0], np.float32)
    return await find_passages(cast("Database", db), vector=vector, **given), db


async def test_a_passage_has_the_score_of_its_node_times_its_cosine() -> None:
    hits, _ = await passages_of(mention("a", "p", 0.8), mention("b", "q", 0.8))
    assert hits.scores == pytest.approx({"p": 0.8, "q": 0.4})
    assert hits.method == "mentions of the 3 best nodes"


async def test_the_node_that_gives_most_counts_once() -> None:
    hits, _ = await passages_of(
        mention("b", "p", 0.8), mention("a", "p", 0.8), mention("c", "p", 1)
    )
    assert hits.scores == pytest.approx({"p": 0.8})


async def test_a_mention_of_a_neighbor_counts_half() -> None:
    hits, _ = await passages_of(mention("a", "p", 0.8, direct=False), mention("a", "q", 0.5))
    assert hits.scores == pytest.approx({"q": 0.5, "p": 0.4})


async def test_a_passage_without_embedding_is_neither_near_nor_far() -> None:
    hits, _ = await passages_of(mention("a", "p", None), mention("a", "q", -0.3))
    assert hits.scores == pytest.approx({"p": 0.5, "q": 0.0})


async def test_only_the_best_nodes_are_walked_from() -> None:
    many = {f"n{i:02}": 1 - i / 100 for i in range(40)}
    _, db = await passages_of(scores=many)
    assert db.params("find_passages")[0]["nodes"] == [*many][:NEAR_NODES]


@pytest.mark.parametrize(
    "changed",
    [{"mapping": GraphMapping()}, {"scores": {}}, {"mapping": GraphMapping(chunk_labels=("C",))}],
)
async def test_nothing_is_read_where_nothing_is_mentioned(changed: dict[str, Any]) -> None:
    hits, db = await passages_of(**changed)
    assert (hits.scores, db.sent) == ({}, [])
