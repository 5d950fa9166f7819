"""Finds the words of many texts at once, with array operations instead of loops.

The texts become one array of code points. A table classifies each of them. From that follow the
boundaries, hashes, and stems of all words. The words are those of
:func:`pgs_neo4j.text.words.words`, and in addition:

- numbers of any length,
- whole identifiers: ``maxRetries`` besides ``max`` and ``retries``,
- in scripts without spaces, each letter and each pair of letters.

This takes about as long as one regular expression, and most of it without the interpreter lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
HashArray = NDArray[np.uint64]
CodeArray = NDArray[np.uint8] | NDArray[np.uint32]

SEPARATOR = "\n"
BATCH = 1 << 20  # characters to split together; their arrays fit the processor's caches
SMALLEST = 1 << 16  # powers that are computed at least, in a millisecond
TEXT_BITS = 16  # a sort key is the hash of a word and the number of its text in the batch
# Kinds of characters. All but OTHER are parts of words.
OTHER, LOWER, UPPER, LETTER, DIGIT, UNSPACED = range(6)
# Scripts without spaces: Thai and Lao, Myanmar, Khmer, and those of East Asia.
UNSPACED_RANGES = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x2E80, 0xA4CF),
    (0xF900, 0xFAFF),
)
PLANE = 0x20000  # code points in the table; those above are rare ideographs
# Odd, so that it has an inverse modulo 2**64; the golden ratio, as in Fibonacci hashing.
FACTOR = 0x9E3779B97F4A7C15
MIXER = np.uint64(0xBF58476D1CE4E5B9)  # of SplitMix64 (Steele et al. 2014)


class WordHasher:
    """Hashes spans of ``codes``: a polynomial over the letters, modulo 2**64.

    Equal spans have equal hashes in any batch of texts and on any machine.
    """

    def __init__(self, codes: CodeArray) -> None:
        powers, self._inverse = _powers(max(SMALLEST, 1 << len(codes).bit_length()))
        self._sums = np.zeros(len(codes) + 1, np.uint64)
        letters = codes.astype(np.uint64)
        letters += np.uint64(1)
        letters *= powers[: len(codes)]
        np.cumsum(letters, out=self._sums[1:])

    def hash(self, starts: IntArray, ends: IntArray) -> HashArray:
        """Return the hashes ``(m,)`` of the spans from ``starts`` to ``ends`` ``(m,)``."""
        state: HashArray = (self._sums[ends] - self._sums[starts]) * self._inverse[starts]
        state ^= state >> np.uint64(29)
        state *= MIXER
        state ^= state >> np.uint64(32)
        return state


@dataclass(frozen=True, slots=True, eq=False)
class WordSpans:
    """Words in a batch of texts.

    Word ``i`` is ``codes[starts[i]:ends[i]]``, in lower case, of text ``texts[i]``. These three are
    ``(m,)``. ``codes`` ``(c,)`` are the code points of all texts, and ``hasher`` hashes them.
    """

    codes: CodeArray
    hasher: WordHasher
    starts: IntArray
    ends: IntArray
    texts: IntArray

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.starts)

    @property
    def lengths(self) -> IntArray:
        """Letters of each word, ``(m,)``."""
        return self.ends - self.starts

    def at(self, places: IntArray | BoolArray) -> WordSpans:
        """Return the words at ``places``, indices or a mask ``(m,)``."""
        starts, ends, texts = self.starts[places], self.ends[places], self.texts[places]
        return WordSpans(self.codes, self.hasher, starts, ends, texts)

    def spell(self, place: int) -> str:
        """Return one word as a string."""
        return "".join(map(chr, self.codes[self.starts[place] : self.ends[place]].tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class SplitTexts:
    """The words of a batch of texts, function words included.

    ``runs`` are in reading order, as they are written. ``words`` are the same with identifiers
    divided at their humps, and ``wholes`` are those identifiers. ``signs`` are letters and pairs
    of letters of scripts without spaces; with ``apart``, no word contains them.
    """

    runs: WordSpans
    words: WordSpans
    wholes: WordSpans
    signs: WordSpans


def split_words(texts: Sequence[str], *, apart: bool = False) -> SplitTexts:
    """Return the words of ``texts``; ``apart`` keeps unspaced scripts out of the words."""
    joined = SEPARATOR.join(texts) + SEPARATOR
    codes, kinds = _classify(joined)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    text_ends = np.cumsum(lengths + len(SEPARATOR))
    signs = _find_signs(kinds)
    part = kinds != OTHER
    if apart and len(signs[0]):
        part &= kinds != UNSPACED
    humps = _find_humps(kinds)
    starts, ends = _find_runs(part)
    inside = np.unique(np.searchsorted(starts, humps, side="right") - 1)

    hasher = WordHasher(codes)

    def spans(starts: IntArray, ends: IntArray) -> WordSpans:
        texts = np.searchsorted(text_ends, starts, side="right")
        return WordSpans(codes, hasher, starts, ends, texts)

    runs = spans(starts, ends)
    divided = len(humps) > 0
    return SplitTexts(
        runs=runs,
        words=spans(_insert(starts, humps), _insert(ends, humps)) if divided else runs,
        wholes=runs.at(inside),
        signs=spans(*signs),
    )


def _classify(text: str) -> tuple[CodeArray, NDArray[np.uint8]]:
    """Return lower-case code points and kinds of a text's characters, both ``(c,)``."""
    if text.isascii():
        kind_of, lower_of = _tables(128)
        plain = np.frombuffer(text.encode("ascii"), np.uint8)
        return lower_of.astype(np.uint8)[plain], kind_of[plain]
    kind_of, lower_of = _tables(PLANE)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    entries = np.minimum(codes, PLANE)
    return np.where(codes < PLANE, lower_of[entries], codes), kind_of[entries]


