"""An inverted index of texts: for each term, the texts that hold it and how strongly.

A term is the hash of a word's stem, of a whole identifier, or of letters of a script without
spaces. Function words are left out. A segment is the index of some texts that are numbered from 0.
It is stored as cells, each with the terms of one bucket, so that a question reads few of them.

The strength of a term in a text is its BM25 weight without the rarity of the term (Robertson and
Zaragoza, "The Probabilistic Relevance Framework", 2009), as a byte. So a question needs neither
counts nor lengths of texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.terms.cells import TERM_BITS, unused_bits, write_cell
from pgs_neo4j.text.terms.spans import (
    BATCH,
    TEXT_BITS,
    HashArray,
    IntArray,
    SplitTexts,
    WordSpans,
    batches,
    hash_words,
    run_starts,
    sort_keys,
    split_words,
)
from pgs_neo4j.text.terms.stems import stem_ends
from pgs_neo4j.text.words import STOP_WORDS

K1, B = 1.2, 0.75  # the customary values for documents
LONGEST_WORD = 64  # letters; longer runs are data
CELL = 24_000  # bytes of a cell before compression, on average
FULL = 255  # impact of a term that a text holds without end


UseSplit = Callable[[Sequence[str], SplitTexts, IntArray], None]
"""Takes pieces of texts, their words, and the numbers ``(k,)`` of the texts that they are of."""


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts:
    """How often texts hold terms: three arrays ``(k,)``, by term, then by text."""

    terms: HashArray
    texts: IntArray
    counts: IntArray


@dataclass(frozen=True, slots=True)
class Segment:
    """An index of ``size`` texts as cells; the bucket of a term is its first ``bits`` bits."""

    size: int
    bits: int
    cells: dict[int, bytes] = field(repr=False)


def count_terms(texts: Sequence[str]) -> TermCounts:
    """Return the terms of some texts, at most ``2**TEXT_BITS``."""
    return count_split(split_words(texts, apart=True))


def count_split(split: SplitTexts) -> TermCounts:
    """Return the terms of texts that were split with ``apart``."""
    words = _shorter(split.words, least=2)
    keys = np.concatenate(
        [
            _stem_keys(words),
            *(
                sort_keys(hash_words(spans), spans)
                for spans in (_shorter(split.wholes), split.signs)
            ),
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

    @property
    def size(self) -> int:
        """Number of texts so far."""
        return len(self._lengths)

    @property
    def postings(self) -> int:
        """Number of postings of the texts that were counted."""
        return sum(len(part.terms) for part in self._parts)

    @property
    def full(self) -> bool:
        """Whether enough texts wait for :meth:`count`."""
        return self._waiting_size >= BATCH

    def add(self, texts: Sequence[str]) -> None:
        """Add texts; an empty one only takes its number."""
        self._waiting += texts
        self._waiting_size += sum(map(len, texts))
        self._lengths += map(len, texts)

    def count(self, use: UseSplit | None = None) -> None:
        """Count the terms of the waiting texts, which takes most of the time.

        ``use`` also gets the words of each batch, so that it is split only once.
        """
        first = self.size - len(self._waiting)
        for pieces, places in batches(self._waiting):
            split = split_words(pieces, apart=True)
            counted = count_split(split)
            at = places[counted.texts] + first
            if use is not None:
                use(pieces, split, places + first)
            self._parts.append(TermCounts(counted.terms, at, counted.counts))
        self._waiting, self._waiting_size = [], 0

    def build(self) -> Segment:
        """Return the index of all texts."""
        self.count()
        if not self._parts:
            return Segment(self.size, 0, {})
        terms = np.concatenate([part.terms for part in self._parts])
        texts = np.concatenate([part.texts for part in self._parts])
        counts = np.concatenate([part.counts for part in self._parts])
        order = np.argsort(terms, kind="stable")
        terms, texts, counts = _joined(terms[order], texts[order], counts[order])
        impacts = self._impacts(texts, counts)
        width = 2 if self.size <= 1 << 16 else 4
        bits = _bucket_bits(len(terms) * (width + 1))
        buckets = (terms >> np.uint64(TERM_BITS - bits)).astype(np.int64)
        edges = np.searchsorted(buckets, np.arange((1 << bits) + 1))
        short = (terms >> np.uint64(unused_bits(bits))).astype(np.uint32)
        cells = {
            bucket: write_cell(short[start:end], texts[start:end], impacts[start:end], width)
            for bucket, (start, end) in enumerate(pairwise(edges))
            if end > start
        }
        return Segment(self.size, bits, cells)

    def _impacts(self, texts: IntArray, counts: IntArray) -> NDArray[np.uint8]:
        lengths = np.array(self._lengths)[texts] / self._typical
        weight = counts / (counts + K1 * (1 - B + B * lengths))
        return np.maximum(np.rint(FULL * weight), 1).astype(np.uint8)


def _joined(
    terms: HashArray, texts: IntArray, counts: IntArray
) -> tuple[HashArray, IntArray, IntArray]:
    """Return postings with the pieces of a text as one; all are ``(k,)`` and sorted."""
    first = run_starts(terms, texts)
    if len(first) == len(terms):
        return terms, texts, counts
    return terms[first], texts[first], np.add.reduceat(counts, first)


def _bucket_bits(size: int) -> int:
    """Return how many bits give buckets of about ``CELL`` bytes."""
    return min(max(-(-size // CELL) - 1, 0).bit_length(), TERM_BITS - 32)


def _shorter(words: WordSpans, least: int = 1) -> WordSpans:
    return words.at((words.lengths >= least) & (words.lengths <= LONGEST_WORD))


def _stem_keys(words: WordSpans) -> HashArray:
    """Return the sort keys ``(k,)`` of the words' stems, without function words.

    Stems are computed once for each distinct word.
    """
    hashes, first, place = np.unique(hash_words(words), return_index=True, return_inverse=True)
    distinct = words.at(first)
    stems = words.hasher.hash(distinct.starts, stem_ends(distinct))
    telling = ~np.isin(hashes, _stop_words())
    chosen = words.at(telling[place])
    return sort_keys(stems[place[telling[place]]], chosen)


@cache
def _stop_words() -> HashArray:
    return hash_words(split_words(sorted(STOP_WORDS)).words)
