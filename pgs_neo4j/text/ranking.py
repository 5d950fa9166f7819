"""Ranks sentences for a question by BM25 and shared vocabulary."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pgs_neo4j.text.words import phrases, stem, words

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
# their customary values; sentences vary less in length than documents, hence the lower b.
K1 = 1.2
B = 0.4
# Content words of a typical quotable sentence, and the fewest that say enough.
TYPICAL_LENGTH = 16.0
SHORT_LENGTH = 6
# Two sentences say the same from this Jaccard index and this many shared stems on.
SAME_OVERLAP = 0.5
SAME_STEMS = 4


@dataclass(frozen=True, slots=True)
class Terms:
    """A question's content words: ``stems`` in order, and their written forms."""

    stems: tuple[str, ...]
    written: dict[str, str]
    pairs: tuple[tuple[str, str], ...]

    def shown(self, stems: Iterable[str]) -> str:
        """Return the words as they stood in the question, for display."""
        return ", ".join(f"“{self.written[s]}”" for s in stems)


def terms_of(question: str) -> Terms:
    """Return the terms of ``question``; pairs stand side by side in it."""
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
        """Count every stem once per document."""
        frequency: Counter[str] = Counter()
        size = 0
        for document in documents:
            frequency.update(set(document))
            size += 1
        return cls(size, frequency)

    def idf(self, term: str) -> float:
        """Return a stem's inverse document frequency, always positive.

        It is the variant with 1 inside the logarithm.
        """
        return rarity(self.size, self.frequency[term])

    def weight(self, term: str) -> float:
        """Return the weight of a stem: half its ``idf`` plus 1.

        Holding many words of a question must count for more than holding its rarest word, since
        a whole partition may be about the question.
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
    """Return 1 for a long enough sentence, less for a stub.

    BM25 alone favors stubs.
    """
    return math.sqrt(min(1.0, len(stems) / SHORT_LENGTH))


def coverage(terms: Sequence[str], stems: frozenset[str], corpus: Corpus) -> float:
    """Return the share of the question's weight in ``stems``, 0 to 1.

    Words that no document holds weigh half: a question may ask for much that is absent.
    """
    total = sum(corpus.weight(t) if corpus.frequency[t] else corpus.weight(t) / 2 for t in terms)
    return sum(corpus.weight(term) for term in terms if term in stems) / total if total else 0.0


def same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two sentences say the same.

    They do if they share half of all their stems.
    """
    shared = len(one & other)
    if shared < SAME_STEMS:
        return shared > 0 and one == other
    return shared >= SAME_OVERLAP * len(one | other)
