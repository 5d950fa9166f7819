"""Divides nodes among bins of limited room, so that as many edges as possible stay inside bins.

Several divisions are tried. One is passed by the caller. The others place whole sub-communities,
largest first, into the bin with which they share the most weight. The division with the most weight
inside bins wins.

Each division is improved by moves and swaps of single nodes, in a local search after Kernighan and
Lin (1970), adapted to bins of limited room. A node goes to the bin with which it shares the most
weight. If that bin is full, the node swaps places with the node there for which both together gain
the most.
"""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits
from pgs_neo4j.graph.csr import BoolArray, Edges, FloatArray, IntArray, Rows, dense, rows, totals
from pgs_neo4j.graph.split import split

GRAINS = (1.0, 0.125)
"""Maximum sizes of sub-communities that are placed whole, as shares of a bin. Large sub-communities
keep most edges inside. Small sub-communities fill the gaps, so that the last large ones need not be
torn.
"""

UNITS = 10_000
"""A bin has this many units when sub-communities are measured, since sizes are whole numbers."""

SWEEPS = 12
"""Maximum number of rounds over the nodes that would gain; most divisions settle in five."""


def fill_bins(edges: Edges, size: IntArray, room: IntArray, start: IntArray) -> IntArray:
    """Return the bin ``(n,)`` of each node, numbered by their lowest node.

    ``size`` ``(n, d)`` is the size of each node, and ``room`` ``(d,)`` the room of every bin.
    ``start`` ``(n,)`` are bins within the room. The result has no more bins than ``start``, and at
    least as much weight inside bins. It does not depend on the order of edges. On a tie, ``start``
    wins.
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
        placed = _place_communities(
            table, size, room, _find_communities(edges, share, grain), count
        )
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

    ``share`` ``(n,)`` is the share of a bin that each node takes.
    """
    parts = np.ceil(share * UNITS).astype(np.int64)
    limits = Limits(min_nodes=1, max_nodes=parts.size, max_tokens=int(grain * UNITS))
    return split(edges, np.zeros_like(parts), parts, limits)


def _place_communities(
    table: Rows, size: IntArray, room: IntArray, communities: IntArray, count: int
) -> IntArray | None:
    """Place communities ``(n,)`` into ``count`` bins, the largest first; return the bins ``(n,)``.

    A community that fits no bin is placed node by node. None if a node fits no bin.
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
            choice = _choose_bin(_sum_shared(table, group, bins, count), used, taken, room)
            if choice is None:
                return None
            bins[group] = choice
            used[choice] += taken
    return bins


def _choose_bin(shared: FloatArray, used: IntArray, taken: IntArray, room: IntArray) -> int | None:
    """Return the bin with the most weight ``shared`` ``(k,)`` that has room.

    ``used`` is ``(k, d)``; ``taken`` and ``room`` are ``(d,)``. Ties go to the emptiest bin, then
    to the first.
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


def improve_bins(table: Rows, size: IntArray, room: IntArray, bins: IntArray) -> IntArray:
    """Return ``bins`` ``(n,)`` after moves and swaps of nodes that add weight inside bins.

    ``size`` ``(n, d)`` is the size of each node, and ``room`` ``(d,)`` the room of every bin. No
    bin exceeds the room unless it did from the start.
    """
    search = _Search(table, size, room, bins)
    for _ in range(SWEEPS):
        gain = search.shared - search.own_shared()[:, None]
        nodes = np.flatnonzero(gain.max(axis=1) > 0)
        order = nodes[np.argsort(-gain[nodes].max(axis=1), kind="stable")]
        moves = [search.improve(node) for node in order.tolist()]
        if not any(moves):
            break
    return search.bins


class _Search:
    """Bins ``(n,)``, their used room ``(k, d)``, and weights shared ``(n, k)``."""

    def __init__(self, table: Rows, size: IntArray, room: IntArray, bins: IntArray) -> None:
        self.bins = bins.copy()
        self._table, self._size, self._room = table, size, room
        count = int(bins.max()) + 1
        self._used = np.zeros((count, room.size), dtype=np.int64)
        np.add.at(self._used, bins, size)
        owner = np.repeat(np.arange(bins.size), table.degree)
        cell = owner * count + bins[table.neighbor]
        shared = totals(cell, table.weight, bins.size * count)
        self.shared: FloatArray = shared.reshape(bins.size, count)

    def own_shared(self) -> FloatArray:
        """Return the weight ``(n,)`` that each node shares with its own bin."""
        own: FloatArray = self.shared[np.arange(self.bins.size), self.bins]
        return own

    def improve(self, node: int) -> bool:
        """Move or swap a node where it gains most; return whether it moved."""
        gain = self.shared[node] - self.shared[node, self.bins[node]]
        better = np.flatnonzero(gain > 0)
        for target in better[np.argsort(-gain[better], kind="stable")].tolist():
            if (self._used[target] + self._size[node] <= self._room).all():
                self._move(node, target)
                return True
            other = self._find_partner(node, target, gain[target])
            if other is not None:
                source = int(self.bins[node])
                self._move(node, target)
                self._move(other, source)
                return True
        return False

    def _find_partner(self, node: int, target: int, gain: float) -> int | None:
        """Return the node of bin ``target`` that gains most when swapped with ``node``.

        None if no swap gains.
        """
        source = self.bins[node]
        there = np.flatnonzero(self.bins == target)
        change = self._size[node] - self._size[there]
        fits = (self._used[target] + change <= self._room).all(axis=1)
        fits &= (self._used[source] - change <= self._room).all(axis=1)
        there = there[fits]
        if not there.size:
            return None
        both = gain + self.shared[there, source] - self.shared[there, target]
        both -= 2 * self._weigh_links(node, there)
        best = int(np.argmax(both))
        return int(there[best]) if both[best] > 0 else None

    def _weigh_links(self, node: int, others: IntArray) -> FloatArray:
        """Return the weight between a node and each of ``others`` ``(p,)``."""
        entry = slice(self._table.start[node], self._table.start[node + 1])
        neighbor, weight = self._table.neighbor[entry], self._table.weight[entry]
        place = np.minimum(np.searchsorted(neighbor, others), neighbor.size - 1)
        weights: FloatArray = np.where(neighbor[place] == others, weight[place], 0.0)
        return weights

    def _move(self, node: int, target: int) -> None:
        """Move a node to a bin, and update used room and shared weights."""
        source = self.bins[node]
        entry = slice(self._table.start[node], self._table.start[node + 1])
        neighbor, weight = self._table.neighbor[entry], self._table.weight[entry]
        self.shared[neighbor, source] -= weight
        self.shared[neighbor, target] += weight
        self._used[source] -= self._size[node]
        self._used[target] += self._size[node]
        self.bins[node] = target
