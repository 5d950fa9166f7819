"""Estimates how many items differ between two scans, from small summaries.

Method: a strata estimator (Eppstein, Goodrich, Uyeda and Varghese 2011) of sums instead of
invertible tables, since it need not say which items differ. Level ``l`` samples one hash in
``4**l`` and puts it in a bucket. A bucket stores the sum of its hashes modulo 2**64, so their order
does not matter, and two equal hashes do not cancel. Both scans sample and place hashes alike, so a
bucket differs if something in it does. Linear counting (Whang, Vander-Zanden and Taylor 1990) turns
the share of differing buckets into a number of items.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.graph.csr import IntArray, mixed

LEVELS = 8
"""Enough for 50 million differences; beyond that the estimate saturates at 120 million."""

BUCKETS = 1024
"""Buckets of each level. The error falls with the square root of their number."""

SATURATED = 0.95
"""If more than this share of a level's buckets differ, the next level is used, which samples fewer
items. At three items per bucket, linear counting errs as much as a sample of a quarter of the items
would.
"""

_BUCKET_SHIFT = np.uint64(64 - BUCKETS.bit_length() + 1)


def sketch(hashes: NDArray[np.uint64]) -> IntArray:
    """Return the summary of a multiset of 64-bit hashes ``(n,)``.

    It is ``(LEVELS * BUCKETS,)`` int64, level by level. Equal multisets have equal summaries,
    whatever their order. Any numbers that distinguish the items will do: they are mixed here.
    """
    rest = mixed(hashes.view(np.int64), 0)
    sums = np.zeros((LEVELS, BUCKETS), dtype=np.uint64)
    for level in range(LEVELS):
        # The lowest bits choose the level and the highest the bucket, so they are independent.
        np.add.at(sums[level], (rest >> _BUCKET_SHIFT).astype(np.int64), rest)
        rest = rest[rest & np.uint64(3 << 2 * level) == 0]
    return sums.reshape(-1).view(np.int64)


def difference(before: IntArray, after: IntArray) -> int:
    """Estimate how many distinct hashes occur more often in one multiset than in the other.

    Both summaries are ``(LEVELS * BUCKETS,)``. An item added or removed counts 1, and a changed
    item 2. The result is 0 exactly when the summaries are equal. The relative error was measured
    over 200 draws (100 at the last) at true differences of 1, 10, 100, 1e3, 1e4, 1e5 and 1e6. Root
    mean square: 0, 2.4, 2.4, 2.5, 4.1, 3.7 and 4.2 %; the largest from 100 on: 6, 8, 14, 10 and
    11 %.
    Raises ValueError when an array is not a summary of this shape.
    """
    if not before.shape == after.shape == (LEVELS * BUCKETS,):
        raise ValueError(f"a sketch has {LEVELS * BUCKETS} numbers; make both again")
    differing = np.count_nonzero((before != after).reshape(LEVELS, BUCKETS), axis=1)
    if not differing.any():
        return 0
    clear = np.flatnonzero(differing <= SATURATED * BUCKETS)
    level = int(clear[0]) if clear.size else LEVELS - 1
    empty = max(BUCKETS - int(differing[level]), 1)
    estimate: float = -BUCKETS * math.log(empty / BUCKETS) * 4.0**level
    return max(1, round(estimate))
