"""Fusion of several rankings, and spreading along relationships."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pgs_neo4j.graph.scores import (
    add_weighted,
    best_first,
    end_distance,
    nearness,
    order_diversely,
    rank_importance,
    scale,
    score_triplet,
    spread,
)
from pgs_neo4j.graph.vectors import unit

SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-100, 100), max_size=8)


def test_scores_are_scaled_from_worst_to_best() -> None:
    scaled = scale({"a": 2.0, "b": 6.0, "c": 3.0})
    assert scaled == pytest.approx({"a": 1 / 3, "b": 1.0, "c": 0.5})
    assert scale({"a": 7.0, "b": 7.0}) == {"a": 1.0, "b": 1.0}
    assert scale({"a": -7.0}) == {"a": 1.0}
    assert scale({}) == {}


def test_the_worst_of_two_hits_is_still_a_hit() -> None:
    assert scale({"a": 5.0, "b": 4.9}) == pytest.approx({"a": 1.0, "b": 0.5})
    many = scale({place: float(place) for place in range(100)})
    assert many[0] == pytest.approx(0.01)
    assert many[99] == 1.0


@given(SCORES)
def test_no_hit_is_scaled_to_nothing(scores: dict[str, float]) -> None:
    scaled = scale(scores)
    assert all(0 < score <= 1 for score in scaled.values())


def test_paths_are_added_by_weight() -> None:
    text, vector = {"a": 10.0, "b": 5.5, "c": 4.0}, {"b": 0.9, "d": 0.1}
    fused = add_weighted([(text, 0.7), (vector, 0.3)])
    assert fused == pytest.approx({"b": 0.7 / 2 + 0.3, "a": 0.7, "c": 0.7 / 3, "d": 0.3 / 2})
    assert [*fused] == ["a", "b", "c", "d"]


def test_a_path_that_found_nothing_takes_no_share_and_weights_of_zero_count_as_equal() -> None:
    assert add_weighted([({"a": 3.0, "b": 1.0}, 0.7), ({}, 0.3)]) == {"a": 1.0, "b": 0.5}
    assert add_weighted([({"a": 1.0}, 0.0), ({"b": 1.0}, 0.0)]) == {"a": 0.5, "b": 0.5}


@given(SCORES, SCORES)
def test_fused_scores_are_from_0_to_1_and_in_order(
    one: dict[str, float], other: dict[str, float]
) -> None:
    fused = add_weighted([(one, 0.7), (other, 0.3)])
    assert set(fused) == set(one) | set(other)
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in fused.values())
    assert [*fused.values()] == sorted(fused.values(), reverse=True)


def test_gains_of_neighbors_count_relative_to_the_largest() -> None:
    assert spread({"a": 1.0, "b": 0.5}, {"m": 3.0, "b": 1.5}) == pytest.approx(
        {"a": 1.0, "b": 0.7, "m": 0.4}
    )
    assert [*spread({"a": 0.1}, {"m": 9.0})] == ["m", "a"]
    assert spread({"b": 0.5, "a": 1.0}, {}) == {"a": 1.0, "b": 0.5}


def test_ties_are_in_the_order_of_text() -> None:
    assert [*best_first({"c": 1.0, "a": 1.0, "b": 2.0})] == ["b", "a", "c"]


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


def test_an_end_without_a_vector_is_far_and_hops_are_penalized() -> None:
    assert end_distance(0.75, 0) == 0.25
    assert end_distance(0.75, 2) == pytest.approx(0.55)
    assert end_distance(None, 1) == pytest.approx(1.15)


def test_nearness_limits_each_distance_to_1() -> None:
    assert nearness([0.2, 1.8]) == pytest.approx(0.4)
    assert nearness([0.0, 0.3, 0.6]) == pytest.approx(0.7)


def test_feedback_replaces_as_much_as_its_influence() -> None:
    assert score_triplet(0.5, 1.0, 0.9, 0.0) == pytest.approx(0.6)
    assert score_triplet(0.5, 1.0, 0.9, 1.0) == pytest.approx(0.9)
    assert score_triplet(0.5, 1.0, 0.9, 0.3) == pytest.approx(0.7 * 0.6 + 0.3 * 0.9)


def test_importance_is_the_rank_quantile_of_the_weight() -> None:
    assert rank_importance([10, 3, None, 7]).tolist() == [1.0, 0.0, 0.5, 0.5]
    assert rank_importance([5, 5, 9]).tolist() == [0.25, 0.25, 1.0]
    assert rank_importance([5]).tolist() == [0.5]
    assert rank_importance([]).tolist() == []
