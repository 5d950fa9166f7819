"""Preserves earlier partitions if they are about as good as new ones."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import Edges, IntArray, dense
from pgs_neo4j.graph.limits import Limited, apply_limits
from pgs_neo4j.graph.quality import modularity

WORTH = 0.01
"""Share of the modularity that must be gained before nodes change their partition. With a
hundredth of the relationships rewired there is 0.0015 to be gained on lfr_1e5. On sbm_1e5 it
is 0.005, where partitions from nothing are no better than those that stayed."""


def steady(
    edges: Edges,
    labels: IntArray,
    previous: IntArray,
    bound: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None = None,
) -> Limited:
    """Return communities within limits, or earlier partitions if about as good.

    ``labels`` ``(n,)`` are communities that grew from the earlier partitions ``previous`` ``(n,)``,
    -1 for a node that had none. ``bound`` ``(n,)`` is the same with -1 for nodes that were in a
    pool. A partition that stays keeps its place in a reader's memory and costs nothing to write.
    ``tokens`` and ``nodes`` are those of :func:`apply_limits`. So nodes move only when all moves
    together are worth it (``WORTH``).
    """
    cut = steadied(labels, previous, tokens, limits, nodes)
    moved = apply_limits(edges, cut, tokens, limits, nodes=nodes)
    kept = staying(moved.unpooled, bound)
    stayed = apply_limits(edges, kept, tokens, limits, refined=False, nodes=nodes)
    reached, before = modularity(edges, moved.labels), modularity(edges, stayed.labels)
    return stayed if reached - before <= WORTH * abs(reached) else moved


def steadied(
    labels: IntArray,
    previous: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None = None,
) -> IntArray:
    """Return labels ``0 .. k-1`` with oversized communities cut along ``previous``.

    ``labels``, ``tokens``, ``nodes`` (the nodes that each entry stands for), and the result are
    ``(n,)``, and so is ``previous``: the partitions of
    an earlier generation, -1 for a node that had none. Otherwise such a community could be divided
    differently each time, and its parts would lose their identity needlessly. Nodes that had no
    partition become separate parts, which the merge places. The split handles parts that are still
    too large.
    """
    parts = dense(labels)
    sizes = sizes_of(parts, tokens, nodes)
    cut = ~limits.stands(sizes.nodes, sizes.tokens)[parts]
    if not cut.any():
        return parts
    before = dense(
        np.where(previous < 0, previous.max(initial=0) + 1 + np.arange(parts.size), previous)
    )
    pair = parts * (int(before.max()) + 1) + before
    return dense(np.where(cut, pair + parts.size, parts))


def staying(labels: IntArray, previous: IntArray) -> IntArray:
    """Return labels ``0 .. k-1`` ``(n,)`` with nodes staying in ``previous``.

    ``previous`` ``(n,)`` is -1 for a new node. Such a node joins the partition of most other nodes
    in its community (``labels``, ``(n,)``), the lowest on a tie. A community of new nodes only
    becomes a separate partition.
    """
    placed = previous >= 0
    count = int(previous.max(initial=-1)) + 1
    home = count + labels
    if placed.any():
        pair, members = np.unique(labels[placed] * count + previous[placed], return_counts=True)
        order = np.lexsort((pair, -members))
        community, first = np.unique(pair[order] // count, return_index=True)
        main = np.full(int(labels.max()) + 1, -1, dtype=np.int64)
        main[community] = pair[order][first] % count
        home = np.where(main[labels] >= 0, main[labels], home)
    return dense(np.where(placed, previous, home))


def unchanged(labels: IntArray, previous: IntArray, sizes: IntArray) -> IntArray:
    """Return the earlier partition ``(k,)`` with the same nodes as each label.

    It is -1 where no partition qualifies. ``labels`` ``(n,)`` count from 0 without a gap, and
    ``previous`` ``(n,)`` are the earlier partitions, -1 for a node that had none. ``sizes``
    ``(p,)`` counts all nodes of each earlier partition, including deleted ones.
    """
    count = int(labels.max(initial=-1)) + 1
    same = np.full(count, -1, dtype=np.int64)
    same[labels] = previous  # that of any of its nodes; all must have the same
    differs = np.bincount(labels[same[labels] != previous], minlength=count) > 0
    whole = np.bincount(labels, minlength=count) == np.append(sizes, -1)[same]
    return np.where(whole & ~differs, same, -1)


def numbered(same: IntArray) -> IntArray:
    """Return new numbers ``(k,)`` of labels, reusing old ones where possible.

    ``same`` ``(k,)`` is the equal earlier partition or -1. A label takes its number if that is
    below k; the rest take the free numbers in order.
    """
    count = same.size
    numbers = np.where(same < count, same, -1)
    free = np.setdiff1d(np.arange(count), numbers)
    numbers[numbers < 0] = free
    return numbers
