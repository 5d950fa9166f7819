from __future__ import annotations

import pytest

from pgs_neo4j.text.tokens import Calibration, estimate


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcdefg", 2), ("abcdefgh", 3), ("üü", 2)]
)
def test_estimate_is_bytes_over_three_and_a_half_rounded_up(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


def test_estimate_takes_text_that_cannot_be_encoded() -> None:
    assert estimate("\ud800") == 1


def test_calibration_starts_neutral_and_follows_reports() -> None:
    calibration = Calibration()
    assert calibration.ratio == 1.0
    calibration = calibration.observe(estimated=100, reported=120).observe(
        estimated=100, reported=130
    )
    assert calibration.ratio == 1.25
    assert calibration.tokens("a" * 35) == 13


@pytest.mark.parametrize(("reported", "ratio"), [(1, 0.5), (10_000, 2.0)])
def test_calibration_is_clipped(reported: int, ratio: float) -> None:
    assert Calibration().observe(estimated=100, reported=reported).ratio == ratio


@pytest.mark.parametrize(("estimated", "reported"), [(0, 5), (5, 0), (-1, 5)])
def test_figures_that_are_not_positive_are_ignored(estimated: int, reported: int) -> None:
    assert Calibration().observe(estimated=estimated, reported=reported) == Calibration()
