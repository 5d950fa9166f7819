"""Ranks sentences for a question by BM25 and shared vocabulary."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pgs_neo4j.text.words import phrases, stem, words

# Customary values from Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
# Beyond" (2009). The b is lower, because sentences vary less in length than documents.
K1 = 1.2
B = 0.4
# Number of content words in a typical sentence worth quoting, and the minimum in a sentence that
# says enough.
TYPICAL_LENGTH = 16.0
SHORT_LENGTH = 6
# Two sentences say the same if they share this many stems, with at least this Jaccard index.
SAME_OVERLAP = 0.5
SAME_STEMS = 4


@dataclass(frozen=True, slots=True)
class Terms:
    """A question's content words: ``stems`` in order, written forms, and adjacent pairs."""

    stems: tuple[str, ...]
    written: dict[str, str]
    pairs: tuple[tuple[str, str], ...]

    def shown(self, stems: Iterable[str]) -> str:
        """Return the words as written in the question, in quotation marks, for display."""
        return ", ".join(f"“{self.written[s]}”" for s in stems)


def terms_of(question: str) -> Terms:
    """Return the terms of ``question``."""
    content = words(question)
    written: dict[str, str] = {}
    for word in content:
        written.setdefault(stem(word), word)
    pairs = ((stem(one), stem(other)) for one, other in phrases(question))
    distinct = dict.fromkeys(pair for pair in pairs if pair[0] != pair[1])
    return Terms(tuple(written), written, tuple(distinct))


@dataclass(frozen=True, slots=True)
class Corpus:
    """Document frequencies of stems over ``size`` documents."""

    size: int
    frequency: Counter[str]

    @classmethod
    def of(cls, documents: Iterable[Iterable[str]]) -> Corpus:
        """Count in how many documents each stem occurs."""
        frequency: Counter[str] = Counter()
        size = 0
        for document in documents:
            frequency.update(set(document))
            size += 1
        return cls(size, frequency)

    def idf(self, term: str) -> float:
        """Return a stem's inverse document frequency, with 1 inside the logarithm.

        This variant is always positive.
        """
        return rarity(self.size, self.frequency[term])

    def weight(self, term: str) -> float:
        """Return the weight of a stem: half its ``idf`` plus 1.

        Many words of a question must count more than its rarest word alone, since a whole partition
        may be about the question.
        """
        return 1 + self.idf(term) / 2


def rarity(size: int, holders: float) -> float:
    """Return the inverse document frequency of a term in ``holders`` of ``size`` documents."""
    return math.log(1 + (size - holders + 0.5) / (holders + 0.5))


def bm25(terms: Sequence[str], stems: Sequence[str], corpus: Corpus) -> float:
    """Return the BM25 score of one sentence, given as its stems."""
    counts = Counter(stems)
    norm = K1 * (1 - B + B * len(stems) / TYPICAL_LENGTH)
    return sum(
        corpus.weight(term) * counts[term] * (K1 + 1) / (counts[term] + norm)
        for term in terms
        if counts[term]
    )


def substance(stems: Sequence[str]) -> float:
    """Return a factor of 1 for a long enough sentence, and less for a stub.

    It is needed because BM25 favors stubs.
    """
    return math.sqrt(min(1.0, len(stems) / SHORT_LENGTH))


def coverage(terms: Sequence[str], stems: frozenset[str], corpus: Corpus) -> float:
    """Return the share of the question's weight in ``stems``, 0 to 1.

    Words that no document contains weigh half, since a question may ask for many absent things.
    """
    total = sum(corpus.weight(t) if corpus.frequency[t] else corpus.weight(t) / 2 for t in terms)
    return sum(corpus.weight(term) for term in terms if term in stems) / total if total else 0.0


def same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two sentences, given as stems, share at least half of all their stems.

    With fewer than ``SAME_STEMS`` shared stems, they must be equal.
    """
    shared = len(one & other)
    if shared < SAME_STEMS:
        return shared > 0 and one == other
    return shared >= SAME_OVERLAP * len(one | other)
