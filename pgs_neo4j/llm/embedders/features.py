"""Features of words for the hashing embedder: their stems and grams.

The hash of a feature is CRC-32, so that it is the same on every machine.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.matching import UNSPACED
from pgs_neo4j.text.terms.characters import BoolArray, CodeArray, is_digit
from pgs_neo4j.text.terms.spans import HashArray, WordSpans, hash_words, split_words
from pgs_neo4j.text.terms.stems import consist_of, stem_ends
from pgs_neo4j.text.words import STOP_WORDS, stem

GRAM = 4
CJK_GRAM = 2
YEAR = 4  # digits of the only numbers that count
ASCII = 0x7F
START = np.uint32(0xFFFFFFFF)  # of CRC-32
# Share of a word's length that its grams have together; the word itself has the rest.
GRAM_NORM = 0.5


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
