"""Sums the features of words into the vectors of texts.

A word that a text holds n times counts 1 + ln n times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.portions import portions
from pgs_neo4j.llm.embedders.features import carries_meaning, find_features
from pgs_neo4j.text.terms.spans import IntArray, run_starts, split_words
from pgs_neo4j.text.terms.vocabulary import NumberedWords, Vocabulary

FloatArray = NDArray[np.float64]

# The most numbers in the rows (4 MB), and the most features, of texts that are summed together. The
# rows are sparse, so the parts that are read and written fit the processor's caches.
BLOCK_NUMBERS = 1 << 19
BLOCK_FEATURES = 1 << 16
NUMBER_BITS = 32


class TextHasher:
    """Hashes texts into vectors of ``size`` numbers. Not for several threads at a time."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._most = max(1, BLOCK_NUMBERS // size)
        self._sums = np.zeros(self._most * size)  # zeros between blocks
        self._own = Vocabulary()
        self._table = FeatureTable(self._own, size)

    def rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)``; that of a text without a content word is zero."""
        if self._own.full:
            self._own = Vocabulary()
        rows = np.zeros((len(texts), self.size), np.float32)
        for block in self._blocks(self._own.number(split_words(texts).words)):
            lengths = self._add(block)
            dense = self._sums.reshape(-1, self.size)[: len(lengths)]
            rows[block.texts] = dense * _inverse(lengths)[:, None]
            self._sums[block.places] = 0
        return rows

    def sums(self, words: NumberedWords, owners: IntArray) -> Iterator[tuple[int, FloatArray]]:
        """Yield owners and sums of the unit rows ``(d,)`` of their texts, an owner several times.

        Text ``i`` belongs to ``owners[i]``.
        """
        for block in self._blocks(words):
            scale = _inverse(self._add(block))
            self._sums[block.places] = 0
            values = block.values * np.repeat(scale, block.sizes)
            edges = np.cumsum(block.sizes)
            mine = owners[block.texts]
            for first, last in _runs(mine):
                part = slice(edges[first] - block.sizes[first], edges[last])
                buckets = block.places[part] % self.size
                total: FloatArray = np.bincount(buckets, values[part], self.size).astype(float)
                yield int(mine[first]), total

    def _add(self, block: Block) -> FloatArray:
        """Add the features of a block to the sums; return the lengths of the rows ``(t,)``."""
        np.add.at(self._sums, block.places, block.values)
        squares = block.values * self._sums[block.places]
        firsts = np.cumsum(block.sizes) - block.sizes
        lengths: FloatArray = np.sqrt(np.maximum(np.add.reduceat(squares, firsts), 0))
        return lengths

    def _blocks(self, words: NumberedWords) -> Iterator[Block]:
        if self._table.vocabulary is not words.vocabulary:
            self._table = FeatureTable(words.vocabulary, self.size)
        self._table.update()
        texts, numbers, counts = _count_words(words.at(words.column(carries_meaning)))
        first = run_starts(texts)
        sizes = np.add.reduceat(self._table.lengths[numbers], first) if len(first) else first
        edges = np.append(first, len(texts))
        for part in portions(sizes, self._most, BLOCK_FEATURES):
            pairs = slice(edges[part.start], edges[part.stop])
            row = np.repeat(
                np.arange(part.stop - part.start), np.diff(edges[part.start : part.stop + 1])
            )
            places, values = self._table.expand(numbers[pairs], 1 + np.log(counts[pairs]), row)
            yield Block(texts[first[part]], sizes[part], places, values)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Features of some texts ``(t,)``, in their order, with ``sizes`` ``(t,)`` features.

    Feature ``i`` adds ``values[i]`` to ``places[i]`` of the flat rows of these texts, both
    ``(f,)``.
    """

    texts: IntArray
    sizes: IntArray
    places: IntArray
    values: FloatArray


class FeatureTable:
    """The features of a vocabulary's words.

    Those of word ``i`` are ``lengths[i]`` in number, from ``starts[i]`` on, both ``(v,)``; words
    without a meaning have none.
    """

    def __init__(self, vocabulary: Vocabulary, size: int) -> None:
        self.vocabulary = vocabulary
        self.lengths = self._starts = np.zeros(0, np.int64)
        self._size = size
        self._chunks = self._used = 0
        self._buckets = np.zeros(BLOCK_FEATURES, np.int64)
        self._values = np.zeros(BLOCK_FEATURES)

    def update(self) -> None:
        """Add the features of words that are new in the vocabulary."""
        chunks = self.vocabulary.chunks[self._chunks :]
        for words in chunks:
            telling = carries_meaning(words)
            features = find_features(words.at(telling))
            lengths = np.zeros(len(words), np.int64)
            lengths[telling] = np.diff(features.offsets)
            starts = np.cumsum(lengths) - lengths + self._used
            self.lengths = np.concatenate((self.lengths, lengths))
            self._starts = np.concatenate((self._starts, starts))
            self._append(features.keys % np.uint32(self._size), features.values)
        self._chunks += len(chunks)

    def expand(
        self, words: IntArray, weights: FloatArray, rows: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """Return places in flat rows and values ``(f,)`` of the features of some words ``(p,)``.

        A word counts ``weights`` ``(p,)`` times in its row of ``rows`` ``(p,)``.
        """
        lengths = self.lengths[words]
        ends = np.cumsum(lengths)
        which = np.repeat(np.arange(len(words)), lengths)
        at = np.arange(len(which)) + (self._starts[words] - (ends - lengths))[which]
        return self._buckets[at] + (rows * self._size)[which], self._values[at] * weights[which]

    def _append(self, buckets: NDArray[np.uint32], values: FloatArray) -> None:
        end = self._used + len(values)
        if end > len(self._values):
            self._buckets = np.resize(self._buckets, 2 * end)
            self._values = np.resize(self._values, 2 * end)
        self._buckets[self._used : end] = buckets
        self._values[self._used : end] = values
        self._used = end


def _count_words(words: NumberedWords) -> tuple[IntArray, IntArray, IntArray]:
    """Return texts, numbers, and counts ``(p,)`` of their distinct words, by text."""
    keys = (words.texts << NUMBER_BITS) | words.numbers
    keys.sort()
    first = run_starts(keys)
    counts = np.diff(np.append(first, len(keys)))
    keys = keys[first]
    return keys >> NUMBER_BITS, keys & ((1 << NUMBER_BITS) - 1), counts


def _inverse(lengths: FloatArray) -> FloatArray:
    """Return 1 ÷ ``lengths`` ``(t,)``, 0 for 0."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _runs(owners: IntArray) -> list[tuple[int, int]]:
    """Return the first and the last place of each run of equal owners."""
    first = run_starts(owners)
    last = np.append(first[1:], len(owners)) - 1
    return list(zip(first.tolist(), last.tolist(), strict=True))
