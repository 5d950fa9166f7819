"""Arithmetic of retrieval: fuse the scores of paths, order nodes diversely, and score triplets.

Weighted sums of scores that are scaled by path follow Bruch, Gai, and Ingber, "An Analysis of
Fusion Functions for Hybrid Retrieval" (2023). Weights that follow outcomes are an exponential
moving average.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

SPREAD = 0.4
"""Weight of the scores that neighbors add; a node's own score weighs 1. Chosen on CACM."""

SPREADERS = 10
"""Number of best nodes that add to the scores of their neighbors."""

BALANCE = 0.5
"""Weight of relevance against novelty; 1 ranks by relevance alone."""

HOP_PENALTY = 0.15
"""Distance added per hop to an end of a relationship that only a walk found."""

NEAR_SHARE = 0.8
"""Weight of nearness in the score of a triplet; importance has the rest."""

NEUTRAL = 0.5
"""Importance of a relationship without weight, and feedback before any outcome."""

ALPHA = 0.1
"""Share of a new outcome in the updated weight."""

START = 0.5
"""Weight before the first outcome."""

T = TypeVar("T", bound=Hashable)


def scale(scores: Mapping[T, float]) -> dict[T, float]:
    """Return scores scaled to 0 to 1, the best at 1. Equal scores become 1.

    Zero lies one mean step below the worst score, so the worst of ``n`` scores becomes ``1 / n``.
    If the worst score became 0, the second of two hits would count for nothing, even if it is
    nearly as good as the first.
    """
    if not scores:
        return {}
    least, most = min(scores.values()), max(scores.values())
    if most <= least:
        return dict.fromkeys(scores, 1.0)
    # Scores are counted down from 1, so that rounding cannot produce a score above 1.
    span = 1 - 1 / len(scores)
    return {item: 1 - span * (most - score) / (most - least) for item, score in scores.items()}


def add_weighted(paths: Iterable[tuple[Mapping[T, float], float]]) -> dict[T, float]:
    """Return the weighted sum of the scaled scores of each path, best first.

    An item gets nothing from a path that did not find it. Weights are relative to their sum over
    the paths that found something. If that sum is 0, these paths count equally.
    """
    parts = [(scores, weight) for scores, weight in paths if scores]
    total = sum(weight for _, weight in parts)
    if total <= 0:
        parts, total = [(scores, 1.0) for scores, _ in parts], float(len(parts))
    added: dict[T, float] = defaultdict(float)
    for scores, weight in parts:
        for item, score in scale(scores).items():
            added[item] += weight / total * score
    return best_first(added)


def best_first(scores: Mapping[T, float]) -> dict[T, float]:
    """Return the scores in descending order; ties are in the order of the items as text."""
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], str(pair[0]))))


def spread(
    scores: Mapping[str, float], gains: Mapping[str, float], share: float = SPREAD
) -> dict[str, float]:
    """Return scores plus the gains that nodes get from their neighbors, best first.

    ``gains`` are scaled, so that the largest adds ``share``.
    """
    most = max(gains.values(), default=0.0)
    if most <= 0:
        return best_first(scores)
    added = dict(scores)
    for node, gain in gains.items():
        added[node] = added.get(node, 0.0) + share * gain / most
    return best_first(added)


def order_diversely(
    relevance: NDArray[np.float64], vectors: NDArray[np.float32], k: int, balance: float = BALANCE
) -> list[int]:
    """Return the places of ``k`` items by maximal marginal relevance (Carbonell, Goldstein 1998).

    ``relevance`` is ``(n,)``; ``vectors`` is ``(n, d)``, rows of unit length, with zeros for items
    without a vector. Each step compares all items only with the last chosen item, so the whole
    takes n · k · d operations.
    """
    count = len(relevance)
    nearest = np.zeros(count)
    free = np.ones(count, np.bool_)
    chosen: list[int] = []
    for _ in range(min(k, count)):
        worth = balance * relevance - (1 - balance) * nearest
        place = int(np.argmax(np.where(free, worth, -np.inf)))
        chosen.append(place)
        free[place] = False
        np.maximum(nearest, vectors @ vectors[place], out=nearest)
    return chosen


def end_distance(cosine: float | None, hops: int) -> float:
    """Return the distance of one end: 1 - cosine, or 1 without a vector, plus a penalty per hop.

    ``hops`` is 0 for an end that the search itself found.
    """
    return (1.0 if cosine is None else 1.0 - cosine) + HOP_PENALTY * hops


def nearness(distances: Sequence[float]) -> float:
    """Return 1 minus the mean distance of both ends and, if it was compared, of the fact.

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
