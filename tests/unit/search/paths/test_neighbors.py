"""Passages that mention the best nodes, with the scores of these."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.neighbors import NEAR_NODES, find_passages
from pgs_neo4j.search.paths.walk import Hits
from tests.fakes.database import FakeDatabase

MAPPING = GraphMapping(chunk_labels=("Chunk",), mention_types=("MENTIONS",), embedding="v")
SCORES = {"a": 5.0, "b": 3.0, "c": 1.0}


def mention(node: str, passage: str, score: float | None) -> Row:
    return {"node": node, "passage": passage, "score": score, "direct": True}


async def passages_of(*found: Row, **changed: Any) -> tuple[Hits, FakeDatabase]:
    db = FakeDatabase(find_passages=[{"passages": list(found)}])
    given: dict[str, Any] = {"mapping": MAPPING, "scores": SCORES} | changed
    vector = np.array([1.0, 0.0], np.float32)
    return await find_passages(cast("Database", db), vector=vector, **given), db


@pytest.mark.parametrize(
    ("found", "scores"),
    [
        ([("a", "p", 0.8), ("b", "q", 0.8)], {"p": 0.8, "q": 0.8 * 2 / 3}),
        ([("b", "p", 0.8), ("a", "p", 0.8), ("c", "p", 1)], {"p": 0.8}),
        ([("a", "p", None), ("a", "q", -0.3)], {"p": 0.5, "q": 0.0}),
    ],
    ids=["score times cosine", "best node once", "without embedding"],
)
async def test_a_passage_has_the_score_of_its_best_node_times_its_cosine(
    found: list[tuple[str, str, float | None]], scores: dict[str, float]
) -> None:
    hits, _ = await passages_of(*(mention(*one) for one in found))
    assert hits.scores == pytest.approx(scores)
    assert hits.method == "mentions of the 3 best nodes"


async def test_only_the_best_nodes_are_walked_from() -> None:
    many = {f"n{i:02}": 1 - i / 100 for i in range(40)}
    _, db = await passages_of(scores=many)
    assert db.params("find_passages")[0]["nodes"] == [*many][:NEAR_NODES]
