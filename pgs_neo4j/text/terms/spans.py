"""Finds the words of many texts at once, with array operations instead of loops.

The texts become one array of code points, and a table classifies each of them. The boundaries and
hashes of all words follow from the classes. The words are the same as in
:func:`pgs_neo4j.text.words.words`, and in addition:

- numbers of any length,
- whole identifiers: ``maxRetries`` besides ``max`` and ``retries``,
- in scripts without spaces, each letter and each pair of letters.

This takes about as long as one regular expression, and most of it without the interpreter lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.normal_form import is_mark, normal_form
from pgs_neo4j.text.words import MIN_STEM, stem

BoolArray = NDArray[np.bool_]
CodeArray = NDArray[np.uint8] | NDArray[np.uint32]
IntArray = NDArray[np.int64]
HashArray = NDArray[np.uint64]

# Kinds of characters. All except OTHER are parts of words. A mark has the kind of its letter.
OTHER, LOWER, UPPER, LETTER, DIGIT, UNSPACED = range(6)

# Scripts without spaces: Thai and Lao, Myanmar, Khmer, and the scripts of East Asia.
UNSPACED_RANGES = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x2E80, 0xA4CF),
    (0xF900, 0xFAFF),
)
PLANE = 0x20000  # code points in the table; higher code points are rare ideographs
LAST_ASCII = 127
CASE = 32  # the distance from an ASCII capital to its small letter
SEPARATOR = "\n"
FEWEST_BITS, MORE_BITS = 16, 5  # sizes of the tables of powers: 2**16, 2**21, 2**26, …
LONGEST_WORD = 64  # letters; longer runs are data
TEXT_BITS = 16  # a sort key is the hash of a word and the number of its text in the batch

# The factor is odd, so it has an inverse modulo 2**64. It is the golden ratio of Fibonacci hashing.
FACTOR = 0x9E3779B97F4A7C15
MIXER = np.uint64(0xBF58476D1CE4E5B9)  # a constant of SplitMix64 (Steele et al. 2014)
DERIVED = (
    *("izationally", "izational", "izations", "ization", "ationally", "ational", "ionally"),
    *("ability", "ibility", "abilit", "ibilit", "fulness", "iveness", "ousness"),
    *("ically", "ional", "ality", "alism", "alist", "ivity", "izing", "ating"),
    *("alit", "ivit", "ance", "ence", "able", "ible", "ness", "ator", "ated", "ates", "ized"),
    *("ical", "ial", "ant", "ent", "anc", "enc", "abl", "ibl", "ful", "ity", "ive", "ize"),
    *("ism", "ist", "ate", "ics", "ous", "al", "ic", "it", "iv", "iz", "at"),
)
"""Endings that derive one word from another, longest first; stemming has shortened some."""


class WordHasher:
    """Hashes spans of ``codes`` by a polynomial over the letters, modulo 2**64.

    Equal spans have equal hashes in any batch of texts and on any machine.
    """

    def __init__(self, codes: CodeArray) -> None:
        powers, self._inverse = _get_powers(len(codes))
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

    Word ``i`` is ``codes[starts[i]:ends[i]]``, in lower case, and belongs to text ``texts[i]``.
    ``starts``, ``ends``, and ``texts`` are ``(m,)``. ``codes`` ``(c,)`` are the code points of all
    texts, and ``hasher`` hashes them.
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
        """The number of letters of each word, ``(m,)``."""
        return self.ends - self.starts

    def at(self, places: IntArray | BoolArray) -> WordSpans:
        """Return the words at ``places``, which are indices or a mask ``(m,)``."""
        starts, ends, texts = self.starts[places], self.ends[places], self.texts[places]
        return WordSpans(self.codes, self.hasher, starts, ends, texts)

    def and_more(self, others: WordSpans) -> WordSpans:
        """Return these words followed by other words of the same texts."""
        columns = zip(
            (self.starts, self.ends, self.texts),
            (others.starts, others.ends, others.texts),
            strict=True,
        )
        return WordSpans(self.codes, self.hasher, *map(np.concatenate, columns))

    def spell(self, place: int) -> str:
        """Return one word as a string."""
        return "".join(map(chr, self.codes[self.starts[place] : self.ends[place]].tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class SplitTexts:
    """The words of a batch of texts, including function words.

    ``runs`` are words as written, in reading order. ``words`` are the same, with identifiers
    divided at their humps, and ``wholes`` are these identifiers undivided. ``signs`` are letters
    and pairs of letters of scripts without spaces; with ``apart``, no word contains them.
    ``text_starts`` ``(k,)`` is the place of each text's first character.
    """

    runs: WordSpans
    words: WordSpans
    wholes: WordSpans
    signs: WordSpans
    text_starts: IntArray


def split_words(texts: Sequence[str], *, apart: bool = False) -> SplitTexts:
    """Return the words of ``texts``; ``apart`` keeps scripts without spaces out of the words.

    All places count the characters of the joined texts in normal form.
    """
    texts = [normal_form(text) for text in texts]
    joined = SEPARATOR.join(texts) + SEPARATOR
    codes, kinds = classify(joined)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + len(SEPARATOR)
    text_ends = np.cumsum(lengths)
    signs = _find_signs(kinds)
    part = kinds != OTHER
    if apart and len(signs[0][0]):
        part &= kinds != UNSPACED
    humps = _find_humps(kinds)
    starts, ends = _find_runs(part)
    inside = np.unique(np.searchsorted(starts, humps, side="right") - 1)

    hasher = WordHasher(codes)

    def spans(starts: IntArray, ends: IntArray) -> WordSpans:
        return WordSpans(codes, hasher, starts, ends, _find_texts(starts, text_ends))

    runs = spans(starts, ends)
    divided = len(humps) > 0
    singles, pairs = (spans(*places) for places in signs)
    return SplitTexts(
        runs=runs,
        words=spans(_insert(starts, humps), _insert(ends, humps)) if divided else runs,
        wholes=runs.at(inside),
        signs=singles.and_more(pairs),
        text_starts=text_ends - lengths,
    )


def _find_texts(starts: IntArray, text_ends: IntArray) -> IntArray:
    """Return the number ``(m,)`` of the text that contains each place; ``starts`` ascend."""
    counts = np.diff(np.searchsorted(starts, text_ends), prepend=0)
    return np.repeat(np.arange(len(text_ends)), counts)


def _find_runs(part: BoolArray) -> tuple[IntArray, IntArray]:
    """Return starts and ends ``(r,)`` of the runs of word characters."""
    edges = np.flatnonzero(part[1:] != part[:-1]) + 1
    if part[0]:
        edges = np.concatenate(([0], edges))
    return edges[::2], edges[1::2]


def _find_humps(kinds: NDArray[np.uint8]) -> IntArray:
    """Return the places ``(h,)`` inside identifiers at which another word begins.

    A capital begins a word after a small letter, or between a capital and two small letters.
    """
    capitals = np.flatnonzero(kinds == UPPER)
    capitals = capitals[capitals > 0]
    before = kinds[capitals - 1]
    after = kinds[np.minimum(capitals[:, None] + [1, 2], len(kinds) - 1)] == LOWER
    humps: IntArray = capitals[(before == LOWER) | ((before == UPPER) & after.all(axis=1))]
    return humps


def _find_signs(kinds: NDArray[np.uint8]) -> list[tuple[IntArray, IntArray]]:
    """Return starts and ends of letters of scripts without spaces, then of pairs of them."""
    single = np.flatnonzero(kinds == UNSPACED)
    pairs = single[:-1][np.diff(single) == 1]
    return [(single, single + 1), (pairs, pairs + 2)]


def _insert(places: IntArray, more: IntArray) -> IntArray:
    """Merge two sorted lists of places into one."""
    return np.insert(places, np.searchsorted(places, more), more) if len(more) else places


def classify(text: str) -> tuple[CodeArray, NDArray[np.uint8]]:
    """Return lower-case code points and kinds of a text's characters, both ``(c,)``."""
    if text.isascii():
        plain = text.encode("ascii")
        return np.frombuffer(plain.lower(), np.uint8), _classify_ascii(plain)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    # Most characters are ASCII in most texts, and a table of bytes is fastest for them.
    kinds = _classify_ascii(np.minimum(codes, LAST_ASCII).astype(np.uint8).tobytes()).copy()
    codes += (kinds == UPPER) * np.uint32(CASE)
    others = np.flatnonzero(codes > LAST_ASCII)
    kind_of, lower_of = _make_tables(PLANE)
    wide = codes[others]
    entries = np.minimum(wide, PLANE)
    kinds[others] = kind_of[entries]
    codes[others] = np.where(wide < PLANE, lower_of[entries], wide)
    return codes, kinds


