"""Weights that follow outcomes."""

from __future__ import annotations

import functools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.graph.scores.ema import ALPHA, START, after_equal, correct, follow

SCORES = st.sampled_from([0.0, 0.5, 1.0])


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_equal_outcomes_give_the_closed_form(score: float) -> None:
    weight = START
    for count in range(1, 200):
        weight = follow(weight, score)
        assert math.isclose(weight, after_equal(score, count), rel_tol=0, abs_tol=1e-12)


@pytest.mark.parametrize("chance", [0.2, 0.5, 0.8])
def test_the_mean_of_2000_outcomes_is_their_chance(chance: float) -> None:
    draw, weight, seen = random.Random(11), START, []
    for _ in range(2_000):
        weight = follow(weight, float(draw.random() < chance))
        seen.append(weight)
    settled = seen[100:]
    mean = sum(settled) / len(settled)
    assert mean == pytest.approx(chance, abs=0.03)
    spread = math.sqrt(sum((one - mean) ** 2 for one in settled) / len(settled))
    assert spread == pytest.approx(math.sqrt(ALPHA / (2 - ALPHA) * chance * (1 - chance)), rel=0.15)


@given(
    st.lists(SCORES, min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(0, 59), SCORES), max_size=20),
)
def test_corrected_outcomes_equal_their_replay(
    history: list[float], corrections: list[tuple[int, float]]
) -> None:
    """However many are corrected, in any order, and some of them more than once."""
    weight = functools.reduce(follow, history, START)
    for number, score in corrections:
        place = number % len(history)
        weight = correct(weight, history[place], score, len(history) - place - 1)
        history[place] = score
        replayed = functools.reduce(follow, history, START)
        assert math.isclose(weight, replayed, rel_tol=0, abs_tol=1e-12)
        assert -1e-12 <= weight <= 1 + 1e-12
