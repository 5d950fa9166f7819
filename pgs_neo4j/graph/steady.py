"""Keeps partitions what they were, where that is as good as new ones."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import Edges, IntArray, dense
from pgs_neo4j.graph.limits import Limited, apply_limits
from pgs_neo4j.graph.quality import modularity

WORTH = 0.01
"""Share of the modularity that must be gained before nodes change their partition. With a
hundredth of the relationships rewired there is 0.0015 to be gained on lfr_1e5, and 0.005 on
sbm_1e5, where partitions from nothing are no better than those that stayed."""


def steady(
    edges: Edges,
    labels: IntArray,
    previous: IntArray,
    bound: IntArray,
    tokens: IntArray,
    limits: Limits,
) -> Limited:
    """Communities within limits, or the partitions before when these are about as good.

    ``labels`` ``(n,)`` are communities that grew from the partitions before, ``previous``
    ``(n,)`` those partitions, -1 for a node that had none, and ``bound`` the same with -1 for
    what was in a pool. Each partition that is kept keeps its place in a reader's memory, and
    costs nothing to write; so nodes move only when all moves together are worth it.
    """
    moved = apply_limits(edges, steadied(labels, previous, tokens, limits), tokens, limits)
    stayed = apply_limits(edges, staying(moved.unpooled, bound), tokens, limits)
    reached, kept = modularity(edges, moved.labels), modularity(edges, stayed.labels)
    return stayed if reached - kept <= WORTH * abs(reached) else moved


def steadied(labels: IntArray, previous: IntArray, tokens: IntArray, limits: Limits) -> IntArray:
    """Labels ``0 .. k-1``, with every community that may not stand cut along ``previous``.

    ``previous`` ``(n,)`` are the partitions of a generation before, -1 for a node that had
    none. Cut anew, such a community could fall apart elsewhere each time, and its parts would
    lose their identity for nothing. Nodes that had no partition become parts of their own, for
    the merge to place. A part that is still too large is left to the split.
    """
    parts = dense(labels)
    sizes = sizes_of(parts, tokens)
    cut = ~limits.stands(sizes.nodes, sizes.tokens)[parts]
    if not cut.any():
        return parts
    before = dense(
        np.where(previous < 0, previous.max(initial=0) + 1 + np.arange(parts.size), previous)
    )
    pair = parts * (int(before.max()) + 1) + before
    return dense(np.where(cut, pair + parts.size, parts))


def staying(labels: IntArray, previous: IntArray) -> IntArray:
    """Labels ``0 .. k-1``: every node where it was in ``previous``.

    A node that was nowhere (-1) goes where most others of its community (``labels``) were, the
    lowest of equals; where none of them was anywhere, the community stands for itself.
    """
    known = previous >= 0
    count = int(previous.max(initial=-1)) + 1
    home = count + labels
    if known.any():
        pair, members = np.unique(labels[known] * count + previous[known], return_counts=True)
        order = np.lexsort((pair, -members))
        community, first = np.unique(pair[order] // count, return_index=True)
        main = np.full(int(labels.max()) + 1, -1, dtype=np.int64)
        main[community] = pair[order][first] % count
        home = np.where(main[labels] >= 0, main[labels], home)
    return dense(np.where(known, previous, home))


def unchanged(labels: IntArray, previous: IntArray, sizes: IntArray) -> IntArray:
    """Which partition before has exactly the same nodes, for each label ``(k,)``; -1 for none.

    ``labels`` ``(n,)`` count from 0 without a gap, ``previous`` ``(n,)`` are the partitions
    before, -1 for a node that had none, and ``sizes`` how many nodes each of those had, those
    that are gone among them.
    """
    count = int(labels.max(initial=-1)) + 1
    found = np.full(count, -1, dtype=np.int64)
    found[labels] = previous  # that of any of its nodes: they must all have the same
    differs = np.bincount(labels[found[labels] != previous], minlength=count) > 0
    whole = np.bincount(labels, minlength=count) == np.append(sizes, -1)[found]
    return np.where(whole & ~differs, found, -1)


def numbered(same: IntArray) -> IntArray:
    """A number from ``0 .. k-1`` for each label ``(k,)``: that of the partition it is the
    ``same`` as, where it is below k and nobody else's, and else what is free, in order."""
    count = same.size
    numbers = np.where(same < count, same, -1)
    free = np.setdiff1d(np.arange(count), numbers)
    numbers[numbers < 0] = free
    return numbers
