"""Undirected weighted edges as arrays, and the counting functions that all steps share.

Nodes are the indices ``0 .. n-1``. Weights are rounded once to multiples of a common power of two,
about 2**-29 of the largest for ten million edges. From then on every sum of weights is exact in
float64, so no result depends on the order in which a store returned its rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

FLOAT_BITS = 53
"""Significant bits of a float64."""


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Undirected edges ``(m,)`` without self-loops; parallel edges stay and add up.

    Create them with :func:`undirected`. ``self_loops`` counts the self-loops that were left out.
    """

    node_count: int
    source: IntArray
    target: IntArray
    weight: FloatArray
    self_loops: int = 0

    @property
    def total(self) -> float:
        """Sum of all weights."""
        return float(self.weight.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The edges of each node, in ascending order of the neighbor.

    The edges of ``u`` are the entries ``start[u] .. start[u + 1]``; ``start`` is ``(n + 1,)``,
    ``neighbor`` and ``weight`` are ``(p,)``. Each edge appears in the rows of both its ends, and
    parallel edges are merged.
    """

    start: IntArray
    neighbor: IntArray
    weight: FloatArray

    @property
    def degree(self) -> IntArray:
        """Distinct neighbors of each node, ``(n,)``."""
        return np.diff(self.start)


def undirected(
    node_count: int,
    source: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any] | None = None,
) -> Edges:
    """Check an edge list ``(m,)`` and make its sums exact.

    ``source`` and ``target`` are converted to int64, ``weight`` to float64. Without ``weight``
    each edge weighs 1.
    Raises ValueError when the arrays differ in length, an index is out of range, or a weight is
    negative, NaN, infinite, or too large to be summed. Callers clean such weights first.
    """
    source = np.asarray(source, dtype=np.int64)
    target = np.asarray(target, dtype=np.int64)
    weight = np.ones(source.size) if weight is None else np.asarray(weight, dtype=np.float64)
    if not source.shape == target.shape == weight.shape == (source.size,):
        raise ValueError("source, target and weight must be flat arrays of one length")
    for ends in (source, target):
        if ends.size and (ends.min() < 0 or ends.max() >= node_count):
            raise ValueError(f"an edge ends outside the {node_count} nodes")
    loops = source == target
    self_loops = int(np.count_nonzero(loops))
    if self_loops:
        source, target, weight = source[~loops], target[~loops], weight[~loops]
    return Edges(node_count, source, target, _round_weights(weight), self_loops)


def join(edges: Edges, others: Edges) -> Edges:
    """Join the edges of two graphs with the same nodes into one graph."""
    return undirected(
        edges.node_count,
        np.concatenate((edges.source, others.source)),
        np.concatenate((edges.target, others.target)),
        np.concatenate((edges.weight, others.weight)),
    )


def _round_weights(weight: FloatArray) -> FloatArray:
    """Round weights ``(m,)`` to multiples of one power of two, so that sums are exact.

    Even twice their sum is then exact. Raises ValueError for weights that cannot be summed.
    """
    if not weight.size:
        return weight
    largest = float(weight.max())
    if not (weight.min() >= 0 and math.isfinite(2 * largest * weight.size)):
        raise ValueError("a weight is negative, not a number, or too large to be summed")
    bits = math.frexp(largest)[1] + weight.size.bit_length() + 1 - FLOAT_BITS
    quantum = max(math.ldexp(1.0, bits), math.ulp(0.0))
    exact: FloatArray = np.rint(weight / quantum) * quantum
    return exact


def within(edges: Edges, labels: IntArray, chosen: BoolArray) -> Edges:
    """Return the edges whose two ends have the same label, for the ``chosen`` labels.

    ``labels`` is ``(n,)``; ``chosen`` ``(k,)`` flags labels. Edges stay in their order.
    """
    label = labels[edges.source]
    keep = np.flatnonzero((label == labels[edges.target]) & chosen[label])
    return Edges(edges.node_count, edges.source[keep], edges.target[keep], edges.weight[keep])


def between(edges: Edges, labels: IntArray) -> Edges:
    """Return the edges between nodes of different labels, as edges between these labels.

    ``labels`` ``(n,)`` count from 0; the number of labels becomes ``node_count``. Edges stay in
    order.
    """
    source, target = labels[edges.source], labels[edges.target]
    cross = source != target
    count = int(labels.max()) + 1 if labels.size else 0
    return Edges(count, source[cross], target[cross], edges.weight[cross])


def contracted(edges: Edges, labels: IntArray) -> Edges:
    """Return the edges between labels ``(n,)``, with parallel edges summed.

    Each edge runs from the lower label to the higher. Edges are sorted by the lower label, then by
    the higher.
    """
    cross = between(edges, labels)
    count = cross.node_count
    key = np.minimum(cross.source, cross.target) * count + np.maximum(cross.source, cross.target)
    order = np.argsort(key)
    first, weight = sum_runs(key[order], cross.weight[order])
    source, target = np.divmod(key[order[first]], max(count, 1))
    return Edges(count, source, target, weight)


def counted(edges: Edges) -> Edges:
    """Return the edges, with all weights set to 1 if all are zero."""
    if edges.weight.any():
        return edges
    return replace(edges, weight=np.ones(edges.weight.size))


def renumbered(edges: Edges, nodes: IntArray) -> Edges:
    """Return the edges with each end replaced by its position in ``nodes``.

    ``nodes`` ``(k,)`` are distinct, and no edge may end outside them.
    """
    place = np.empty(edges.node_count, dtype=np.int64)
    place[nodes] = np.arange(nodes.size)
    return Edges(nodes.size, place[edges.source], place[edges.target], edges.weight)


def strengths(edges: Edges) -> FloatArray:
    """Return the sum of the weights at each node, ``(n,)``."""
    n = edges.node_count
    return totals(edges.source, edges.weight, n) + totals(edges.target, edges.weight, n)


def totals(labels: IntArray, values: NDArray[Any], count: int = 0) -> FloatArray:
    """Return the sum of ``values`` ``(n,)`` per label, ``(k,)``.

    The result has at least ``count`` entries. ``labels`` ``(n,)`` count from 0.
    """
    # Without the cast, numpy returns integers for empty arrays.
    return np.bincount(labels, values, count).astype(np.float64, copy=False)


def rows(edges: Edges) -> Rows:
    """Return the edges by node."""
    owner = np.concatenate((edges.source, edges.target))
    neighbor = np.concatenate((edges.target, edges.source))
    weight = np.concatenate((edges.weight, edges.weight))
    return summed_rows(owner, neighbor, weight, edges.node_count)


def summed_rows(owner: IntArray, neighbor: IntArray, weight: FloatArray, count: int) -> Rows:
    """Return rows of ``count`` owners from entries ``(p,)`` in any order.

    Entries of the same owner and neighbor are summed.
    """
    key = owner * count + neighbor
    # Equal keys are summed, so their order does not matter. The default sort is not stable, but
    # it uses SIMD.
    order = np.argsort(key)
    first, total = sum_runs(key[order], weight[order])
    entry = order[first]
    return Rows(starts(owner[entry], count), neighbor[entry], total)


def starts(owner: IntArray, count: int) -> IntArray:
    """Return where each owner begins in an ascending array, ``(count + 1,)``.

    ``owner`` ``(p,)`` contains numbers below ``count``.
    """
    start = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=start[1:])
    return start


def sum_runs(key: IntArray, weight: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the first position and the total weight of each run of equal keys.

    ``key`` and ``weight`` are ``(p,)``; both results are ``(r,)``, one entry per run.
    """
    first = run_starts(key)
    return first, (np.add.reduceat(weight, first) if first.size else weight)


def run_sums(values: IntArray, run: IntArray) -> IntArray:
    """Return cumulative sums of ``values`` within each run of equal numbers in ``run``.

    ``values``, ``run``, and the result are ``(p,)``.
    """
    total = np.cumsum(values)
    first = run_starts(run)
    before = (total - values)[first]
    running: IntArray = total - np.repeat(before, np.diff(np.append(first, run.size)))
    return running


def run_starts(key: IntArray) -> IntArray:
    """Return the first positions ``(r,)`` of equal runs in ``key`` ``(p,)``."""
    if not key.size:
        return np.empty(0, dtype=np.int64)
    changes = np.empty(key.size, dtype=np.bool_)
    changes[0] = True
    np.not_equal(key[1:], key[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def entries(start: IntArray, nodes: IntArray) -> tuple[IntArray, IntArray]:
    """Return positions ``(p,)`` of all row entries of ``nodes``, and their owners.

    ``nodes`` is ``(k,)``; an owner ``(p,)`` is a position in ``nodes``.
    """
    count = start[nodes + 1] - start[nodes]
    owner = np.repeat(np.arange(nodes.size), count)
    offset = start[nodes] - (np.cumsum(count) - count)
    return np.arange(owner.size) + offset[owner], owner


def dense(labels: IntArray) -> IntArray:
    """Return labels ``(n,)`` renumbered ``0 .. k-1`` by their lowest node."""
    if not labels.size:
        return np.empty(0, dtype=np.int64)
    low, high = int(labels.min()), int(labels.max())
    if high - low > 8 * labels.size:
        labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
        low, high = 0, int(labels.max())
    first = np.full(high - low + 1, -1, dtype=np.int64)
    # The last of several writes to one place wins, so write from the end.
    first[labels[::-1] - low] = np.arange(labels.size - 1, -1, -1)
    used = np.flatnonzero(first >= 0)
    rank = first
    rank[used[np.argsort(first[used])]] = np.arange(used.size)
    renumbered: IntArray = rank[labels - low]
    return renumbered


def mixed(values: IntArray, salt: int) -> NDArray[np.uint64]:
    """Return a fixed pseudo-random number ``(n,)`` for each value ``(n,)``.

    Method: the finalizer of SplitMix64 (Steele 2014). ``salt`` selects the sequence.
    """
    with np.errstate(over="ignore"):
        x = values.astype(np.uint64) + np.uint64((salt + 1) * 0x9E3779B97F4A7C15 % 2**64)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def first_best(score: FloatArray, place: IntArray, count: int) -> tuple[IntArray, FloatArray]:
    """Return the position and the value of each place's greatest score, both ``(count,)``.

    ``score`` and ``place`` are ``(p,)``; ``place`` ascends. The first of equal scores wins. A place
    without a score gets position 0 and minus infinity.
    """
    best = np.zeros(count, dtype=np.int64)
    top = np.full(count, -np.inf)
    first = run_starts(place)
    if first.size:
        top[place[first]] = np.maximum.reduceat(score, first)
        # The last of several writes to one place wins, so write the first hit last.
        hit = np.flatnonzero(score == top[place])[::-1]
        best[place[hit]] = hit
    return best, top