def _classify_ascii(plain: bytes) -> NDArray[np.uint8]:
    """Return the kind of each byte ``(c,)``; bytes are below 128."""
    return np.frombuffer(plain.translate(_make_byte_kinds()), np.uint8)


@cache
def _make_byte_kinds() -> bytes:
    """Return the kinds of all 256 bytes; only the kinds of ASCII are right."""
    return _make_tables(LAST_ASCII + 1)[0][: LAST_ASCII + 1].tobytes().ljust(256, b"\0")


@cache
def _make_tables(size: int) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return kinds and lower cases of the first code points, both ``(size + 1,)``.

    The last entry stands for all higher code points.
    """
    kinds = np.zeros(size + 1, np.uint8)
    lower = np.arange(size + 1, dtype=np.uint32)
    for code, letter in enumerate(map(chr, range(size))):
        if letter.isalnum() or is_mark(letter):
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


def is_digit(codes: CodeArray) -> BoolArray:
    """Return which code points ``(m,)`` are decimal digits."""
    if codes.dtype == np.uint8:
        return (codes >= ord("0")) & (codes <= ord("9"))
    digits: BoolArray = _make_tables(PLANE)[0][np.minimum(codes, PLANE)] == DIGIT
    return digits


def hash_words(words: WordSpans) -> HashArray:
    """Return the hashes ``(m,)`` of words."""
    return words.hasher.hash(words.starts, words.ends)


@cache
def hash_word_set(words: frozenset[str]) -> HashArray:
    """Return the hashes ``(m,)`` of a set of words, such as stop words."""
    return hash_words(split_words(sorted(words)).words)


def sort_keys(hashes: HashArray, texts: IntArray) -> HashArray:
    """Return sort keys ``(m,)``: the first bits of the hashes ``(m,)``, then the texts ``(m,)``."""
    low = np.uint64((1 << TEXT_BITS) - 1)
    keys: HashArray = (hashes & ~low) | texts.astype(np.uint64)
    return keys


def run_starts(*ordered: NDArray[np.generic]) -> IntArray:
    """Return the first place of each run of equal rows, ``(r,)``; columns are ``(k,)``."""
    if not len(ordered[0]):
        return np.zeros(0, np.int64)
    new = np.zeros(len(ordered[0]), np.bool_)
    new[0] = True
    for column in ordered:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def _get_powers(count: int) -> tuple[HashArray, HashArray]:
    """Return tables of at least ``count`` powers; sizes grow in steps, so few tables are cached."""
    steps = max(0, -(-(count.bit_length() - FEWEST_BITS) // MORE_BITS))
    return _compute_powers(1 << (FEWEST_BITS + MORE_BITS * steps))


@cache
def _compute_powers(count: int) -> tuple[HashArray, HashArray]:
    """Return the first powers of the factor and of its inverse, both ``(count,)``."""
    powers = []
    for factor in (FACTOR, pow(FACTOR, -1, 1 << 64)):
        values = np.full(count, factor, np.uint64)
        values[0] = 1
        powers.append(np.cumprod(values, dtype=np.uint64))
    return powers[0], powers[1]


def stem_ends(words: WordSpans) -> IntArray:
    """Return the place where each word's stem ends, ``(m,)``.

    The words are spelled one by one, which is fast for the distinct words of texts. Words of more
    than ``LONGEST_WORD`` letters are data and keep their endings.
    """
    text = _decode(words.codes)
    stemmed = words.lengths <= LONGEST_WORD
    starts, ends = words.starts[stemmed], words.ends.copy()
    spans = zip(starts.tolist(), ends[stemmed].tolist(), strict=True)
    lengths = (len(stem(text[start:end])) for start, end in spans)
    ends[stemmed] = starts + np.fromiter(lengths, np.int64, len(starts))
    return ends


def _decode(codes: CodeArray) -> str:
    """Return code points as a string."""
    if codes.dtype == np.uint8:
        return codes.tobytes().decode("ascii")
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def family_ends(words: WordSpans, ends: IntArray) -> IntArray:
    """Return the place where each word's root ends, ``(m,)``; derived words share a root.

    ``ends`` ``(m,)`` are the ends of the stems. "organize", "organization", and "organizational"
    share a root, which need not be a word. Only words of the letters a to z lose an ending: one of
    ``DERIVED``, then a last e, i, or y, and a doubled letter. This follows the second half of
    Porter's algorithm (1980), but is simpler: an ending is never replaced by another.
    """
    codes, starts, ends = words.codes, words.starts, ends.copy()
    plain = consist_of(words, (codes >= ord("a")) & (codes <= ord("z")))
    open_ = plain & (ends - starts > MIN_STEM)
    for suffix in DERIVED:
        found = np.flatnonzero(open_ & (ends - starts >= len(suffix) + MIN_STEM))
        for back, letter in enumerate(reversed(suffix), start=1):
            found = found[codes[ends[found] - back] == ord(letter)]
        ends[found] -= len(suffix)
        open_[found] = False
    for letters in ("iy", "e"):
        long = np.flatnonzero(plain & (ends - starts > MIN_STEM))
        cut = np.isin(codes[ends[long] - 1], [ord(letter) for letter in letters])
        ends[long[cut]] -= 1
    long = np.flatnonzero(plain & (ends - starts > MIN_STEM))
    last = codes[ends[long] - 1]
    double = (last == codes[ends[long] - 2]) & (last != ord("s")) & (last != ord("z"))
    ends[long[double]] -= 1
    return ends


def consist_of(words: WordSpans, allowed: BoolArray) -> BoolArray:
    """Return which words ``(m,)`` have only the characters at ``allowed`` places ``(c,)``."""
    others = np.zeros(len(words.codes) + 1, np.int32)
    np.cumsum(~allowed, dtype=np.int32, out=others[1:])
    same: BoolArray = others[words.ends] == others[words.starts]
    return same
