"""The order of the best nodes by embeddings, and what every reranker leaves as it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping, RerankerName
from pgs_neo4j.search.rerankers import (
    CENTERS,
    MOST_NODES,
    NO_PASSAGES,
    RERANKERS,
    TOO_FEW,
    Reranked,
    RerankOrder,
)
from tests.fakes.database import FakeDatabase

SCORES = {"a": 0.9, "b": 0.8, "c": 0.5}
VECTORS = {"a": [0.0, 1.0], "b": [0.2, 0.98], "c": [3.0, 4.0]}
MAPPING = GraphMapping(embedding="vector", chunk_labels=("Chunk",), mention_types=("NAMES",))
MANY = {f"n{i:03}": 1 - i / 1000 for i in range(300)}


def stored(vectors: dict[str, list[float]]) -> FakeDatabase:
    """A database with these embeddings, without mentions, and without ways between nodes."""
    rows = [{"element_id": node, "vector": vector} for node, vector in vectors.items()]
    return FakeDatabase(
        read_vectors=lambda params: [row for row in rows if row["element_id"] in params["nodes"]],
        read_distances=[{"ids": [], "hops": []}],
        count_mentions=[{"ids": [], "counts": []}],
    )


async def reranked(name: RerankerName, db: FakeDatabase, **changed: Any) -> Reranked:
    given: dict[str, Any] = {
        "mapping": MAPPING,
        "scores": SCORES,
        "vector": np.array([1.0, 0.0], np.float32),
    }
    return await RERANKERS[name](RerankOrder(db=cast("Database", db), **(given | changed)))


async def test_cosines_or_unlikeness_decide_whatever_the_length_of_a_vector() -> None:
    done = await reranked("cosine", stored(VECTORS))
    assert done.scores == pytest.approx({"c": 0.6, "b": 0.2 / np.hypot(0.2, 0.98), "a": 0.0})
    assert ([*done.scores], done.warning) == (["c", "b", "a"], "")
    done = await reranked("mmr", stored({**VECTORS, "c": [1.0, 0.0]}))
    assert [*done.scores] == ["a", "c", "b"]
    assert [*done.scores.values()] == [0.9, 0.8, 0.5]  # as every reader expects


@pytest.mark.parametrize(
    ("names", "changed", "reason"),
    [
        (("cosine", "mmr"), {"mapping": GraphMapping()}, TOO_FEW),
        (("cosine", "mmr"), {"vector": None}, TOO_FEW),
        (("cosine", "mmr"), {"scores": {**SCORES, "d": 0.4}}, TOO_FEW),
        (("mentions",), {"mapping": replace(MAPPING, chunk_labels=())}, NO_PASSAGES),
        (("mentions",), {"mapping": replace(MAPPING, mention_types=())}, NO_PASSAGES),
    ],
)
async def test_the_order_is_kept_where_something_is_missing(
    names: tuple[RerankerName, ...], changed: dict[str, Any], reason: str
) -> None:
    for name in names:
        done = await reranked(name, stored(VECTORS), **changed)
        assert done.scores == changed.get("scores", SCORES)
        assert done.warning == f"the order was kept, because {reason}"


@pytest.mark.parametrize("name", ["cosine", "mmr", "distance", "mentions"])
async def test_nothing_found_stays_nothing_without_a_warning(name: RerankerName) -> None:
    assert await reranked(name, stored({}), scores={}) == Reranked({})


async def test_a_node_without_embedding_comes_after_those_with_one() -> None:
    scores = {f"n{i}": 1 - i / 100 for i in range(20)}
    vectors = {f"n{i}": [1.0, float(i)] for i in range(1, 20)}
    done = await reranked("cosine", stored(vectors), scores=scores)
    assert next(iter(done.scores)) == "n1"
    assert [*done.scores][-1] == "n0"


@pytest.mark.parametrize(
    ("name", "statement", "asked"),
    [
        ("cosine", "read_vectors", MOST_NODES),
        ("mmr", "read_vectors", MOST_NODES),
        ("distance", "read_distances", MOST_NODES - CENTERS),
        ("mentions", "count_mentions", MOST_NODES),
    ],
)
async def test_only_the_best_nodes_are_ordered(
    name: RerankerName, statement: str, asked: int
) -> None:
    db = stored({node: [1.0, 0.0] for node in MANY})
    done = await reranked(name, db, scores=MANY)
    assert [*done.scores] == [*MANY][:MOST_NODES]
    assert len(db.params(statement)[0]["nodes"]) == asked
