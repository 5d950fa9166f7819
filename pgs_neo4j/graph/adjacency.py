"""Finds which partitions share relationships, and how many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.csr import Edges, FloatArray, IntArray, between, run_starts


@dataclass(frozen=True, slots=True, eq=False)
class Adjacency:
    """Neighbors of partitions, best first.

    The neighbors of partition ``p`` are the rows ``start[p] .. start[p + 1]``. ``start`` is ``(k +
    1,)``; ``neighbor``, ``edges``, and ``weight`` are ``(p,)``, one entry per partition and
    neighbor. ``edges`` counts shared relationships, parallel ones one by one; ``weight`` is their
    sum.
    """

    start: IntArray
    neighbor: IntArray
    edges: IntArray
    weight: FloatArray

    def of(self, label: int) -> list[tuple[int, int, float]]:
        """``(neighbor, edges, weight)`` of one label, best first."""
        rows = slice(int(self.start[label]), int(self.start[label + 1]))
        return list(
            zip(
                self.neighbor[rows].tolist(),
                self.edges[rows].tolist(),
                self.weight[rows].tolist(),
                strict=True,
            )
        )


def adjacency(edges: Edges, labels: IntArray, top: int | None = 5) -> Adjacency:
    """Return the ``top`` neighbors of each label by shared edges.

    None means all. ``labels`` ``(n,)`` count from 0. Ties go to the larger shared weight, then to
    the lower label. One pass over the edges.
    """
    cross = between(edges, labels)
    count = cross.node_count
    key = np.minimum(cross.source, cross.target) * count + np.maximum(cross.source, cross.target)
    order = np.argsort(key, kind="stable")
    first = run_starts(key[order])
    low, high = np.divmod(key[order[first]], max(count, 1))
    shared = np.diff(np.append(first, key.size))
    weight = np.add.reduceat(cross.weight[order], first) if first.size else cross.weight
    owner, neighbor = np.concatenate((low, high)), np.concatenate((high, low))
    shared, weight = np.tile(shared, 2), np.tile(weight, 2)
    best = np.lexsort((neighbor, -weight, -shared, owner))
    owner = owner[best]
    if top is not None:
        begin = run_starts(owner)
        place = np.arange(owner.size) - np.repeat(begin, np.diff(np.append(begin, owner.size)))
        best, owner = best[place < top], owner[place < top]
    start = np.searchsorted(owner, np.arange(count + 1))
    return Adjacency(start, neighbor[best], shared[best], weight[best])
