"""Matches the partitions of a new generation with the old partitions they continue.

The result assigns partitions to partitions, at most one to one, with the largest total overlap.
Matches are defined so narrowly that they form a forest. On a forest, one pass up and one pass down
find the best assignment exactly, for all trees at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgs_neo4j.graph.csr import BoolArray, IntArray, first_best, run_starts

HALF = 2
"""Two partitions match only if they share at least one half (one in ``HALF``) of the nodes of one
of them. With less than half of both, a name would lose most of its old nodes and mostly describe
new nodes.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Partitions as a forest; the parent of a partition is the partition that it names.

    Old partitions come first, then new ones. All arrays are ``(p,)``. A root is its own ``parent``
    and has ``depth`` 0. ``overlap`` is the overlap with the parent. Children of old partitions are
    new, and vice versa.
    """

    parent: IntArray
    overlap: IntArray
    depth: IntArray


def inherited(old: IntArray, new: IntArray, old_sizes: IntArray, new_sizes: IntArray) -> IntArray:
    """Return the old partition that each new one continues, ``(new_count,)``, or -1.

    ``old`` and ``new`` ``(n,)`` are the labels, from 0, of the nodes in both generations;
    ``old_sizes`` and ``new_sizes`` ``(k,)`` count all nodes of each partition. Every partition
    names the partition of the other generation that contains at least half of its nodes, if there
    is one. If two partitions contain exactly half each, it names the one with the lower label. Two
    partitions match if either names the other. The result has the largest sum of overlaps of all
    assignments of each old partition to at most one new partition. Ties go to the match that a
    partition named itself, then to the lower label.

    Why this is exact without a matrix: each partition names at most one other. If i names j and j
    names k, then i has at most the other half of j. So the overlap of j with k is at least the
    overlap of i with j, and around a circle of names all overlaps would be equal. Each partition
    would then consist of two exact halves and name the lower label, but labels cannot fall all the
    way around a circle. Except for pairs that name each other, there are no circles: the matches
    are a forest. Raises ValueError when labels differ in length, or a partition is smaller than its
    labels say.
    """
    for labels, sizes in ((old, old_sizes), (new, new_sizes)):
        counts = np.bincount(labels, minlength=sizes.size)
        if counts.size > sizes.size or (counts > sizes).any():
            raise ValueError("a partition has more common nodes than its size; check the sizes")
    if old.shape != new.shape:
        raise ValueError("old and new must hold one label each for the same nodes")
    forest = _build_forest(old, new, old_sizes, new_sizes)
    child = np.flatnonzero(_choose_matches(forest))
    above = forest.parent[child]
    heirs: IntArray = np.full(new_sizes.size, -1, dtype=np.int64)
    heirs[np.maximum(child, above) - old_sizes.size] = np.minimum(child, above)
    return heirs


def _build_forest(old: IntArray, new: IntArray, old_sizes: IntArray, new_sizes: IntArray) -> Forest:
    """Return the forest in which each partition is below the partition that it names.

    Arguments are as in :func:`inherited`.
    """
    key = np.sort(old * new_sizes.size + new)
    first = run_starts(key)
    overlap = np.diff(np.append(first, key.size))
    left, right = np.divmod(key[first], max(new_sizes.size, 1))
    right += old_sizes.size
    parent = np.arange(old_sizes.size + new_sizes.size)
    weight = np.zeros(parent.size, dtype=np.int64)
    size = np.concatenate((old_sizes, new_sizes))
    for namer, named in ((left, right), (right, left)):
        half = np.flatnonzero(HALF * overlap >= size[namer])[::-1]
        # The last of several writes to one place wins, so write the lowest label last.
        parent[namer[half]], weight[namer[half]] = named[half], overlap[half]
    # Of two partitions that name each other, the old partition is the root.
    mutual = np.flatnonzero(parent[parent[: old_sizes.size]] == np.arange(old_sizes.size))
    parent[mutual] = mutual
    return Forest(parent, weight, _count_depths(parent))


def _count_depths(parent: IntArray) -> IntArray:
    """Return steps ``(p,)`` from each node to its root, by doubling jumps."""
    depth: IntArray = (parent != np.arange(parent.size)).astype(np.int64)
    jump = parent
    while (further := depth[jump]).any():
        depth += further
        jump = jump[jump]
    return depth


def _choose_matches(forest: Forest) -> BoolArray:
    """Return which nodes ``(p,)`` to match with their parents for the largest total overlap.

    ``worth`` is the gain of a subtree whose root may be matched with one of its children. It is the
    best overlap with a child, minus the worth of that child.
    """
    n = forest.parent.size
    order = np.lexsort((np.arange(n), forest.parent, forest.depth))
    level = np.split(order, np.cumsum(np.bincount(forest.depth))[:-1])[1:]
    worth = np.zeros(n, dtype=np.int64)
    chosen = np.zeros(n, dtype=np.bool_)
    for child in level[::-1]:
        gain = (forest.overlap[child] - worth[child]).astype(np.float64)
        first = run_starts(forest.parent[child])
        run = np.repeat(np.arange(first.size), np.diff(np.append(first, child.size)))
        best, top = first_best(gain, run, first.size)
        chosen[child[best]] = top >= 0
        worth[forest.parent[child[first]]] = np.maximum(top, 0)
    for child in level:
        chosen[child] &= ~chosen[forest.parent[child]]
    return chosen
