"""Divides nodes among bins of limited room, so that edges stay inside.

Several divisions are tried. One is the caller's, the others place whole sub-communities, the
largest first, into the bin with which they share the most weight. Each is improved by moves and
swaps of single nodes (:mod:`pgs_neo4j.graph.packing.swaps`). The one with the most weight inside
wins.
"""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import BoolArray, Edges, FloatArray, IntArray, Rows, dense, rows, totals
from pgs_neo4j.graph.packing.swaps import improve_bins
from pgs_neo4j.graph.split import split

GRAINS = (1.0, 0.125)
"""Largest sub-communities that are placed whole, as shares of a bin. Large ones keep most edges;
small ones fill bins that would otherwise tear the last large ones."""

UNITS = 10_000
"""Parts of a bin in which sub-communities are measured."""


def fill_bins(edges: Edges, size: IntArray, room: IntArray, start: IntArray) -> IntArray:
    """Return the bin ``(n,)`` of each node, numbered by their lowest node.

    ``size`` ``(n, d)`` is what a node takes of ``room`` ``(d,)``, which every bin has. ``start``
    ``(n,)`` are bins within the room. The result has no more bins, and no less weight inside. It
    does not depend on the order of edges. On a tie the start wins.
    """
    bins = dense(start)
    if not edges.source.size or not bins.any():
        return bins
    table = rows(edges)
    count = int(bins.max()) + 1
    share = (size / room).max(axis=1)
    best = improve_bins(table, size, room, bins)
    most = weight_inside(edges, best)
    for grain in GRAINS:
        placed = _place(table, size, room, _find_communities(edges, share, grain), count)
        if placed is None:
            continue
        placed = improve_bins(table, size, room, placed)
        if (weight := weight_inside(edges, placed)) > most:
            best, most = placed, weight
    return dense(best) if most > weight_inside(edges, bins) else bins


def weight_inside(edges: Edges, bins: IntArray) -> float:
    """Return the weight of the edges whose ends share a bin ``(n,)``."""
    return float(edges.weight[bins[edges.source] == bins[edges.target]].sum())


def _find_communities(edges: Edges, share: FloatArray, grain: float) -> IntArray:
    """Return sub-communities ``(n,)`` of at most ``grain`` bins.

    ``share`` ``(n,)`` is what each node takes of a bin.
    """
    parts = np.ceil(share * UNITS).astype(np.int64)
    limits = Limits(min_nodes=1, max_nodes=parts.size, max_tokens=int(grain * UNITS))
    return split(edges, np.zeros_like(parts), parts, limits)


def _place(
    table: Rows, size: IntArray, room: IntArray, communities: IntArray, count: int
) -> IntArray | None:
    """Place communities ``(n,)`` into ``count`` bins, the largest first.

    One that fits no bin is placed node by node. None if a node fits no bin.
    """
    sizes = np.stack([totals(communities, column) for column in size.T], axis=1).astype(np.int64)
    members = np.split(np.argsort(communities, kind="stable"), np.bincount(communities).cumsum())
    bins = np.full(communities.size, -1)
    used = np.zeros((count, room.size), dtype=np.int64)
    for community in np.argsort(-(sizes / room).max(axis=1), kind="stable").tolist():
        whole = members[community]
        groups = [whole]
        if not _fits(used, sizes[community], room).any():
            groups = [*whole.reshape(-1, 1)]
        for group in groups:
            taken = size[group].sum(axis=0)
            choice = _choose(_sum_shared(table, group, bins, count), used, taken, room)
            if choice is None:
                return None
            bins[group] = choice
            used[choice] += taken
    return bins


def _choose(shared: FloatArray, used: IntArray, taken: IntArray, room: IntArray) -> int | None:
    """Return the bin with the most weight ``shared`` ``(k,)`` that has room.

    ``used`` is ``(k, d)``; ``taken`` and ``room`` are ``(d,)``. On a tie the emptiest bin is taken,
    then the first one.
    """
    fitting = np.flatnonzero(_fits(used, taken, room))
    if not fitting.size:
        return None
    best = fitting[shared[fitting] == shared[fitting].max()]
    return int(best[np.argmin((used[best] / room).max(axis=1))])


def _fits(used: IntArray, taken: IntArray, room: IntArray) -> BoolArray:
    """Return whether ``taken`` ``(d,)`` fits each bin ``(k,)`` beside ``used`` ``(k, d)``."""
    fits: BoolArray = np.all(used + taken <= room, axis=1)
    return fits


def _sum_shared(table: Rows, nodes: IntArray, bins: IntArray, count: int) -> FloatArray:
    """Return the weight ``(count,)`` between ``nodes`` ``(p,)`` and each bin.

    Nodes without a bin have -1 in ``bins`` ``(n,)``.
    """
    shared = np.zeros(count)
    for node in nodes.tolist():
        entry = slice(table.start[node], table.start[node + 1])
        placed = bins[table.neighbor[entry]]
        shared += totals(placed[placed >= 0], table.weight[entry][placed >= 0], count)
    return shared
