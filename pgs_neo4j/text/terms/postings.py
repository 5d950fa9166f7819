"""An inverted index of texts: for each term, the texts that contain it and its strength in each.

A term is a hash. It stands for the stem of a word, of a whole identifier, or of a word without its
hyphens, or for letters of a script without spaces. Function words are left out, and texts are
indexed in their normal form. A segment is the index of some texts, numbered from 0. It is stored as
cells, each with the terms of one bucket, so that a question reads few cells.

The strength of a term in a text is its BM25 weight without the rarity of the term (Robertson and
Zaragoza, "The Probabilistic Relevance Framework", 2009), as a byte. So a question needs neither
counts nor lengths of texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.normal_form import joined_words, normal_form
from pgs_neo4j.text.terms.cells import TERM_BITS, unused_bits, write_cell
from pgs_neo4j.text.terms.spans import (
    LONGEST_WORD,
    TEXT_BITS,
    BoolArray,
    HashArray,
    IntArray,
    SplitTexts,
    WordHasher,
    WordSpans,
    hash_word_set,
    hash_words,
    run_starts,
    sort_keys,
    split_words,
    stem_ends,
)
from pgs_neo4j.text.terms.vocabulary import NumberedWords, Vocabulary
from pgs_neo4j.text.words import STOP_WORDS, stem

K1, B = 1.2, 0.75  # the customary values for documents
CELL = 8_000  # bytes of a cell before compression, on average; a question reads one cell per term
NO_TERM = 0
IMPACTS = 1 << 18  # impacts that are computed at once
FULL = 255  # the highest impact, of a term that occurs infinitely often in a text
BATCH = 1 << 20  # maximum number of characters that are split together


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Pieces of texts and their words.

    ``numbers`` ``(k,)`` are the numbers of the pieces' texts, and ``lengths`` ``(k,)`` the pieces'
    lengths in characters. ``whole`` ``(k,)`` marks pieces that are a whole text. ``words`` and
    ``runs`` are the words and runs of ``split``, numbered.
    """

    pieces: Sequence[str]
    numbers: IntArray
    lengths: IntArray
    whole: BoolArray
    split: SplitTexts
    words: NumberedWords
    runs: NumberedWords


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts:
    """How often texts contain terms; all arrays are ``(k,)``, in order of term, then text."""

    terms: HashArray
    texts: NDArray[np.integer]
    counts: NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Segment:
    """An index of ``size`` texts as cells; a term's bucket is its first ``bits`` bits."""

    size: int
    bits: int
    cells: dict[int, bytes] = field(repr=False)


def count_terms(texts: Sequence[str]) -> TermCounts:
    """Return the terms of at most ``2**TEXT_BITS`` texts."""
    split = split_words(texts, apart=True)
    return count_split(split, Vocabulary().number(split.words), texts)


def count_split(split: SplitTexts, words: NumberedWords, texts: Sequence[str]) -> TermCounts:
    """Return the terms of ``texts``.

    ``split`` are the texts split with ``apart``, and ``words`` its words, numbered.
    """
    terms = words.column(_hash_terms)
    is_term = terms != NO_TERM
    wholes = split.wholes.at(split.wholes.lengths <= LONGEST_WORD)
    keys = np.concatenate(
        [
            sort_keys(terms[is_term], words.texts[is_term]),
            sort_keys(wholes.hasher.hash(wholes.starts, stem_ends(wholes)), wholes.texts),
            sort_keys(hash_words(split.signs), split.signs.texts),
            _find_joined_keys(texts),
        ]
    )
    keys.sort()
    first = run_starts(keys)
    counts = np.diff(np.append(first, len(keys)))
    distinct = keys[first]
    return TermCounts(
        terms=distinct >> np.uint64(TEXT_BITS),
        texts=(distinct & np.uint64((1 << TEXT_BITS) - 1)).astype(np.int64),
        counts=counts,
    )


def terms_of(text: str) -> list[int]:
    """Return the distinct terms of a question."""
    distinct: list[int] = np.unique(count_terms([text]).terms).tolist()
    return distinct


