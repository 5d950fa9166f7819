"""Numbers the distinct words of texts, so that values of a word are computed only once.

A hash table with open addressing finds the numbers of all words of a batch at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.terms.spans import (
    HashArray,
    IntArray,
    WordHasher,
    WordSpans,
    hash_words,
    split_words,
)

Compute = Callable[[WordSpans], NDArray[Any]]
"""Computes a value or a row of values for each word, ``(m,)`` or ``(m, d)``."""

# A vocabulary that exceeds one of these limits is replaced by a new one.
MOST_WORDS = 1 << 16
MOST_LETTERS = 1 << 22
FEWEST_SLOTS = 1 << 10


@dataclass(frozen=True, slots=True, eq=False)
class NumberedWords:
    """Words of texts: their numbers in a vocabulary and the numbers of their texts, ``(m,)``."""

    vocabulary: Vocabulary
    numbers: IntArray
    texts: IntArray

    def at(self, chosen: NDArray[np.bool_]) -> NumberedWords:
        """Return the words chosen by a mask ``(m,)``."""
        return NumberedWords(self.vocabulary, self.numbers[chosen], self.texts[chosen])

    def column(self, compute: Compute) -> NDArray[Any]:
        """Return the value that ``compute`` gives each word, ``(m,)``."""
        values: NDArray[Any] = self.vocabulary.column(compute)[self.numbers]
        return values


class Vocabulary:
    """Distinct words, numbered from 0 in the order in which they come.

    Only one thread may number words. Other threads may read words that are numbered.
    """

    def __init__(self) -> None:
        self.chunks: list[WordSpans] = [split_words([]).words]
        self._firsts = [0]
        self._size = self._letters = 0
        self._columns: dict[Compute, tuple[int, NDArray[Any]]] = {}
        self._spelled: dict[int, str] = {}
        self._hashes = np.zeros(0, np.uint64)
        self._slots = _Slots(self._hashes, FEWEST_SLOTS)

    def __len__(self) -> int:
        """Return the number of distinct words."""
        return self._size

    @property
    def full(self) -> bool:
        """Whether a new vocabulary should replace this one."""
        return self._size > MOST_WORDS or self._letters > MOST_LETTERS

    def number(self, words: WordSpans) -> NumberedWords:
        """Return words with their numbers; new words get the next free numbers."""
        hashes = hash_words(words)
        numbers = self._slots.find(hashes)
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            fresh, first = np.unique(hashes[unknown], return_index=True)
            self._add(fresh, words.at(unknown[first]))
            numbers[unknown] = self._slots.find(hashes[unknown])
        return NumberedWords(self, numbers, words.texts)

    def column(self, compute: Compute) -> NDArray[Any]:
        """Return the value that ``compute`` gives each distinct word, ``(v,)``.

        Each word is computed only once.
        """
        if compute not in self._columns:
            self._columns[compute] = 1, compute(self.chunks[0])
        done, values = self._columns[compute]
        chunks = self.chunks[done:]
        if chunks:
            values = np.concatenate([values, *map(compute, chunks)])
            self._columns[compute] = done + len(chunks), values
        return values

    def spell(self, number: int) -> str:
        """Return a word as a string."""
        if number not in self._spelled:
            at = bisect_right(self._firsts, number) - 1
            self._spelled[number] = self.chunks[at].spell(number - self._firsts[at])
        return self._spelled[number]

    def _add(self, hashes: HashArray, words: WordSpans) -> None:
        """Add distinct words ``(m,)`` with their hashes."""
        self._hashes = np.concatenate((self._hashes, hashes))
        if len(self._hashes) > self._slots.most:
            self._slots = _Slots(self._hashes, 4 * len(self._hashes))
        else:
            self._slots.add(hashes, self._size)
        chunk = _copy_words(words)
        self._firsts.append(self._size)
        self.chunks.append(chunk)
        self._size += len(words)
        self._letters += len(chunk.codes)


class _Slots:
    """A table from hashes to their numbers, at most half full."""

    def __init__(self, hashes: HashArray, least: int) -> None:
        bits = max(least - 1, 1).bit_length()
        self.most = (1 << bits) // 2
        self._shift = np.uint64(64 - bits)
        self._last = (1 << bits) - 1
        self._hashes = np.zeros(1 << bits, np.uint64)
        self._numbers = np.full(1 << bits, -1, np.int32)
        self.add(hashes, 0)

    def find(self, hashes: HashArray) -> IntArray:
        """Return the numbers ``(m,)`` of hashes; -1 for an unknown hash."""
        slots = (hashes >> self._shift).astype(np.int64)
        numbers = self._numbers[slots].astype(np.int64)
        wrong = np.flatnonzero((self._hashes[slots] != hashes) & (numbers >= 0))
        slots = slots[wrong]
        while len(wrong):
            slots = slots + 1 & self._last
            numbers[wrong] = self._numbers[slots]
            still = (self._hashes[slots] != hashes[wrong]) & (numbers[wrong] >= 0)
            wrong, slots = wrong[still], slots[still]
        return numbers

    def add(self, hashes: HashArray, first: int) -> None:
        """Add distinct hashes ``(m,)``, numbered from ``first``."""
        slots = (hashes >> self._shift).astype(np.int64)
        numbers = np.arange(first, first + len(hashes), dtype=np.int32)
        while len(hashes):
            free = np.flatnonzero(self._numbers[slots] < 0)
            self._numbers[slots[free]] = numbers[free]
            self._hashes[slots[free]] = hashes[free]
            # If several hashes want one slot, the last gets it, and the others try the next slot.
            waiting = self._numbers[slots] != numbers
            hashes, numbers = hashes[waiting], numbers[waiting]
            slots = slots[waiting] + 1 & self._last


def _copy_words(words: WordSpans) -> WordSpans:
    """Copy words into a new array of codes, with a gap after each word, so batches can be freed."""
    lengths = words.lengths + 1
    ends = np.cumsum(lengths)
    at = np.arange(ends[-1]) + np.repeat(words.starts - (ends - lengths), lengths)
    codes = words.codes[np.minimum(at, len(words.codes) - 1)]
    codes[ends - 1] = 0
    return WordSpans(codes, WordHasher(codes), ends - lengths, ends - 1, np.zeros_like(ends))
