"""Embeds texts without a model, by feature hashing of words and parts of words.

The method follows Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009).
Its buckets are signed, so that collisions cancel on average. Sub-word grams, as in fastText
(Bojanowski et al. 2017), bring inflections and compounds together. The vectors measure shared
vocabulary, not meaning: synonyms have nothing in common. A word that occurs n times in a text
counts 1 + ln n times. The hash of a feature is CRC-32, so it is the same on every machine.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.config import HASHING_THRESHOLD
from pgs_neo4j.database.portions import portions
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.text.matching import UNSPACED
from pgs_neo4j.text.terms.spans import (
    BoolArray,
    CodeArray,
    HashArray,
    IntArray,
    WordSpans,
    consist_of,
    hash_words,
    is_digit,
    run_starts,
    split_words,
    stem_ends,
)
from pgs_neo4j.text.terms.vocabulary import NumberedWords, Vocabulary
from pgs_neo4j.text.words import STOP_WORDS, stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

DIMENSIONS = 2048
# This many texts are hashed at a time, which limits the arrays and allows prompt cancellation.
BATCH = 1024
BATCH_CHARACTERS = 1 << 20
# Texts are summed in blocks with at most this many numbers in their rows (4 MB), and at most this
# many features. The rows are sparse, so the parts in use fit in the processor's caches.
BLOCK_NUMBERS = 1 << 19
BLOCK_FEATURES = 1 << 16
NUMBER_BITS = 32

GRAM = 4
CJK_GRAM = 2
YEAR = 4  # digits of a year; other numbers have no features
ASCII = 0x7F
START = np.uint32(0xFFFFFFFF)  # the initial state of CRC-32
# The length of the vector of a word's grams; the feature of its stem has length 1.
GRAM_NORM = 0.5


class HashingEmbedder:
    """Signed feature hashing into ``dimensions`` buckets, the same on every machine."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        if dimensions < 8:
            raise ConfigError(
                "embedding_dimensions (PGS_EMBEDDING_DIMENSIONS) is too small for the hashing "
                "embedder; use 8 or more"
            )
        self.name = f"hashing-{dimensions}"
        self.dimensions: int | None = dimensions
        self.threshold: float | None = HASHING_THRESHOLD
        self.size = dimensions
        self.free = True
        self.lexical = True

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in float32, computed in a thread.

        The row of a text without a content word is zero.
        """
        rows = np.zeros((len(texts), self.size), dtype=np.float32)
        hasher = TextHasher(self.size)
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        for part in portions(sizes, BATCH, BATCH_CHARACTERS):
            rows[part] = await asyncio.to_thread(hasher.rows, texts[part])
        return rows

    async def close(self) -> None:
        """Do nothing; there is nothing to release."""


class TextHasher:
    """Hashes texts into vectors of ``size`` numbers. Not safe for several threads at a time."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._most = max(1, BLOCK_NUMBERS // size)
        self._sums = np.zeros(self._most * size)  # all zeros between two blocks
        self._vocabulary = Vocabulary()
        self._table = FeatureTable(self._vocabulary, size)

    def rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)``. The row of a text without a content word is zero."""
        if self._vocabulary.full:
            self._vocabulary = Vocabulary()
        rows = np.zeros((len(texts), self.size), np.float32)
        for block in self._blocks(self._vocabulary.number(split_words(texts).words)):
            lengths = self._add(block)
            dense = self._sums.reshape(-1, self.size)[: len(lengths)]
            rows[block.texts] = dense * _invert_lengths(lengths)[:, None]
            self._sums[block.places] = 0
        return rows

    def sums(self, words: NumberedWords, owners: IntArray) -> Iterator[tuple[int, FloatArray]]:
        """Yield pairs of an owner and the sum ``(d,)`` of unit rows of its texts.

        Text ``i`` belongs to ``owners[i]``. An owner may come several times, with partial sums.
        """
        for block in self._blocks(words):
            scale = _invert_lengths(self._add(block))
            self._sums[block.places] = 0
            values = block.values * np.repeat(scale, block.sizes)
            edges = np.cumsum(block.sizes)
            mine = owners[block.texts]
            for first, last in _find_runs(mine):
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
        """Yield the features of texts in blocks that fit the sums and the processor's caches."""
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
    """The features of some ``texts`` ``(t,)``, in their order; ``sizes`` ``(t,)`` counts them.

    Feature ``i`` adds ``values[i]`` to place ``places[i]`` of the flat rows of these texts. Both
    arrays are ``(f,)``.
    """

    texts: IntArray
    sizes: IntArray
    places: IntArray
    values: FloatArray


class FeatureTable:
    """The features of a vocabulary's words.

    Word ``i`` has ``lengths[i]`` features from ``starts[i]`` on. Both arrays are ``(v,)``. Words
    without a meaning have no features.
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
            meaningful = carries_meaning(words)
            features = find_features(words.at(meaningful))
            lengths = np.zeros(len(words), np.int64)
            lengths[meaningful] = np.diff(features.offsets)
            starts = np.cumsum(lengths) - lengths + self._used
            self.lengths = np.concatenate((self.lengths, lengths))
            self._starts = np.concatenate((self._starts, starts))
            self._append(features.keys % np.uint32(self._size), features.values)
        self._chunks += len(chunks)

    def expand(
        self, words: IntArray, weights: FloatArray, rows: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """Return the places in flat rows and the values of the features of words, both ``(f,)``.

        Word ``i`` counts ``weights[i]`` times in row ``rows[i]``. All three arrays are ``(p,)``.
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
    """Count the distinct words of each text.

    Returns for each pair of a text and a word, in the order of texts, the text, the number of the
    word, and its count. All three arrays are ``(p,)``.
    """
    keys = (words.texts << NUMBER_BITS) | words.numbers
    keys.sort()
    first = run_starts(keys)
    counts = np.diff(np.append(first, len(keys)))
    keys = keys[first]
    return keys >> NUMBER_BITS, keys & ((1 << NUMBER_BITS) - 1), counts


