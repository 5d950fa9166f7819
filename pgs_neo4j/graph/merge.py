"""Joins each community below the minimum with its most closely connected neighbor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.bounds import Limits, Sizes, sizes_of
from pgs_neo4j.graph.csr import (
    BoolArray,
    Edges,
    FloatArray,
    IntArray,
    between,
    dense,
    first_best,
    mixed,
    run_sums,
    strengths,
    sum_runs,
    totals,
)
from pgs_neo4j.graph.pool import boxes

TINY = float(np.finfo(np.float64).tiny)
"""Replaces a total weight of zero, to avoid a division by zero; every strength is then zero."""


@dataclass(frozen=True, slots=True, eq=False)
class Ties:
    """Weight that a small community shares with each neighbor, all ``(p,)``.

    Entries ascend by community, then by neighbor.
    """

    small: IntArray
    neighbor: IntArray
    weight: FloatArray


def merge(
    edges: Edges,
    labels: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None = None,
) -> IntArray:
    """Return labels ``0 .. k-1`` after joining small communities to their neighbors.

    ``labels``, ``tokens``, and ``nodes`` (the nodes that each entry stands for) are ``(n,)``, and
    so is the result. Smallest first, each community joins the neighbor whose shared weight w most
    exceeds the weight expected by chance: w - k k' / 2m. This costs the least modularity, and a
    large neighbor does not attract everything. Ties go to the lower label. No join exceeds the
    maximum. Communities that stay small have no neighbor with room.
    """
    parts = dense(labels)
    sizes = sizes_of(parts, tokens, nodes)
    strength = totals(parts, strengths(edges))
    touching = _select_touching(edges, parts, limits.small(sizes.nodes, sizes.tokens))
    merged = np.arange(sizes.nodes.size)
    while True:
        small, target = _find_wishes(touching, sizes, strength, limits)
        small, target = _accept_wishes(small, target, sizes, limits)
        if not small.size:
            return dense(merged[parts])
        step = np.arange(sizes.nodes.size)
        step[small] = target
        merged = step[merged]
        sizes = Sizes(_sum_joined(sizes.nodes, step), _sum_joined(sizes.tokens, step))
        strength = totals(step, strength, step.size)
        touching = between(touching, step)


def join_siblings(
    edges: Edges,
    labels: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None = None,
) -> IntArray:
    """Return labels ``0 .. k-1`` with small communities joined around shared neighbors.

    ``labels``, ``tokens``, and ``nodes`` (the nodes that each entry stands for) are ``(n,)``, and
    so is the result. This is for communities that :func:`merge` leaves small because their
    neighbors are full, such as thousands of leaves around one hub. No join exceeds the maximum.
    """
    parts = dense(labels)
    sizes = sizes_of(parts, tokens, nodes)
    small = limits.small(sizes.nodes, sizes.tokens)
    ties = _sum_ties(_select_touching(edges, parts, small), small)
    best, top = first_best(ties.weight, ties.small, small.size)
    hanging = np.flatnonzero(top > -np.inf)
    if not hanging.size:
        return parts
    hub = ties.neighbor[best[hanging]]
    hanging = hanging[np.argsort(hub, kind="stable")]
    box = boxes(sizes.nodes[hanging], sizes.tokens[hanging], np.sort(hub), limits)
    joined = np.arange(small.size)
    joined[hanging] = hanging[np.flatnonzero(np.diff(box, prepend=-1))][box]
    return dense(joined[parts])


def _select_touching(edges: Edges, parts: IntArray, small: BoolArray) -> Edges:
    """Return the edges between parts that touch a small part.

    Merging needs no other edges. ``parts`` is ``(n,)``, ``small`` ``(k,)``.
    """
    cross = between(edges, parts)
    keep = small[cross.source] | small[cross.target]
    return Edges(small.size, cross.source[keep], cross.target[keep], cross.weight[keep])


def _sum_ties(touching: Edges, small: BoolArray) -> Ties:
    """Return the weight that small communities ``(k,)`` share with each neighbor."""
    out, back = small[touching.source], small[touching.target]
    owner = np.concatenate((touching.source[out], touching.target[back]))
    other = np.concatenate((touching.target[out], touching.source[back]))
    weight = np.concatenate((touching.weight[out], touching.weight[back]))
    key = owner * small.size + other
    order = np.argsort(key, kind="stable")
    first, shared = sum_runs(key[order], weight[order])
    return Ties(owner[order[first]], other[order[first]], shared)


def _find_wishes(
    touching: Edges, sizes: Sizes, strength: FloatArray, limits: Limits
) -> tuple[IntArray, IntArray]:
    """Return small communities with their preferred neighbor, if any has room.

    Both results are ``(s,)``.
    """
    ties = _sum_ties(touching, limits.small(sizes.nodes, sizes.tokens))
    nodes = sizes.nodes[ties.small] + sizes.nodes[ties.neighbor]
    room = limits.fits(nodes, sizes.tokens[ties.small] + sizes.tokens[ties.neighbor])
    chance = strength[ties.small] * (strength[ties.neighbor] / max(float(strength.sum()), TINY))
    best, top = first_best(np.where(room, ties.weight - chance, -np.inf), ties.small, strength.size)
    wishing = np.flatnonzero(top > -np.inf)
    return wishing, ties.neighbor[best[wishing]]


def _accept_wishes(
    small: IntArray, target: IntArray, sizes: Sizes, limits: Limits
) -> tuple[IntArray, IntArray]:
    """Return the wishes that can be granted at the same time.

    All arrays are ``(s,)``. No community joins another that is itself moving: a community waits
    while a smaller one is about to join it, and joins only a community that is larger or at rest.
    Ties are ordered pseudo-randomly, so that a chain resolves in few rounds.
    """
    none = np.iinfo(np.int64).max
    rank = np.full(sizes.nodes.size, none)
    rank[small[np.lexsort((mixed(small, 0), sizes.nodes[small]))]] = np.arange(small.size)
    first_suitor = np.full(sizes.nodes.size, none)
    np.minimum.at(first_suitor, target, rank[small])
    moves = (rank[small] < first_suitor[small]) & (rank[small] < rank[target])
    small, target = small[moves], target[moves]
    order = np.lexsort((rank[small], target))
    small, target = small[order], target[order]
    room = limits.fits(
        sizes.nodes[target] + run_sums(sizes.nodes[small], target),
        sizes.tokens[target] + run_sums(sizes.tokens[small], target),
    )
    return small[room], target[room]


def _sum_joined(values: IntArray, step: IntArray) -> IntArray:
    """Return ``values`` ``(k,)`` summed by the targets ``step`` ``(k,)`` of the communities."""
    return totals(step, values, step.size).astype(np.int64)
