"""Counts how many texts hold words, in fixed memory.

Counting every word of a large graph exactly takes too much memory. A counter stands for all words
whose hashes agree in some bits. So a count is hardly ever too high and never too low. This is one
row of a count-min sketch (Cormode and Muthukrishnan 2005).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pgs_neo4j.text.terms.spans import HashArray, IntArray, hash_words, split_words

COUNTERS = 1 << 21
HASH_BITS = 48  # of a word's hash, as keywords are counted


class HolderCounts:
    """How many texts hold a word."""

    def __init__(self) -> None:
        self._counts = np.zeros(COUNTERS, np.int64)

    def add(self, hashes: HashArray, counts: IntArray) -> None:
        """Add to the counts of words ``(k,)``.

        ``hashes`` ``(k,)`` are the first ``HASH_BITS`` bits of whole ones.
        """
        np.add.at(self._counts, _counter_of(hashes), counts)

    def of(self, words: Sequence[str]) -> Counter[str]:
        """Return how many texts hold each word; of several runs of letters, the rarest counts."""
        runs = split_words(words).runs
        counts = self._counts[_counter_of(hash_words(runs) >> np.uint64(64 - HASH_BITS))]
        holders: Counter[str] = Counter()
        for place, count in zip(runs.texts.tolist(), counts.tolist(), strict=True):
            holders[words[place]] = min(holders.get(words[place], count), count)
        return holders


def _counter_of(hashes: HashArray) -> IntArray:
    return (hashes & np.uint64(COUNTERS - 1)).astype(np.int64)