def _find_runs(part: BoolArray) -> tuple[IntArray, IntArray]:
    """Return starts and ends ``(r,)`` of the runs of word characters."""
    edges = np.flatnonzero(part[1:] != part[:-1]) + 1
    if part[0]:
        edges = np.concatenate(([0], edges))
    return edges[::2], edges[1::2]


def _find_humps(kinds: NDArray[np.uint8]) -> IntArray:
    """Return the places ``(h,)`` inside identifiers at which another word begins.

    A capital begins a word after a small letter, and before two of them.
    """
    capitals = np.flatnonzero(kinds == UPPER)
    capitals = capitals[capitals > 0]
    before = kinds[capitals - 1]
    after = kinds[np.minimum(capitals[:, None] + [1, 2], len(kinds) - 1)] == LOWER
    humps: IntArray = capitals[(before == LOWER) | ((before == UPPER) & after.all(axis=1))]
    return humps


def _find_signs(kinds: NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
    single = np.flatnonzero(kinds == UNSPACED)
    pairs = single[:-1][np.diff(single) == 1]
    return np.concatenate((single, pairs)), np.concatenate((single + 1, pairs + 2))


def _insert(places: IntArray, more: IntArray) -> IntArray:
    """Return two sorted lists of places as one."""
    return np.sort(np.concatenate((places, more)), kind="stable") if len(more) else places


@cache
def _tables(size: int) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return kinds and lower cases of the first code points, both ``(size + 1,)``.

    The last entry stands for all code points beyond.
    """
    kinds = np.zeros(size + 1, np.uint8)
    lower = np.arange(size + 1, dtype=np.uint32)
    for code, letter in enumerate(map(chr, range(size))):
        if letter.isalnum():
            kinds[code] = DIGIT if letter.isdecimal() else LETTER
            small = letter.lower()
            if len(small) == 1:
                lower[code] = ord(small)
    for first, last in UNSPACED_RANGES:
        chosen = kinds[first : last + 1]
        chosen[chosen == LETTER] = UNSPACED
    kinds[size] = UNSPACED
    kinds[ord("a") : ord("z") + 1] = LOWER
    kinds[ord("A") : ord("Z") + 1] = UPPER
    return kinds, lower


def batches(texts: Sequence[str]) -> Iterator[tuple[list[str], IntArray]]:
    """Yield pieces of texts and the places ``(k,)`` of their texts, ``BATCH`` characters at a time.

    Only a longer text is cut, at a blank if possible.
    """
    pieces: list[str] = []
    places: list[int] = []
    size = 0
    for place, text in enumerate(texts):
        for piece in _pieces(text):
            if pieces and (size + len(piece) > BATCH or len(pieces) >= 1 << TEXT_BITS):
                yield pieces, np.array(places)
                pieces, places, size = [], [], 0
            pieces.append(piece)
            places.append(place)
            size += len(piece)
    if pieces:
        yield pieces, np.array(places)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > BATCH:
        blank = text.rfind(" ", start + BATCH // 2, start + BATCH)
        end = blank if blank > 0 else start + BATCH
        yield text[start:end]
        start = end
    yield text[start:]


def is_digit(codes: CodeArray) -> BoolArray:
    """Return which code points ``(m,)`` are decimal digits."""
    if codes.dtype == np.uint8:
        return (codes >= ord("0")) & (codes <= ord("9"))
    digits: BoolArray = _tables(PLANE)[0][np.minimum(codes, PLANE)] == DIGIT
    return digits


def hash_words(words: WordSpans) -> HashArray:
    """Return the hashes ``(m,)`` of some words."""
    return words.hasher.hash(words.starts, words.ends)


def sort_keys(hashes: HashArray, words: WordSpans) -> HashArray:
    """Return sort keys ``(m,)``: the first bits of the hash of a word, then its text."""
    low = np.uint64((1 << TEXT_BITS) - 1)
    keys: HashArray = (hashes & ~low) | words.texts.astype(np.uint64)
    return keys


def run_starts(*ordered: NDArray[np.generic]) -> IntArray:
    """Return the place of the first of each run of equal rows, ``(r,)``; columns are ``(k,)``."""
    if not len(ordered[0]):
        return np.zeros(0, np.int64)
    new = np.zeros(len(ordered[0]), np.bool_)
    new[0] = True
    for column in ordered:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


@cache
def _powers(count: int) -> tuple[HashArray, HashArray]:
    """Return the first powers of the factor and of its inverse, both ``(count,)``."""
    powers = []
    for factor in (FACTOR, pow(FACTOR, -1, 1 << 64)):
        values = np.full(count, factor, np.uint64)
        values[0] = 1
        powers.append(np.cumprod(values, dtype=np.uint64))
    return powers[0], powers[1]
