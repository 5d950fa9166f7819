"""Divides every community that is over the limits until each part fits.

If re-clustering finds no structure, groups are halved, many at once. The nodes of each group are
ordered by smoothing a fixed pseudo-random vector with the lazy random walk of the group. This
leaves the slow modes of the walk (an approximate Fiedler vector). The cut is the place in that
order with the best ratio cut (Hagen and Kahng 1992), within the middle half of the load. The
divisor of the ratio is the balance penalty.
"""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import (
    BoolArray,
    Edges,
    FloatArray,
    IntArray,
    Rows,
    dense,
    first_best,
    mixed,
    renumbered,
    rows,
    run_starts,
    totals,
    within,
)
from pgs_neo4j.graph.recluster import recluster

STUCK = 0.75
"""A part with more than this share of its community's load counts as nearly whole."""

STEPS = 30
"""Steps of the walk; enough to separate the two sides of a group that has sides."""

MIDDLE = 0.25
"""Each side gets at least this share of the group's load, if the nodes' own loads allow it."""


def split(
    edges: Edges,
    labels: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None = None,
) -> IntArray:
    """Return labels ``0 .. k-1`` that refine ``labels`` until parts are allowed.

    ``labels``, ``tokens``, and ``nodes`` (the nodes that each entry stands for, one by default) are
    ``(n,)``, and so is the result. A community that may not stay undivided (:meth:`Limits.stands`)
    is re-clustered with the edges inside it. A part that is still nearly the whole community is
    halved. This repeats until every part is a community that may stay undivided, or a half that
    fits. A node that alone exceeds the tokens becomes a separate part. All communities are divided
    at the same time.
    """
    parts, count = dense(labels), np.ones_like(labels) if nodes is None else nodes
    half = np.zeros(parts.size, dtype=np.bool_)
    if limits.max_tokens is not None:
        parts = _separate_giants(parts, tokens > limits.max_tokens)
    while True:
        sizes = sizes_of(parts, tokens, count)
        over = ~limits.stands(sizes.nodes, sizes.tokens)
        over[parts[half]] = ~limits.fits(sizes.nodes, sizes.tokens)[parts[half]]
        chosen = np.flatnonzero(over[parts])
        if not chosen.size:
            return parts
        edges = within(edges, parts, over)
        # Put members of one community side by side, so that neighbors are near in memory.
        chosen = chosen[np.argsort(parts[chosen], kind="stable")]
        divided, half[chosen] = _divide_groups(
            renumbered(edges, chosen), dense(parts[chosen]), tokens[chosen], count[chosen], limits
        )
        parts[chosen] = divided + sizes.nodes.size
        parts = dense(parts)


def _separate_giants(parts: IntArray, giant: BoolArray) -> IntArray:
    """Return the parts ``(n,)`` with each giant node as a separate part."""
    apart = parts.copy()
    apart[giant] = parts.size + np.arange(np.count_nonzero(giant))
    return dense(apart)


def _divide_groups(
    edges: Edges, group: IntArray, tokens: IntArray, count: IntArray, limits: Limits
) -> tuple[IntArray, BoolArray]:
    """Divide every group ``(n,)``; return the parts, and flag the nodes that are in halves.

    Both results are ``(n,)``. A part is never nearly the whole group, unless it may stay undivided.
    """
    parts = recluster(edges, group)
    sizes, whole = sizes_of(parts, tokens, count), sizes_of(group, tokens, count)
    owner = np.empty(sizes.nodes.size, dtype=np.int64)
    owner[parts] = group
    part_load = limits.load(sizes.nodes, sizes.tokens)
    stuck = part_load > STUCK * limits.load(whole.nodes, whole.tokens)[owner]
    # A half must fit the limits, so it is halved again even if a community of its size could stay
    # undivided.
    undivided = sizes.nodes == whole.nodes[owner]
    stuck &= undivided | ~limits.stands(sizes.nodes, sizes.tokens)
    half = stuck[parts]
    nodes = np.flatnonzero(half)
    if nodes.size:
        inner = renumbered(within(edges, parts, stuck), nodes)
        cost = limits.load(count[nodes], tokens[nodes])
        parts[nodes] += halve(inner, dense(parts[nodes]), cost) * sizes.nodes.size
    return parts, half


