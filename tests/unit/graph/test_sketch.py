"""Summaries estimate how much differs, and never mistake a difference for none."""

from __future__ import annotations

import numpy as np
import pytest

from pgs_neo4j.graph.sketch import BUCKETS, LEVELS, difference, sketch
from tests.thorough import tries


def hashes(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng([seed, count]).integers(0, 2**64, count, dtype=np.uint64)


def test_a_summary_is_a_flat_list_of_signed_integers() -> None:
    numbers = sketch(hashes(10_000))
    assert numbers.shape == (LEVELS * BUCKETS,) == (8_192,)
    assert numbers.dtype == np.int64
    assert sketch(hashes(0)).tolist() == [0] * 8_192


def test_equal_hashes_do_not_cancel() -> None:
    """Parallel relationships: one, two and three of them are three different graphs."""
    some = hashes(1_000)
    once, twice, thrice = (sketch(np.repeat(some, times)) for times in (1, 2, 3))
    for before, after in ((once, twice), (twice, thrice), (once, thrice)):
        assert difference(before, after) == pytest.approx(1_000, rel=0.15)


@pytest.mark.parametrize(
    ("true", "off"),
    [(1, 0.0), (10, 0.3), (100, 0.15), (1_000, 0.2), (10_000, 0.2), (100_000, 0.2), (10**6, 0.2)],
)
@pytest.mark.parametrize("seed", range(tries(1, 3)))
def test_the_estimate_is_near_on_top_of_what_both_share(true: int, off: float, seed: int) -> None:
    shared, removed = hashes(200_000, 9), hashes(true // 3, seed)
    added = hashes(true - true // 3, seed)
    before, after = np.concatenate((shared, removed)), np.concatenate((added, shared))
    assert difference(sketch(before), sketch(after)) == pytest.approx(true, rel=off)
    assert difference(sketch(after), sketch(before)) == pytest.approx(true, rel=off)


def test_beyond_the_last_level_the_estimate_stays_finite() -> None:
    everything = np.ones(LEVELS * BUCKETS, dtype=np.int64)
    assert difference(np.zeros_like(everything), everything) > 10**8


def test_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="a sketch has 8192 numbers"):
        difference(sketch(hashes(5)), np.zeros(4_096, dtype=np.int64))
