"""Finds the keywords of partitions: the words that most of their nodes mention.

As published, a word's score is its document frequency: one count per node, without stop words. The
best twenty are the keywords. There is one addition. A word that would be a keyword of more than
half of the partitions does not distinguish them, so the next word replaces it.

An exact count of the texts with each word of a large graph takes too much memory. So all words
whose hashes agree in some bits share a counter. A count is rarely too high and never too low. This
is one row of a count-min sketch (Cormode and Muthukrishnan 2005).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from pgs_neo4j.text.terms.spans import (
    HashArray,
    IntArray,
    WordSpans,
    hash_word_set,
    hash_words,
    is_digit,
    run_starts,
    split_words,
)
from pgs_neo4j.text.terms.vocabulary import NumberedWords, Vocabulary
from pgs_neo4j.text.words import KEYWORD_STOP_WORDS

TOP = 20
"""Keywords per partition, as published."""

SHARED_BY = 0.5
"""A word among the best of more than this share of partitions is left out."""

MIN_PARTITIONS = 4
"""With fewer partitions, a shared word is still worth showing."""

KEEP = 200
"""Words to keep of a finished partition, so that enough remain without the shared words."""

SPELLED = 400
"""Number of a partition's most frequent words whose spelling is kept in each batch of texts. A word
that is never among them is hardly ever among the best of the whole partition."""

SHORTEST, LONGEST = 3, 40
"""Limits of a keyword, in letters and digits."""

NUMBER_BITS = 32
HASH_BITS = 48  # bits of a word's hash by which keywords are counted
NO_WORD = 0
COUNTERS = 1 << 21


@dataclass(slots=True)
class WordCounts:
    """Words of an unfinished partition.

    ``hashes`` and ``counts`` have parallel arrays ``(k,)`` per batch of texts. ``spelled`` has the
    most frequent words by their hashes.
    """

    hashes: list[HashArray] = field(default_factory=list)
    counts: list[IntArray] = field(default_factory=list)
    spelled: dict[int, str] = field(default_factory=dict)

    def add(
        self, hashes: HashArray, counts: IntArray, numbers: IntArray, vocabulary: Vocabulary
    ) -> None:
        """Add distinct words ``(m,)`` of a batch: hashes, counts, and numbers."""
        self.hashes.append(hashes)
        self.counts.append(counts)
        frequent = np.argsort(-counts, kind="stable")[:SPELLED]
        pairs = zip(hashes[frequent].tolist(), numbers[frequent].tolist(), strict=True)
        for key, number in pairs:
            if key not in self.spelled:
                self.spelled[key] = vocabulary.spell(number).casefold()

    def best(self, top: int) -> Counter[str]:
        """Return the ``top`` most frequent words, and how many texts contain each."""
        if not self.spelled:
            return Counter()
        hashes, counts = np.concatenate(self.hashes), np.concatenate(self.counts)
        order = np.argsort(hashes)
        hashes = hashes[order]
        first = run_starts(hashes)
        totals = np.add.reduceat(counts[order], first)
        keys = np.fromiter(self.spelled, np.uint64, len(self.spelled))
        places = np.searchsorted(hashes[first], keys)
        found: Counter[str] = Counter()
        for word, count in zip(self.spelled.values(), totals[places].tolist(), strict=True):
            found[word] += count
        return Counter({word: found[word] for word in _choose_best(found, top)})


class KeywordCounter:
    """Counts the words of partitions while texts stream by, in any order.

    If texts come partition by partition, call :meth:`finish` after each partition to keep memory
    small. ``holders`` counts the texts of finished partitions by word.
    """

    def __init__(self) -> None:
        self.holders = HolderCounts()
        self._open: dict[int, WordCounts] = {}
        self._finished: dict[int, Counter[str]] = {}

    def count(self, words: NumberedWords, partition_ids: IntArray) -> None:
        """Count the words of a batch of plain texts.

        ``words`` are runs, as :func:`pgs_neo4j.text.terms.spans.split_words` returns them. Text
        ``i`` belongs to the partition ``partition_ids[i]``.
        """
        groups, owner = np.unique(partition_ids, return_inverse=True)
        for partition in groups.tolist():
            self._open.setdefault(partition, WordCounts())
        words = words.at(words.column(_hash_keywords) != NO_WORD)
        # A word counts once per text, so sort equal words of a text together and keep the first.
        pairs = (words.texts << NUMBER_BITS) | words.numbers
        pairs.sort()
        pairs = pairs[run_starts(pairs)]
        numbers = pairs & ((1 << NUMBER_BITS) - 1)
        hashes = words.vocabulary.column(_hash_keywords)[numbers]
        keys = (owner[pairs >> NUMBER_BITS].astype(np.uint64) << np.uint64(HASH_BITS)) | hashes
        order = np.argsort(keys)
        keys = keys[order]
        first = run_starts(keys)
        counts = np.diff(np.append(first, len(keys)))
        group = (keys[first] >> np.uint64(HASH_BITS)).astype(np.int64)
        edges = np.searchsorted(group, np.arange(len(groups) + 1))
        for number, partition in enumerate(groups.tolist()):
            part = slice(edges[number], edges[number + 1])
            places = order[first[part]]
            self._open[partition].add(
                hashes[places], counts[part], numbers[places], words.vocabulary
            )

    @property
    def unfinished(self) -> set[int]:
        """The partitions with words that are not finished yet."""
        return set(self._open)

    def finish(self, partition: int) -> None:
        """Keep only the best words of a partition whose texts are complete."""
        former = self._finished.setdefault(partition, Counter())
        if partition in self._open:
            counts = self._open.pop(partition)
            self._finished[partition] = former + counts.best(KEEP)
            for hashes, texts in zip(counts.hashes, counts.counts, strict=True):
                self.holders.add(hashes, texts)

    def common(self, others: Sequence[Sequence[str]] = (), top: int = TOP) -> frozenset[str]:
        """Return the best words that too many partitions share.

        ``others`` are the keywords of partitions without new texts.
        """
        tops = [_choose_best(counts, top) for counts in self.counts().values()]
        return frozenset(_find_shared([*tops, *map(list, others)]))

    def keywords(self, common: Collection[str] = (), top: int = TOP) -> dict[int, tuple[str, ...]]:
        """Return the best words of each counted partition, without the ``common`` words.

        Ties are in alphabetical order.
        """
        return {
            partition: tuple(word for word in _choose_best(counts, KEEP) if word not in common)[
                :top
            ]
            for partition, counts in self.counts().items()
        }

    def counts(self) -> dict[int, Counter[str]]:
        """Return how many texts of each partition contain its best words."""
        return self._finished | {part: words.best(KEEP) for part, words in self._open.items()}


def _hash_keywords(words: WordSpans) -> HashArray:
    """Return the first ``HASH_BITS`` of the hashes ``(m,)`` of words.

    A word that cannot be a keyword has ``NO_WORD``.
    """
    hashes = hash_words(words)
    fitting = (words.lengths >= SHORTEST) & (words.lengths <= LONGEST)
    fitting &= ~is_digit(words.codes[words.starts])
    fitting &= ~np.isin(hashes, hash_word_set(KEYWORD_STOP_WORDS))
    hashes = hashes >> np.uint64(64 - HASH_BITS)
    hashes[~fitting] = NO_WORD
    return hashes


def _choose_best(counts: Counter[str], top: int) -> list[str]:
    """Return the most frequent words, ties in alphabetical order."""
    return sorted(counts, key=lambda word: (-counts[word], word))[:top]


def _find_shared(tops: list[list[str]]) -> set[str]:
    """Return the words that are among the best of too many partitions."""
    if len(tops) < MIN_PARTITIONS:
        return set()
    among = Counter(word for best in tops for word in best)
    return {word for word, count in among.items() if count > SHARED_BY * len(tops)}


class HolderCounts:
    """Counts how many texts contain each word; words may share a counter."""

    def __init__(self) -> None:
        self._counts = np.zeros(COUNTERS, np.int64)

    def add(self, hashes: HashArray, counts: IntArray) -> None:
        """Add ``counts`` to the counts of words; both arrays are ``(k,)``.

        ``hashes`` are the first ``HASH_BITS`` bits of the words' hashes.
        """
        np.add.at(self._counts, _find_counters(hashes), counts)

    def of(self, words: Sequence[str]) -> Counter[str]:
        """Return how many texts contain each word; for a word of several runs, its rarest run."""
        runs = split_words(words).runs
        counts = self._counts[_find_counters(hash_words(runs) >> np.uint64(64 - HASH_BITS))]
        holders: Counter[str] = Counter()
        for place, count in zip(runs.texts.tolist(), counts.tolist(), strict=True):
            holders[words[place]] = min(holders.get(words[place], count), count)
        return holders


def _find_counters(hashes: HashArray) -> IntArray:
    return (hashes & np.uint64(COUNTERS - 1)).astype(np.int64)
