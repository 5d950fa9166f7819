"""A lexical embedder without a model: feature hashing of words and parts.

Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009), with signed buckets
so that collisions cancel on average. Sub-word grams (as in fastText, Bojanowski et al. 2017) bring
inflections and compounds together. It measures shared vocabulary, not meaning: synonyms have
nothing in common. A word that a text holds n times counts 1 + ln n times. The hash of a feature is
CRC-32, so that it is the same on every machine.
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
# Texts hashed together, which bounds the arrays and keeps cancellation prompt.
BATCH = 1024
BATCH_CHARACTERS = 1 << 20
# The most numbers in the rows (4 MB), and the most features, of texts that are summed together. The
# rows are sparse, so the parts that are read and written fit the processor's caches.
BLOCK_NUMBERS = 1 << 19
BLOCK_FEATURES = 1 << 16
NUMBER_BITS = 32

GRAM = 4
CJK_GRAM = 2
YEAR = 4  # digits of the only numbers that count
ASCII = 0x7F
START = np.uint32(0xFFFFFFFF)  # of CRC-32
# Share of a word's length that its grams have together; the word itself has the rest.
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


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The features of words: hash keys and signed values ``(f,)``.

    Those of word ``i`` are the slice ``offsets[i]:offsets[i + 1]``: its stem, then its grams.
    ``offsets`` is ``(m + 1,)``.
    """

    offsets: NDArray[np.int64]
    keys: NDArray[np.uint32]
    values: NDArray[np.float64]


def carries_meaning(words: WordSpans) -> BoolArray:
    """Return which words ``(m,)`` have features.

    Not function words, single letters (except of scripts without spaces), and numbers that are not
    years.
    """
    telling = (words.lengths > 1) | (words.codes[words.starts] > UNSPACED)
    number = consist_of(words, is_digit(words.codes))
    telling &= ~number | (words.lengths == YEAR)
    telling &= ~np.isin(hash_words(words), _stop_words())
    return telling


@cache
def _stop_words() -> HashArray:
    return hash_words(split_words(sorted(STOP_WORDS)).words)


def find_features(words: WordSpans) -> Features:
    """Return the features of words."""
    plain = consist_of(words, words.codes <= ASCII)
    grams = np.maximum(words.lengths + 3 - GRAM, 1)
    spelled = {int(place): words.spell(int(place)) for place in np.flatnonzero(~plain)}
    pieces = {place: _grams(word) for place, word in spelled.items()}
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
    return Features(offsets, checks >> np.uint32(1), np.where(checks & 1, weights, -weights))


def _check_stems(words: WordSpans) -> NDArray[np.uint32]:
    """Return the CRC-32 of each word's stem behind an equals sign, ``(m,)``; ASCII only."""
    lengths = stem_ends(words) - words.starts
    order = np.argsort(lengths)
    starts, lengths = words.starts[order], lengths[order]
    state = _crc(np.full(len(words), START), np.full(len(words), ord("="), np.uint32))
    for place in range(int(lengths.max(initial=0))):
        longer = slice(np.searchsorted(lengths, place, side="right"), None)
        state[longer] = _crc(state[longer], words.codes[starts[longer] + place])
    checks = np.zeros_like(state)
    checks[order] = ~state
    return checks


def _check_grams(words: WordSpans, nth: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the CRC-32 of the ``nth`` gram of each marked word, both ``(m,)``; ASCII only."""
    state = np.full(len(words), START)
    for place in range(GRAM):
        at = nth + place - 1
        inside = (at >= 0) & (at < words.lengths)
        letters = np.where(at < 0, np.uint32(ord("<")), np.uint32(ord(">")))
        letters[inside] = words.codes[words.starts[inside] + at[inside]]
        # A word of one letter is shorter with its marks than a gram.
        there = at <= words.lengths
        state[there] = _crc(state[there], letters[there])
    return ~state


def _crc(state: NDArray[np.uint32], letters: CodeArray) -> NDArray[np.uint32]:
    """Return the state of CRC-32 after one more byte each."""
    table = _crc_table()
    after: NDArray[np.uint32] = table[(state ^ letters) & np.uint32(0xFF)] ^ (state >> np.uint32(8))
    return after


@cache
def _crc_table() -> NDArray[np.uint32]:
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, (values >> 1) ^ np.uint32(0xEDB88320), values >> 1)
    return values


def _grams(word: str) -> tuple[str, ...]:
    """Return overlapping parts of the marked word; pairs in unspaced scripts."""
    length = CJK_GRAM if any(ord(letter) > UNSPACED for letter in word) else GRAM
    marked = f"<{word}>"
    return tuple(marked[i : i + length] for i in range(max(1, len(marked) - length + 1)))
