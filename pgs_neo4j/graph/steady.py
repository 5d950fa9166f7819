"""Divides communities that are too large where they were divided before."""

from __future__ import annotations

import numpy as np

from pgs_neo4j.graph.bounds import Limits, sizes_of
from pgs_neo4j.graph.csr import IntArray, dense


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
