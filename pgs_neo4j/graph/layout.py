"""Places the nodes of a small graph in a plane, so that neighbors are near each other.

Fruchterman, Reingold, "Graph Drawing by Force-Directed Placement", Software: Practice and
Experience 1991. Gravity toward the center keeps components together.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MOST_PLACED = 2000
"""Maximum number of nodes that forces move. To move more would take seconds, so a larger graph
stays on the spiral.
"""
ROUNDS = 150
GRAVITY = 0.12
GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))


def lay_out(
    count: int, pairs: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return places ``(count, 2)`` from 0 to 1; the same input gives the same places.

    ``pairs`` ``(m, 2)`` are neighbors, each pair once, and ``weights`` ``(m,)`` say how close they
    should be. Nodes start on a spiral in their order, so the first nodes stay near the center.
    """
    places = _spiral(count)
    if 1 < count <= MOST_PLACED and len(pairs):
        pull = np.zeros((count, count), np.float32)
        strength = np.sqrt(weights / weights.max())
        pull[pairs[:, 0], pairs[:, 1]] = strength
        pull[pairs[:, 1], pairs[:, 0]] = strength
        places = _apply_forces(places, pull)
    return _to_unit(places)


def _spiral(count: int) -> NDArray[np.float32]:
    """Return a sunflower's places: evenly spread over a disk of radius 1."""
    order = np.arange(count)
    radius = np.sqrt((order + 0.5) / max(count, 1))
    angle = order * GOLDEN_ANGLE
    places = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return places.astype(np.float32)


def _apply_forces(places: NDArray[np.float32], pull: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return places after forces push all nodes apart and pull neighbors together."""
    # At this distance from each other, the nodes fill a disk of radius 1.
    ideal = math.sqrt(math.pi / len(places))
    pull = pull / np.float32(ideal)
    for round_ in range(ROUNDS):
        squares = (places**2).sum(axis=1)
        distance = squares[:, None] + squares[None, :] - 2.0 * (places @ places.T)
        np.maximum(distance, 1e-8, out=distance)
        push = np.float32(ideal**2) / distance
        push -= pull * np.sqrt(distance, out=distance)
        # The sum of push[i, j] * (places[i] - places[j]) over all j.
        step = places * (push.sum(axis=1, keepdims=True) - np.float32(GRAVITY)) - push @ places
        length = np.maximum(np.sqrt((step**2).sum(axis=1, keepdims=True)), 1e-9)
        longest = 0.2 * (1.0 - round_ / ROUNDS) + 0.002
        places = places + step / length * np.minimum(length, np.float32(longest))
    return places


def _to_unit(places: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return places moved and scaled to fit between 0 and 1, with one factor for both axes."""
    if not len(places):
        return np.zeros((0, 2))
    exact = places.astype(np.float64)
    low, high = exact.min(axis=0), exact.max(axis=0)
    span = float((high - low).max())
    if span <= 0.0:
        return np.full((len(places), 2), 0.5)
    fitted: NDArray[np.float64] = 0.5 + (exact - (low + high) / 2) / span
    return fitted
