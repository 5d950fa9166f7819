"""Counts the relationships between partitions, and finds the nodes that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.csr import Edges, FloatArray, IntArray, between, run_starts

LEAST_EACH = 3  # nodes listed for each neighbor before any neighbor gets more


@dataclass(frozen=True, slots=True, eq=False)
class Adjacency:
    """Neighbors of partitions, best first.

    The neighbors of partition ``p`` are the rows ``start[p] .. start[p + 1]``. ``start`` is ``(k +
    1,)``; ``neighbor``, ``edges``, and ``weight`` are ``(p,)``, one entry per partition and
    neighbor. ``edges`` counts shared relationships, including each parallel one; ``weight`` is the
    sum of their weights.
    """

    start: IntArray
    neighbor: IntArray
    edges: IntArray
    weight: FloatArray

    def of(self, label: int) -> list[tuple[int, int, float]]:
        """Return ``(neighbor, edges, weight)`` of each neighbor of a label, best first."""
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

    If ``top`` is None, all neighbors are returned. ``labels`` ``(n,)`` count from 0. Ties go to the
    larger shared weight, then to the lower label.
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


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Nodes of neighboring partitions; all arrays are ``(r,)``.

    ``node`` is a member of the partition ``neighbor``. Relationships connect it with the partition
    ``owner``. Entries are in order of owner, then neighbor, then number of relationships, the most
    first.
    """

    owner: IntArray
    neighbor: IntArray
    node: IntArray


def reach(
    ends: tuple[IntArray, IntArray],
    labels: IntArray,
    rank: IntArray,
    listed: Sequence[tuple[int, int]],
    most: IntArray,
    most_each: int,
) -> Reached:
    """Return the neighboring nodes with the most relationships to each partition.

    ``ends`` are two arrays ``(m,)`` of nodes. ``labels`` ``(n,)`` are the partitions of the nodes,
    and ``rank`` ``(n,)`` the positions of the nodes in their partitions. Only the pairs of
    partition and neighbor in ``listed`` count. A partition gets at most ``most[partition]`` nodes
    in total, and at most ``most_each`` nodes of one neighbor. Ties go to the lower rank.
    """
    count, parts = len(labels), len(most)
    cross = labels[ends[0]] != labels[ends[1]]
    one, other = ends[0][cross], ends[1][cross]
    owners = np.concatenate((labels[one], labels[other]))
    pair, shared = np.unique(owners * count + np.concatenate((other, one)), return_counts=True)
    owner, node = np.divmod(pair, max(count, 1))
    pairs = np.array([own * parts + neighbor for own, neighbor in listed], np.int64)
    is_listed = np.isin(owner * parts + labels[node], pairs)
    owner, node, shared = owner[is_listed], node[is_listed], shared[is_listed]
    order = np.lexsort((node, rank[node], -shared, labels[node], owner))
    owner, node, shared = owner[order], node[order], shared[order]
    place = _rank_in_runs(owner * parts + labels[node])
    best = np.flatnonzero(place < most_each)
    # Each neighbor gets ``LEAST_EACH`` nodes before any neighbor gets more.
    is_extra = place[best] >= LEAST_EACH
    best = best[np.lexsort((rank[node[best]], -shared[best], is_extra, owner[best]))]
    best = np.sort(best[_rank_in_runs(owner[best]) < most[owner[best]]])
    return Reached(owner[best], labels[node[best]], node[best])


def _rank_in_runs(key: IntArray) -> IntArray:
    """Return the place of each entry in its run of equal keys, ``(p,)``."""
    starts = run_starts(key)
    return np.arange(key.size) - np.repeat(starts, np.diff(np.append(starts, key.size)))
