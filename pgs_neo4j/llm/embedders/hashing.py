"""A lexical embedder without a model: feature hashing of words and parts.

Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009), with signed buckets
so that collisions cancel on average. Sub-word grams (as in fastText, Bojanowski et al. 2017) bring
inflections and compounds together. It measures shared vocabulary, not meaning: synonyms have
nothing in common.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pgs_neo4j.errors import ConfigError
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.text.words import stem, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 2048
# Texts hashed together: bounds the arrays to some 30 MB and keeps cancellation prompt.
BATCH = 1024
GRAM = 4
CJK_GRAM = 2
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
    vocabulary: dict[str, int] = {}
    rows: list[int] = []
    ids: list[int] = []
    counts: list[int] = []
    for row, text in enumerate(texts):
        for word, count in Counter(words(text)).items():
            rows.append(row)
            ids.append(vocabulary.setdefault(word, len(vocabulary)))
            counts.append(count)
    if not rows:
        return np.zeros((len(texts), size), dtype=np.float32)
    offsets, keys, values = _features(vocabulary)
    text_of, word_of = np.array(rows), np.array(ids)
    lengths = np.diff(offsets)[word_of]
    ends = np.cumsum(lengths)
    flat = np.arange(ends[-1]) - np.repeat(ends - lengths - offsets[:-1][word_of], lengths)
    buckets = np.repeat(text_of, lengths) * size + keys[flat] % size
    weights = np.repeat(1 + np.log(np.array(counts)), lengths) * values[flat]
    sums = np.bincount(buckets, weights, minlength=len(texts) * size)
    return unit(sums.reshape(-1, size).astype(np.float64, copy=False)).astype(np.float32)


def _features(
    vocabulary: dict[str, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Hash keys and signed values, sliced per word by ``offsets``.

    Word ``id`` has the slice ``offsets[id]:offsets[id + 1]``.
    """
    offsets, keys, values = [0], [], []
    for word in vocabulary:
        pieces = _grams(word)
        weights = [1.0, *([GRAM_NORM / len(pieces) ** 0.5] * len(pieces))]
        for feature, weight in zip((f"={stem(word)}", *pieces), weights, strict=True):
            key = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
            keys.append(key >> 1)
            values.append(weight if key & 1 else -weight)
        offsets.append(len(keys))
    return np.array(offsets), np.array(keys), np.array(values)


def _grams(word: str) -> tuple[str, ...]:
    """Return overlapping parts of the marked word; pairs in unspaced scripts."""
    length = CJK_GRAM if any(ord(letter) > 0x2E80 for letter in word) else GRAM
    marked = f"<{word}>"
    return tuple(marked[i : i + length] for i in range(max(1, len(marked) - length + 1)))
