"""Fuses the scores of several paths into one, and spreads it along relationships.

Weighted sums of scores that are scaled by path follow Bruch, Gai, and Ingber, "An Analysis of
Fusion Functions for Hybrid Retrieval" (2023).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

SPREAD = 0.4
"""Weight of what neighbors add, beside 1 for a node's own score. Chosen on CACM."""
SPREADERS = 10
"""Best nodes that add to their neighbors."""


def scale(scores: Mapping[T, float]) -> dict[T, float]:
    """Return scores scaled to 0 to 1, the best at 1. Equal scores become 1.

    0 is one mean step below the worst score, which so becomes 1 of ``n`` for ``n`` scores. At 0,
    the worst of two hits would count as none, however close it is to the other.
    """
    if not scores:
        return {}
    least, most = min(scores.values()), max(scores.values())
    if most <= least:
        return dict.fromkeys(scores, 1.0)
    span = 1 - 1 / len(scores)  # downwards from 1, which rounding then cannot exceed
    return {item: 1 - span * (most - score) / (most - least) for item, score in scores.items()}


def add_weighted(paths: Iterable[tuple[Mapping[T, float], float]]) -> dict[T, float]:
    """Return the weighted sum of the scaled scores of each path, best first.

    An item that a path did not find gets nothing from it. Weights are relative to the sum of those
    of paths that found something. If these are all 0, they count as equal.
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
    """Return scores with what the best nodes add to their neighbors, best first.

    ``gains`` count relative to the largest one, times ``share``.
    """
    most = max(gains.values(), default=0.0)
    if most <= 0:
        return best_first(scores)
    added = dict(scores)
    for node, gain in gains.items():
        added[node] = added.get(node, 0.0) + share * gain / most
    return best_first(added)