def _invert_lengths(lengths: FloatArray) -> FloatArray:
    """Return 1 ÷ ``lengths`` ``(t,)``, with 0 for a length of 0."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _find_runs(owners: IntArray) -> list[tuple[int, int]]:
    """Return the first and the last place of each run of equal owners."""
    first = run_starts(owners)
    last = np.append(first[1:], len(owners)) - 1
    return list(zip(first.tolist(), last.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The features of words: hash keys and signed values ``(f,)``.

    The slice ``offsets[i]:offsets[i + 1]`` contains the features of word ``i``: its stem, then its
    grams. ``offsets`` is ``(m + 1,)``.
    """

    offsets: NDArray[np.int64]
    keys: NDArray[np.uint32]
    values: NDArray[np.float64]


def carries_meaning(words: WordSpans) -> BoolArray:
    """Return which words ``(m,)`` have features.

    Function words have none, and neither have single letters (except in scripts without spaces) and
    numbers that are not years.
    """
    meaningful = (words.lengths > 1) | (words.codes[words.starts] > UNSPACED)
    number = consist_of(words, is_digit(words.codes))
    meaningful &= ~number | (words.lengths == YEAR)
    meaningful &= ~np.isin(hash_words(words), _stop_words())
    return meaningful


@cache
def _stop_words() -> HashArray:
    return hash_words(split_words(sorted(STOP_WORDS)).words)


def find_features(words: WordSpans) -> Features:
    """Return the features of words.

    ASCII words are hashed as arrays, and other words one by one.
    """
    plain = consist_of(words, words.codes <= ASCII)
    # Two marks lengthen a word, so it has length + 2 - GRAM + 1 grams.
    grams = np.maximum(words.lengths + 3 - GRAM, 1)
    spelled = {int(place): words.spell(int(place)) for place in np.flatnonzero(~plain)}
    pieces = {place: _split_grams(word) for place, word in spelled.items()}
    for place, parts in pieces.items():
        grams[place] = len(parts)
    offsets = np.concatenate(([0], np.cumsum(grams + 1)))
    checks = np.zeros(offsets[-1], np.uint32)
    known = np.flatnonzero(plain)
    checks[offsets[known]] = _check_stems(words.at(known))
    owner = np.repeat(known, grams[known])
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(grams[known]) - grams[known], grams[known])
    checks[offsets[owner] + 1 + nth] = _check_grams(words.at(owner), nth)
    for place, word in spelled.items():
        features = (f"={stem(word)}", *pieces[place])
        checks[offsets[place] : offsets[place + 1]] = [
            zlib.crc32(feature.encode("utf-8", "surrogatepass")) for feature in features
        ]
    weights = np.repeat(GRAM_NORM / np.sqrt(grams), grams + 1)
    weights[offsets[:-1]] = 1.0
    # The lowest bit of a hash is the sign of the value, and the other bits select its bucket.
    return Features(offsets, checks >> np.uint32(1), np.where(checks & 1, weights, -weights))


def _check_stems(words: WordSpans) -> NDArray[np.uint32]:
    """Return the CRC-32 ``(m,)`` of an equals sign and each word's stem, for ASCII words."""
    lengths = stem_ends(words) - words.starts
    order = np.argsort(lengths)
    starts, lengths = words.starts[order], lengths[order]
    state = _update_crc(np.full(len(words), START), np.full(len(words), ord("="), np.uint32))
    for place in range(int(lengths.max(initial=0))):
        longer = slice(np.searchsorted(lengths, place, side="right"), None)
        state[longer] = _update_crc(state[longer], words.codes[starts[longer] + place])
    checks = np.zeros_like(state)
    checks[order] = ~state
    return checks


def _check_grams(words: WordSpans, nth: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the CRC-32 ``(m,)`` of one gram of each ASCII word.

    ``nth`` ``(m,)`` are the numbers of the grams. A word is marked by < and > at its ends.
    """
    state = np.full(len(words), START)
    for place in range(GRAM):
        at = nth + place - 1
        inside = (at >= 0) & (at < words.lengths)
        letters = np.where(at < 0, np.uint32(ord("<")), np.uint32(ord(">")))
        letters[inside] = words.codes[words.starts[inside] + at[inside]]
        # With its two marks, a word of one letter is still shorter than a gram.
        there = at <= words.lengths
        state[there] = _update_crc(state[there], letters[there])
    return ~state


def _update_crc(state: NDArray[np.uint32], letters: CodeArray) -> NDArray[np.uint32]:
    """Return the states of CRC-32 after one more byte for each word."""
    table = _crc_table()
    after: NDArray[np.uint32] = table[(state ^ letters) & np.uint32(0xFF)] ^ (state >> np.uint32(8))
    return after


@cache
def _crc_table() -> NDArray[np.uint32]:
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, (values >> 1) ^ np.uint32(0xEDB88320), values >> 1)
    return values


def _split_grams(word: str) -> tuple[str, ...]:
    """Return the overlapping grams of the marked word, of two letters in scripts without spaces."""
    length = CJK_GRAM if any(ord(letter) > UNSPACED for letter in word) else GRAM
    marked = f"<{word}>"
    return tuple(marked[i : i + length] for i in range(max(1, len(marked) - length + 1)))
