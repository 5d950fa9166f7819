"""A lexical embedder without a model: feature hashing of words and parts.

Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009), with signed buckets
so that collisions cancel on average. Sub-word grams (as in fastText, Bojanowski et al. 2017) bring
inflections and compounds together. It measures shared vocabulary, not meaning: synonyms have
nothing in common.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pgs_neo4j.errors import ConfigError
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.text.matching import UNSPACED
from pgs_neo4j.text.terms.spans import (
    CodeArray,
    HashArray,
    WordSpans,
    hash_words,
    is_digit,
    split_words,
)
from pgs_neo4j.text.terms.stems import consist_of, stem_ends
from pgs_neo4j.text.words import STOP_WORDS, stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 2048
# Texts hashed together: bounds the arrays to some 30 MB and keeps cancellation prompt.
BATCH = 1024
GRAM = 4
CJK_GRAM = 2
YEAR = 4  # digits of the only numbers that count
ASCII = 0x7F
START = np.uint32(0xFFFFFFFF)  # of CRC-32
# Share of a word's length that its grams have together; the word itself has the rest.
GRAM_NORM = 0.5
# Measured with centered routing on our own partitions, asked with the first sentence of 800
# nodes. Standard library (60 partitions): the node's own partition is kept in 74 %, 9 % of all
# partitions are; without centering 98 % and 86 %. physics2 (one subject, 12 partitions): 64 %
# and 29 %. The own one is among the best 15 in 89 % and 100 %.
THRESHOLD = 0.1


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
        self.threshold: float | None = THRESHOLD
        self._size = dimensions

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in float32, computed in a thread.

        The row of a text without a content word is zero.
        """
        rows = np.zeros((len(texts), self._size), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            rows[start : start + len(batch)] = await asyncio.to_thread(_hash, batch, self._size)
        return rows

    async def close(self) -> None:
        """Do nothing; there is nothing to release."""


def _hash(texts: Sequence[str], size: int) -> NDArray[np.float32]:
    """Sum (1 + ln tf) times the features of each text's words."""
    found = split_words(texts).words
    found = found.at((found.lengths > 1) | (found.codes[found.starts] > UNSPACED))
    hashes, first, place = np.unique(hash_words(found), return_index=True, return_inverse=True)
    distinct = found.at(first)
    number = consist_of(distinct, is_digit(distinct.codes))
    telling = ~np.isin(hashes, _stop_words()) & (~number | (distinct.lengths == YEAR))
    pairs, counts = np.unique(
        (place * len(texts) + found.texts)[telling[place]], return_counts=True
    )
    if not len(pairs):
        return np.zeros((len(texts), size), dtype=np.float32)
    word_of, text_of = np.divmod(pairs, len(texts))
    offsets, keys, values = _features(distinct)
    lengths = np.diff(offsets)[word_of]
    ends = np.cumsum(lengths)
    flat = np.arange(ends[-1]) - np.repeat(ends - lengths - offsets[:-1][word_of], lengths)
    buckets = np.repeat(text_of, lengths) * size + keys[flat] % size
    weights = np.repeat(1 + np.log(counts), lengths) * values[flat]
    sums = np.bincount(buckets, weights, minlength=len(texts) * size)
    return unit(sums.reshape(-1, size).astype(np.float64, copy=False)).astype(np.float32)


@cache
def _stop_words() -> HashArray:
    return hash_words(split_words(sorted(STOP_WORDS)).words)


def _features(
    words: WordSpans,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Hash keys and signed values ``(f,)``, sliced per word by ``offsets`` ``(m + 1,)``.

    Word ``i`` has the slice ``offsets[i]:offsets[i + 1]``: its stem, then its grams.
    """
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
    return offsets, (checks >> 1).astype(np.int64), np.where(checks & 1, weights, -weights)


def _check_stems(words: WordSpans) -> NDArray[np.uint32]:
    """Return the CRC-32 of each word's stem behind an equals sign, ``(m,)``; ASCII only."""
    state = _crc(np.full(len(words), START), np.full(len(words), ord("="), np.uint32))
    lengths = stem_ends(words) - words.starts
    for place in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        state[longer] = _crc(state[longer], words.codes[words.starts[longer] + place])
    return ~state


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
