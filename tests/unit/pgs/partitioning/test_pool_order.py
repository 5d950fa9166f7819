"""Nodes that nothing binds, ordered so that similar ones are near each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning import divide as module
from pgs_neo4j.pgs.partitioning.divide import WIDTH, compute_features, pool_order
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import view_of

MAPPING = GraphMapping(text=("title",), embedding="v")


def row(vectors: list[list[float]], texts: list[str]) -> Any:
    return {
        "ids": list(range(len(vectors))),
        "vectors": vectors,
        "texts": [[text] for text in texts],
    }


async def test_without_vectors_words_decide() -> None:
    features = await compute_features(row([[], [], [], []], ["red fox", "red fox", "law", ""]), 0)
    assert features.shape == (4, WIDTH)
    assert features.dtype == np.float32
    assert features[0].tolist() == features[1].tolist() != features[2].tolist()
    assert not features[3].any()  # with neither


async def test_vectors_and_words_fill_separate_halves() -> None:
    rows = row([[1.0, 2.0], [], [10.0, 20.0], []], ["ignored", "words", "", ""])
    features = await compute_features(rows, 2)
    assert features[0] == pytest.approx(features[2])  # the length of a vector has no meaning
    half = WIDTH // 2
    assert features[0, :half].any()
    assert not features[0, half:].any()
    assert not features[1, :half].any()
    assert features[1, half:].any()
    assert not features[3].any()


async def test_pooled_nodes_come_first_and_the_others_keep_their_order() -> None:
    vectors = {1: [1.0, 0.0], 3: [0.0, 1.0], 4: [1.0, 0.01]}

    def answer(params: dict[str, Any]) -> list[dict[str, Any]]:
        ids = params["ids"][::-1]  # rows may come in any order
        return [{"ids": ids, "vectors": [vectors[i] for i in ids], "texts": [[]] * len(ids)}]

    db: Any = FakeDatabase(read_features=answer)
    view = view_of([0, 1, 2, 3, 4], dimensions={2: 5})
    pooled = np.array([False, True, False, True, True])
    rank = await pool_order(db, MAPPING, view, pooled)
    assert set(rank[pooled].tolist()) == {0, 1, 2}
    assert rank[0] < rank[2]
    assert rank[~pooled].min() >= 3
    assert abs(int(rank[1]) - int(rank[4])) == 1


async def test_features_are_read_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_NODES", 2)
    text = [{"label": "", "property": "title"}]

    def answer(params: dict[str, Any]) -> list[dict[str, Any]]:
        ids = params["ids"]
        assert (params["dimensions"], params["embedding"], params["text"]) == (0, "v", text)
        return [{"ids": ids, "vectors": [[]] * len(ids), "texts": [["a"]] * len(ids)}]

    db: Any = FakeDatabase(read_features=answer)
    await pool_order(db, MAPPING, view_of([3, 4, 5, 6, 7]), np.ones(5, dtype=np.bool_))
    assert [params["ids"] for params in db.params("read_features")] == [[3, 4], [5, 6], [7]]
