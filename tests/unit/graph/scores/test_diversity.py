"""Maximal marginal relevance, compared with its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.graph.scores.diversity import order_diversely
from pgs_neo4j.graph.vectors import unit


def by_definition(
    relevance: NDArray[Any], vectors: NDArray[Any], k: int, balance: float
) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < min(k, len(relevance)):
        worth = {
            i: balance * relevance[i]
            - (1 - balance) * max([0.0, *(float(vectors[i] @ vectors[j]) for j in chosen)])
            for i in range(len(relevance))
            if i not in chosen
        }
        chosen.append(max(worth, key=lambda i: (worth[i], -i)))
    return chosen


@pytest.mark.parametrize("balance", [0.0, 0.3, 0.5, 1.0])
def test_the_order_is_that_of_the_definition(balance: float) -> None:
    chance = np.random.default_rng(7)
    relevance = chance.random(40)
    vectors = unit(chance.normal(size=(40, 8)).astype(np.float32))
    assert order_diversely(relevance, vectors, 15, balance) == by_definition(
        relevance, vectors, 15, balance
    )


def test_more_than_there_are_is_all() -> None:
    assert order_diversely(np.array([0.1]), np.zeros((1, 2), np.float32), 9) == [0]
    assert order_diversely(np.empty(0), np.zeros((0, 2), np.float32), 9) == []
