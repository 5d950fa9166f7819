"""Gathers the communities that no edge can place into pools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import BoolArray, IntArray, dense, run_starts

SPREAD_STEPS = 10
"""Power iterations per halving in :func:`similarity_order`; a rough axis is enough."""

SLACK = 1e-7
"""Tolerance, as a share of a box's load. Without it, rounding could move the end mark of a box by
one unit.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """Labels ``0 .. k-1`` ``(n,)`` and which of them are pools, ``(k,)``."""

    labels: IntArray
    pool: BoolArray


def pool(
    labels: IntArray,
    tokens: IntArray,
    limits: Limits,
    order: IntArray | None = None,
    nodes: IntArray | None = None,
) -> Pooled:
    """Join all small communities into as few pools as fit the limits.

    ``labels``, ``tokens``, and ``nodes`` (the nodes that each entry stands for) are ``(n,)``.
    ``order`` ``(n,)`` ranks the nodes so that similar ones are near each other; the default is the
    node index. A community takes the position of its first node and is never divided. A pool may be
    under the minimum. Raises ValueError when ``order`` is not one rank per node.
    """
    if order is not None and order.shape != labels.shape:
        raise ValueError(f"the pool order must have one rank for each of {labels.size} nodes")
    parts = dense(labels)
    sizes = sizes_of(parts, tokens, nodes)
    small = np.flatnonzero(limits.small(sizes.nodes, sizes.tokens))
    if not small.size:
        return Pooled(parts, np.zeros(sizes.nodes.size, dtype=np.bool_))
    if order is not None:
        first_rank = np.full(sizes.nodes.size, np.iinfo(np.int64).max)
        np.minimum.at(first_rank, parts, order)
        small = small[np.argsort(first_rank[small], kind="stable")]
    shelf = np.zeros(small.size, dtype=np.int64)
    joined = np.arange(sizes.nodes.size)
    joined[small] = sizes.nodes.size + boxes(sizes.nodes[small], sizes.tokens[small], shelf, limits)
    pooled = joined[parts]
    final = dense(pooled)
    flags = np.zeros(int(final.max()) + 1, dtype=np.bool_)
    flags[final[pooled >= sizes.nodes.size]] = True
    return Pooled(final, flags)


def boxes(nodes: IntArray, tokens: IntArray, shelf: IntArray, limits: Limits) -> IntArray:
    """Return the number ``0, 1, …`` of each unit's box, ``(u,)``.

    Units fill boxes in their order, evenly on each shelf. All arrays are ``(u,)``. ``shelf``
    ascends, and no box contains units of two shelves. No box exceeds the maximum unless a single
    unit does.
    """
    load = limits.load(nodes, tokens)
    first = run_starts(shelf)
    run = np.repeat(np.arange(first.size), np.diff(np.append(first, shelf.size)))
    total = np.add.reduceat(load, first)
    # The last unit of a box may begin just before its end mark, so leave room for one unit.
    room = 1.0 - SLACK - np.maximum.reduceat(load, first)
    count = np.where(total <= 1.0, 1.0, np.ceil(total / np.maximum(room, SLACK)))
    before = np.cumsum(load) - load
    before -= before[first][run]
    progress = before * (count / np.maximum(total, SLACK))[run]
    number = np.minimum(np.floor(progress + SLACK), count[run] - 1)
    return np.cumsum(np.diff(number + run * 2.0 * (count.max() + 1), prepend=-1.0) != 0) - 1


def similarity_order(features: NDArray[Any], leaf: int = 32) -> IntArray:
    """Return ranks ``(n,)`` that place rows of similar direction close together.

    ``features`` ``(n, d)`` can be embeddings; rows of zeros, NaN, or infinity come last. The rows
    are halved repeatedly along the principal direction (Boley 1998), down to ``leaf`` rows. Ties go
    by index. :func:`pool` accepts them as its ``order``.
    """
    rows = np.asarray(features, dtype=np.float32)
    length = np.linalg.norm(rows, axis=1)
    usable = np.flatnonzero(np.isfinite(length) & (length > 0))
    unit = rows[usable] / length[usable, None]
    pending = [(np.arange(usable.size), np.zeros(unit.shape[1], dtype=np.float32))]
    done = []
    while pending:
        block, above = pending.pop()
        axis = _find_axis(unit[block])
        # Sort in the direction of the block above, so that similar rows meet where its two halves
        # join.
        along = axis if float(axis @ above) >= 0 else -axis
        block = block[np.argsort(unit[block] @ along, kind="stable")]
        if block.size <= max(leaf, 1):
            done.append(usable[block])
        else:
            middle = block.size // 2
            pending += [(block[middle:], along), (block[:middle], along)]
    blank = np.setdiff1d(np.arange(length.size), usable)
    rank = np.empty(length.size, dtype=np.int64)
    rank[np.concatenate((*done, blank))] = np.arange(length.size)
    return rank


def _find_axis(unit: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the direction ``(d,)`` in which the rows ``(k, d)`` spread most."""
    if len(unit) < 2:
        return np.zeros(unit.shape[1], dtype=np.float32)
    centered = unit - unit.mean(axis=0)
    # Begin with the row farthest from the mean: it cannot be orthogonal to every direction of
    # spread.
    axis = centered[np.argmax(np.einsum("ij,ij->i", centered, centered))]
    for _ in range(SPREAD_STEPS):
        axis = centered.T @ (centered @ axis)
        axis = axis / max(float(np.linalg.norm(axis)), 1e-30)
    direction: NDArray[np.float32] = axis
    return direction
