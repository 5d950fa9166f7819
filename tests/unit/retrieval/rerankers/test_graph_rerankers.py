"""The order of the best nodes by relationships and mentions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.rerankers.distance import CENTERS, rerank_by_distance
from pgs_neo4j.retrieval.rerankers.mentions import rerank_by_mentions
from pgs_neo4j.retrieval.rerankers.order import MOST_NODES, Reranked, RerankOrder
from tests.fakes.database import FakeDatabase

SCORES = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, "e": 0.5, "f": 0.4}
PASSAGES = GraphMapping(
    labels=("Chunk", "Person"), chunk_labels=("Chunk",), mention_types=("NAMES",)
)


def order(db: FakeDatabase, scores: dict[str, float], mapping: GraphMapping) -> RerankOrder:
    return RerankOrder(db=cast("Database", db), mapping=mapping, scores=scores, vector=None)


def answers(**rows: Any) -> FakeDatabase:
    return FakeDatabase(**{name: [row] for name, row in rows.items()})


async def test_near_nodes_come_first_and_the_best_stay_in_front() -> None:
    db = answers(read_distances={"ids": ["d", "f", "e"], "hops": [3, 1, 3]})
    mapping = GraphMapping(labels=("Paper",), relationship_types=("CITES",))
    done = await rerank_by_distance(order(db, SCORES, mapping))
    assert [*done.scores] == ["a", "b", "c", "f", "d", "e"]
    assert [*done.scores.values()] == [*SCORES.values()]  # as every reader expects
    assert db.params("read_distances") == [
        {
            "centers": ["a", "b", "c"],
            "nodes": ["d", "e", "f"],
            "types": ["CITES"],
            "labels": ["Paper"],
        }
    ]


async def test_nodes_out_of_reach_come_last_in_their_order() -> None:
    db = answers(read_distances={"ids": ["f"], "hops": [3]})
    done = await rerank_by_distance(order(db, SCORES, GraphMapping()))
    assert [*done.scores] == ["a", "b", "c", "f", "d", "e"]


async def test_only_the_best_nodes_are_measured() -> None:
    db = answers(read_distances={"ids": [], "hops": []})
    scores = {f"n{place:03}": 1 - place / 1000 for place in range(300)}
    done = await rerank_by_distance(order(db, scores, GraphMapping()))
    assert [*done.scores] == [*scores][:MOST_NODES]
    assert len(db.params("read_distances")[0]["nodes"]) == MOST_NODES - CENTERS


async def test_the_most_mentioned_come_first_and_ties_keep_their_order() -> None:
    db = answers(count_mentions={"ids": [*"abcdef"], "counts": [0, 2, 5, 2, 0, 7]})
    done = await rerank_by_mentions(order(db, SCORES, PASSAGES))
    assert [*done.scores] == ["f", "c", "b", "d", "a", "e"]
    assert [*done.scores.values()] == [*SCORES.values()]
    assert db.params("count_mentions") == [
        {"nodes": [*"abcdef"], "mention_types": ["NAMES"], "chunk_labels": ["Chunk"]}
    ]


@pytest.mark.parametrize(
    "mapping",
    [GraphMapping(), replace(PASSAGES, chunk_labels=()), replace(PASSAGES, mention_types=())],
)
async def test_the_order_is_kept_where_no_passages_are_named(mapping: GraphMapping) -> None:
    db = FakeDatabase()
    done = await rerank_by_mentions(order(db, SCORES, mapping))
    assert done == Reranked(
        SCORES,
        "the order was kept, because the graph names no passages; set chunk_labels and "
        "mention_types in its mapping",
    )
    assert db.sent == []


@pytest.mark.parametrize("mapping", [GraphMapping(), PASSAGES])
async def test_nothing_found_stays_nothing_without_a_warning(mapping: GraphMapping) -> None:
    db = answers(count_mentions={"ids": [], "counts": []})
    for rerank in (rerank_by_distance, rerank_by_mentions):
        assert await rerank(order(db, {}, mapping)) == Reranked({})