def halve(edges: Edges, group: IntArray, load: FloatArray) -> BoolArray:
    """Return the side ``(n,)`` of each node.

    Both sides of a group of two or more have nodes. ``group`` ``(n,)`` counts from 0, and ``edges``
    must not cross groups. ``load`` ``(n,)`` is the positive cost of each node; the sides get
    similar loads. Ties go to the lower index, so nodes without edges are divided in order.
    """
    if not group.size:
        return np.zeros(0, dtype=np.bool_)
    table = rows(edges)
    order = np.lexsort((_smooth_start(table, group), group))
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    first = run_starts(group[order])
    run = np.repeat(np.arange(first.size), np.diff(np.append(first, order.size)))
    balance = _cumulate_load(load[order], first, run)
    ends = place[edges.source], place[edges.target]
    low, high = np.minimum(*ends), np.maximum(*ends)
    n = order.size
    cut = np.cumsum(totals(low, edges.weight, n) - totals(high, edges.weight, n))
    whole = np.add.reduceat(totals(low, edges.weight, n), first)[run]
    score = -_penalize_cuts(cut, np.maximum(whole, np.finfo(np.float64).tiny), balance)
    last = np.append(first[1:], n) - 1
    score[last] = -np.inf
    best, _ = first_best(score, run, first.size)
    side: BoolArray = place > best[run][place]
    return side


def _smooth_start(table: Rows, group: IntArray) -> FloatArray:
    """Return the start vector ``(n,)`` after ``STEPS`` steps; a node without edges has 0."""
    n = group.size
    linked = np.flatnonzero(table.degree > 0)
    value = (mixed(np.arange(n), 0) >> np.uint64(11)).astype(np.float64) / 2.0**53 - 0.5
    value[table.degree == 0] = 0.0
    if not linked.size:
        return value
    # Each row is summed in the order of rows, so the sums are equal for any order of edges.
    begin = table.start[linked]
    strength = np.add.reduceat(table.weight, begin)
    strength[strength == 0] = 1.0
    size = np.bincount(group[linked], minlength=int(group.max()) + 1)
    for _ in range(STEPS):
        step = np.add.reduceat(table.weight * value[table.neighbor], begin) / strength
        value[linked] = (value[linked] + step) / 2
        mean = totals(group[linked], value[linked], size.size) / np.maximum(size, 1)
        value[linked] -= mean[group[linked]]
        peak = np.zeros(size.size)
        np.maximum.at(peak, group[linked], np.abs(value[linked]))
        value[linked] /= np.where(peak > 0, peak, 1.0)[group[linked]]
    return value


def _cumulate_load(load: FloatArray, first: IntArray, run: IntArray) -> FloatArray:
    """Return the share of its group's load up to and including each place, ``(n,)``."""
    before = np.cumsum(load) - load
    total = np.add.reduceat(load, first)
    share: FloatArray = (np.cumsum(load) - before[first][run]) / total[run]
    return share


def _penalize_cuts(cut: FloatArray, whole: FloatArray, balance: FloatArray) -> FloatArray:
    """Return the ratio cut ``(n,)`` of each place; places outside the middle get the worst values.

    The added 1e-3 keeps rounding from deciding between cuts near zero. All arrays are ``(n,)``.
    """
    even = balance * (1.0 - balance)
    inside = (balance >= MIDDLE) & (balance <= 1.0 - MIDDLE)
    ratio = (cut / whole + 1e-3) / np.where(inside, even, 1.0)
    return np.where(inside, ratio, 1e6 + np.abs(balance - 0.5))
