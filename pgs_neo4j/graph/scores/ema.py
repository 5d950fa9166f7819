"""Weights that follow outcomes: an exponential moving average."""

from __future__ import annotations

ALPHA = 0.1
"""Share of each new outcome in the weight."""
START = 0.5
"""Weight before the first outcome."""


def follow(weight: float, score: float) -> float:
    """Return the weight after one more outcome of ``score``, 0 to 1."""
    return ALPHA * score + (1 - ALPHA) * weight


def correct(weight: float, former: float, score: float, later: int) -> float:
    """Return the weight as if one outcome had been ``score`` instead of ``former``.

    ``later`` counts the outcomes after it. The result is that of following all outcomes in order,
    because each later one leaves the same share of the difference.
    """
    return weight + ALPHA * (1 - ALPHA) ** later * (score - former)


def after_equal(score: float, count: int, start: float = START) -> float:
    """Return the weight after ``count`` outcomes of the same score, in closed form."""
    return float(score + (start - score) * (1 - ALPHA) ** count)