def count_question(question: str) -> dict[int, int]:
    """Return the terms of a question, and how often each occurs in it."""
    counted = count_terms([question])
    return dict(zip(counted.terms.tolist(), map(int, counted.counts), strict=True))


def terms_by_text(texts: Sequence[str]) -> list[list[int]]:
    """Return the distinct terms of each text, for short texts."""
    found: list[list[int]] = [[] for _ in texts]
    for pieces, places in batches(texts):
        counted = count_terms(pieces)
        for term, text in zip(counted.terms.tolist(), counted.texts.tolist(), strict=True):
            found[places[text]].append(term)
    return found


def terms_of_stems(stems: Sequence[str]) -> list[int]:
    """Return the term of each stem; a stem is one word in lower case."""
    terms: list[int] = (_hash_stems(stems) >> np.uint64(TEXT_BITS)).tolist()
    return terms


def _find_joined_keys(texts: Sequence[str]) -> HashArray:
    """Return sort keys ``(m,)`` of the hyphenated words in texts, without their hyphens."""
    stems: list[str] = []
    places: list[int] = []
    for place, text in enumerate(texts):
        if more := [word for word in joined_words(normal_form(text)) if len(word) <= LONGEST_WORD]:
            stems += map(stem, more)
            places += [place] * len(more)
    return sort_keys(_hash_stems(stems), np.array(places, np.int64))


def _hash_stems(stems: Sequence[str]) -> HashArray:
    """Return the hashes ``(m,)`` of stems."""
    codes = np.array([ord(letter) for stem in stems for letter in stem], np.uint32)
    ends = np.cumsum(np.fromiter(map(len, stems), np.int64, len(stems)))
    return WordHasher(codes).hash(ends - np.diff(ends, prepend=0), ends)


class SegmentBuilder:
    """Indexes texts in the order in which they are added.

    ``typical`` is the mean length of the texts of the whole graph in characters.
    """

    def __init__(self, typical: float) -> None:
        self._typical = max(typical, 1.0)
        self._parts: list[TermCounts] = []
        self._lengths: list[int] = []
        self._waiting: list[str] = []
        self._waiting_size = 0
        self._vocabulary = Vocabulary()

    @property
    def size(self) -> int:
        """Number of texts so far."""
        return len(self._lengths)

    @property
    def postings(self) -> int:
        """Postings of the texts counted so far; waiting texts are not included."""
        return sum(len(part.terms) for part in self._parts)

    @property
    def full(self) -> bool:
        """Whether enough texts for a batch wait to be counted."""
        return self._waiting_size >= BATCH

    def add(self, texts: Sequence[str]) -> None:
        """Add texts; an empty text only uses up a number."""
        texts = [normal_form(text) for text in texts]
        self._waiting += texts
        self._waiting_size += sum(map(len, texts))
        self._lengths += map(len, texts)

    def take_waiting(self) -> Iterator[tuple[Sequence[str], IntArray]]:
        """Yield the texts that wait for :meth:`count` in batches: pieces and their text numbers."""
        first = self.size - len(self._waiting)
        waiting, self._waiting, self._waiting_size = self._waiting, [], 0
        for pieces, places in batches(waiting):
            yield pieces, places + first

    def count(self, pieces: Sequence[str], numbers: IntArray) -> TextBatch:
        """Count the terms of pieces of texts; this takes most of the time of indexing.

        ``numbers`` ``(k,)`` are the numbers of the pieces' texts. Returns the split words, so that
        callers need not split the texts again.
        """
        if self._vocabulary.full:
            self._vocabulary = Vocabulary()
        split = split_words(pieces, apart=True)
        runs = self._vocabulary.number(split.runs)
        words = runs if split.words is split.runs else self._vocabulary.number(split.words)
        counted = count_split(split, words, pieces)
        texts = numbers[counted.texts].astype(np.uint32)
        self._parts.append(TermCounts(counted.terms, texts, counted.counts.astype(np.uint32)))
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        first, last = int(numbers[0]), int(numbers[-1])
        whole = lengths == np.array(self._lengths[first : last + 1])[numbers - first]
        return TextBatch(pieces, numbers, lengths, whole, split, words, runs)

    def build(self) -> Segment:
        """Return the index of all texts."""
        for pieces, numbers in self.take_waiting():
            self.count(pieces, numbers)
        if not self._parts:
            return Segment(self.size, 0, {})
        whole = self._take_postings()
        terms = whole.terms
        impacts = self._compute_impacts(whole)
        width = 2 if self.size <= 1 << 16 else 4
        bits = _choose_bits(len(terms) * (width + 1))
        buckets = (terms >> np.uint64(TERM_BITS - bits)).astype(np.int64)
        edges = np.searchsorted(buckets, np.arange((1 << bits) + 1))
        short = (terms >> np.uint64(unused_bits(bits))).astype(np.uint32)
        cells = {
            bucket: write_cell(short[start:end], whole.texts[start:end], impacts[start:end], width)
            for bucket, (start, end) in enumerate(pairwise(edges))
            if end > start
        }
        return Segment(self.size, bits, cells)

    def _take_postings(self) -> TermCounts:
        """Return all postings, sorted, and forget them; pieces of one text are added up."""
        parts, self._parts = self._parts, []
        terms = np.concatenate([part.terms for part in parts])
        texts = np.concatenate([part.texts for part in parts])
        counts = np.concatenate([part.counts for part in parts])
        parts.clear()
        order = np.argsort(terms, kind="stable")
        terms, texts, counts = terms[order], texts[order], counts[order]
        first = run_starts(terms, texts)
        if len(first) == len(terms):
            return TermCounts(terms, texts, counts)
        return TermCounts(terms[first], texts[first], np.add.reduceat(counts, first))

    def _compute_impacts(self, postings: TermCounts) -> NDArray[np.uint8]:
        """Return the impacts ``(k,)`` of postings, computed in parts to save memory."""
        lengths = np.array(self._lengths) / self._typical
        impacts = np.zeros(len(postings.terms), np.uint8)
        for start in range(0, len(impacts), IMPACTS):
            part = slice(start, start + IMPACTS)
            counts = postings.counts[part].astype(np.int64)
            weight = counts / (counts + K1 * (1 - B + B * lengths[postings.texts[part]]))
            impacts[part] = np.maximum(np.rint(FULL * weight), 1)
        return impacts


