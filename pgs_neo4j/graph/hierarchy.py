"""Levels above the partitions, for routing a question from the top down.

Level 0 holds the partitions. Each level groups the units of the level below, so levels are nested.
"""

from __future__ import annotations

import math

import numpy as np

from pgs_neo4j.graph.csr import (
    Edges,
    FloatArray,
    IntArray,
    contracted,
    counted,
    dense,
    first_best,
    run_starts,
    strengths,
    totals,
)
from pgs_neo4j.graph.recluster import recluster

ROOTS = 12
"""Maximum number of units to compare side by side. A level with at most this many units gets no
level above it.
"""

SHRINK = 0.8
"""A level with more than this share of the units below it nearly repeats them and is not made."""

GOAL = 0.25
"""Target size of a level, as a share of the units below; each unit then has about four children."""

TRIES = 8
"""Resolutions tried per level. Each try halves the remaining range on a log scale."""

NEAR = 0.1
"""The search ends at a level whose size differs from the goal by at most this share."""


def hierarchy(edges: Edges, labels: IntArray, community: IntArray) -> list[IntArray]:
    """Return, for each level, the position of each unit's parent in the level above.

    Array ``l`` is ``(k_l,)``, one entry per unit of level ``l``; the units above are numbered by
    their lowest unit. The list is empty with ``ROOTS`` units or fewer. ``labels`` ``(n,)`` are the
    partitions ``0 .. k-1``, and ``community`` ``(n,)`` the communities before the limits.

    The first level groups partitions by the community most of their nodes came from, if these
    communities are few enough. Ties go to the community with the lower first node. Further levels
    are modularity communities of the contracted graph at a falling resolution. Levels are added
    until at most ``ROOTS`` units are left, or until no resolution gives fewer units without joining
    all of them. A unit without edges stays alone. If all weights are zero, each edge weighs 1.
    """
    edges = counted(edges)
    levels: list[IntArray] = []
    quotient = contracted(edges, labels)
    strength = totals(labels, strengths(edges))
    step: IntArray | None
    step, ceiling = _find_origins(labels, dense(community)), math.inf
    if not _is_worthwhile(step):
        step, ceiling = _find_coarser_level(quotient, strength, ceiling)
    while quotient.node_count > ROOTS and step is not None:
        levels.append(step)
        quotient, strength = contracted(quotient, step), totals(step, strength)
        step, ceiling = _find_coarser_level(quotient, strength, ceiling)
    return levels


def _find_origins(labels: IntArray, community: IntArray) -> IntArray:
    """Return the community ``(k,)`` that most nodes of each partition came from.

    ``labels`` and ``community`` are ``(n,)``; results are numbered by the lowest partition.
    """
    count = int(community.max(initial=0)) + 1
    key = np.sort(labels * count + community)
    first = run_starts(key)
    shared = np.diff(np.append(first, key.size))
    partition, origin = np.divmod(key[first], count)
    best, _ = first_best(shared.astype(np.float64), partition, int(labels.max(initial=-1)) + 1)
    return dense(origin[best])


def _is_worthwhile(step: IntArray) -> bool:
    """Return whether a level has several units and is not nearly a copy of the level below."""
    units = int(step.max(initial=0)) + 1
    return 1 < units <= SHRINK * step.size


def _find_coarser_level(
    quotient: Edges, strength: FloatArray, ceiling: float
) -> tuple[IntArray | None, float]:
    """Return the next level and its resolution; None if no level qualifies.

    The resolution is below ``ceiling``. Of the levels tried, the level nearest to the goal in size
    wins. The search runs between two bounds. At the highest resolution, no two units join. At the
    lowest, each unit with an edge joins another.
    """
    reach = _find_joining_resolutions(quotient, strength)
    reach = reach[reach > 0]
    best: IntArray | None = None
    at, nearest = ceiling, math.inf
    if not reach.size:
        return best, at
    goal = max(GOAL * quotient.node_count, ROOTS)
    high = min(ceiling, float(reach.max()))
    low = min(high, float(reach.min())) / 2
    for _ in range(TRIES):
        resolution = math.sqrt(low * high)
        step = recluster(quotient, np.zeros_like(strength, dtype=np.int64), resolution, strength)
        units = int(step.max()) + 1
        away = abs(math.log(units / goal))
        if _is_worthwhile(step) and away < nearest:
            best, at, nearest = step, resolution, away
        if nearest <= NEAR:
            break
        low, high = (low, resolution) if units > goal else (resolution, high)
    return best, at


def _find_joining_resolutions(quotient: Edges, strength: FloatArray) -> FloatArray:
    """Return the resolution ``(k,)`` below which each unit gains by joining.

    It is the largest w 2m / k k' over the unit's neighbors.
    """
    tied = np.flatnonzero(quotient.weight > 0)
    source, target = quotient.source[tied], quotient.target[tied]
    ratio = quotient.weight[tied] / strength[source] * (strength.sum() / strength[target])
    reach = np.zeros(strength.size)
    np.maximum.at(reach, source, ratio)
    np.maximum.at(reach, target, ratio)
    return reach
