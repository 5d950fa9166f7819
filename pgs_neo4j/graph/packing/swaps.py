"""Moves and swaps nodes between bins while that keeps more edges inside.

This is a local search in the manner of Kernighan and Lin (1970), for bins of limited room. A node
goes to the bin with which it shares the most weight. If that bin is full, the node changes places
with the one there for which both together gain the most.
"""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.csr import FloatArray, IntArray, Rows, totals

SWEEPS = 12
"""Rounds over the nodes that would gain; most divisions settle in five."""


def improve_bins(table: Rows, size: IntArray, room: IntArray, bins: IntArray) -> IntArray:
    """Return bins ``(n,)`` with at least as much weight inside.

    ``size`` ``(n, d)`` is what each node takes of ``room`` ``(d,)``. No bin gets more than the
    room, except by what it had from the start.
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
            other = self._partner(node, target, gain[target])
            if other is not None:
                source = int(self.bins[node])
                self._move(node, target)
                self._move(other, source)
                return True
        return False

    def _partner(self, node: int, target: int, gain: float) -> int | None:
        """Return the best node of a bin to swap with; None without a gain."""
        source = self.bins[node]
        there = np.flatnonzero(self.bins == target)
        change = self._size[node] - self._size[there]
        fits = (self._used[target] + change <= self._room).all(axis=1)
        fits &= (self._used[source] - change <= self._room).all(axis=1)
        there = there[fits]
        if not there.size:
            return None
        both = gain + self.shared[there, source] - self.shared[there, target]
        both -= 2 * self._weights(node, there)
        best = int(np.argmax(both))
        return int(there[best]) if both[best] > 0 else None

    def _weights(self, node: int, others: IntArray) -> FloatArray:
        """Return the weight between a node and each of ``others`` ``(p,)``."""
        entry = slice(self._table.start[node], self._table.start[node + 1])
        neighbor, weight = self._table.neighbor[entry], self._table.weight[entry]
        place = np.minimum(np.searchsorted(neighbor, others), neighbor.size - 1)
        weights: FloatArray = np.where(neighbor[place] == others, weight[place], 0.0)
        return weights

    def _move(self, node: int, target: int) -> None:
        source = self.bins[node]
        entry = slice(self._table.start[node], self._table.start[node + 1])
        neighbor, weight = self._table.neighbor[entry], self._table.weight[entry]
        self.shared[neighbor, source] -= weight
        self.shared[neighbor, target] += weight
        self._used[source] -= self._size[node]
        self._used[target] += self._size[node]
        self.bins[node] = target