def _choose_bits(size: int) -> int:
    """Return how many bits divide ``size`` bytes into buckets of about ``CELL`` bytes."""
    return min(max(-(-size // CELL) - 1, 0).bit_length(), TERM_BITS - 32)


def _hash_terms(words: WordSpans) -> HashArray:
    """Return the terms ``(m,)`` of words: the hashes of their stems.

    Function words, single letters, and data have ``NO_TERM``.
    """
    hashes = words.hasher.hash(words.starts, stem_ends(words))
    is_term = (words.lengths >= 2) & (words.lengths <= LONGEST_WORD)
    is_term &= ~np.isin(hash_words(words), hash_word_set(STOP_WORDS))
    hashes[~is_term] = NO_TERM
    return hashes


def batches(texts: Sequence[str]) -> Iterator[tuple[Sequence[str], IntArray]]:
    """Yield pieces of texts and the places ``(k,)`` of their texts, ``BATCH`` characters at a time.

    Only a text longer than a batch is cut, at a blank if possible.
    """
    pieces, places = texts, np.arange(len(texts))
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    if lengths.max(initial=0) > BATCH:
        parts = [list(_cut_text(text)) for text in texts]
        pieces, places = list(chain(*parts)), np.repeat(places, list(map(len, parts)))
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    ends = np.cumsum(lengths)
    start = 0
    while start < len(pieces):
        most = ends[start] - lengths[start] + BATCH
        stop = max(start + 1, int(np.searchsorted(ends, most, side="right")))
        stop = min(stop, start + (1 << TEXT_BITS))
        yield pieces[start:stop], places[start:stop]
        start = stop


def is_cut(text: str) -> bool:
    """Return whether a text is longer than a batch."""
    return len(text) > BATCH


def _cut_text(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > BATCH:
        blank = text.rfind(" ", start + BATCH // 2, start + BATCH)
        end = blank if blank > 0 else start + BATCH
        yield text[start:end]
        start = end
    yield text[start:]
