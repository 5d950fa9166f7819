"""Preserves earlier partitions if they are about as good as new ones."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import Edges, IntArray, dense
from pgs_neo4j.graph.limits import Limited, apply_limits
from pgs_neo4j.graph.quality import modularity

WORTH = 0.01
"""Nodes change their partition only if all moves together gain more than this share of the
modularity. After a hundredth of the relationships are rewired, moves gain 0.0015 on lfr_1e5 and
0.005 on sbm_1e5, where partitions made from scratch are no better than the old ones."""


def steady(
    edges: Edges,
    labels: IntArray,
    previous: IntArray,
    bound: IntArray,
    tokens: IntArray,
    limits: Limits,
    nodes: IntArray | None = None,
) -> Limited:
    """Return communities within limits, or the earlier partitions if these are about as good.

    A partition that stays is familiar to its readers and costs nothing to write. So nodes move only
    if all moves together are worth it (``WORTH``). ``labels`` ``(n,)`` are communities that grew
    from the earlier partitions ``previous`` ``(n,)``, -1 for a node that had none. ``bound``
    ``(n,)`` is the same, with -1 also for nodes that were in a pool. ``tokens`` and ``nodes`` are
    as in :func:`apply_limits`.
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
    """Return labels ``0 .. k-1`` with oversized communities cut along ``previous`` partitions.

    Without these cuts, an oversized community could be divided differently each time, and its parts
    would lose their identity for no reason. ``labels``, ``tokens``, ``nodes`` (nodes each entry
    stands for), and the result are ``(n,)``. ``previous`` ``(n,)`` are the partitions of an earlier
    generation, -1 for a node that had none. Such nodes become separate parts, which the merge
    places. The split handles parts that are still too large.
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
    """Return labels ``0 .. k-1`` ``(n,)`` with all nodes left in their ``previous`` partitions.

    ``previous`` ``(n,)`` is -1 for a new node. Such a node joins the partition of most other nodes
    in its community (``labels``, ``(n,)``), the lowest on a tie. A community with only new nodes
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
    # Any node of a label may set its value; the next line finds labels whose nodes disagree.
    same[labels] = previous
    differs = np.bincount(labels[same[labels] != previous], minlength=count) > 0
    whole = np.bincount(labels, minlength=count) == np.append(sizes, -1)[same]
    return np.where(whole & ~differs, same, -1)


def numbered(same: IntArray) -> IntArray:
    """Return new numbers ``(k,)`` of labels, reusing old ones where possible.

    ``same`` ``(k,)`` is the earlier partition with the same nodes, or -1. A label takes that number
    if it is below k. The other labels take the free numbers in order.
    """
    count = same.size
    numbers = np.where(same < count, same, -1)
    free = np.setdiff1d(np.arange(count), numbers)
    numbers[numbers < 0] = free
    return numbers
