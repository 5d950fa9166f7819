"""Scores triplets by the distance of their ends, their weights, and feedback."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

HOP_PENALTY = 0.15
"""Distance added per hop to an end that only a walk found."""
NEAR_SHARE = 0.8
"""Weight of nearness beside importance."""
NEUTRAL = 0.5
"""Importance of a relationship without weight, and feedback before any outcome."""


def end_distance(cosine: float | None, hops: int) -> float:
    """Return the distance of one end: 1 - cosine, or 1 without a vector, plus a penalty per hop.

    ``hops`` is 0 for an end that the search itself found.
    """
    return (1.0 if cosine is None else 1.0 - cosine) + HOP_PENALTY * hops


def nearness(distances: Sequence[float]) -> float:
    """Return 1 minus the mean distance of both ends, and of the fact if it was compared.

    Each distance counts as 1 at most.
    """
    return 1.0 - sum(min(1.0, distance) for distance in distances) / len(distances)


def score_triplet(near: float, importance: float, feedback: float, influence: float) -> float:
    """Return (1 - φ)(0.8 · nearness + 0.2 · importance) + φ · feedback.

    ``influence`` is φ, from 0 to 1; the other values are from 0 to 1.
    """
    plain = NEAR_SHARE * near + (1 - NEAR_SHARE) * importance
    return (1 - influence) * plain + influence * feedback


def rank_importance(weights: Sequence[float | None]) -> NDArray[np.float64]:
    """Return the rank quantile ``(n,)`` of each weight, from 0 to 1.

    Equal weights share the mean of their quantiles. A single or missing weight has 0.5.
    """
    importance = np.full(len(weights), NEUTRAL)
    places = [place for place, weight in enumerate(weights) if weight is not None]
    if len(places) < 2:
        return importance
    values = np.asarray([weights[place] for place in places], np.float64)
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts) - 1
    middle = last - (counts - 1) / 2
    importance[places] = middle[which] / (len(places) - 1)
    return importance
