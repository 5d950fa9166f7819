"""Scores of triplets."""

from __future__ import annotations

import pytest

from pgs_neo4j.graph.scores.triplets import (
    end_distance,
    nearness,
    rank_importance,
    score_triplet,
)


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
