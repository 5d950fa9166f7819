"""Which sentences answer a question's words: BM25 and shared vocabulary, without a model."""

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
# Content words a quotable sentence typically has, and below how many it says too little.
TYPICAL_LENGTH = 16.0
SHORT_LENGTH = 6
# Jaccard index from which two sentences say the same, and the stems that takes at least.
SAME_OVERLAP = 0.5
SAME_STEMS = 4


@dataclass(frozen=True, slots=True)
class Terms:
    """A question's content words: ``stems`` in order, and each one as it was written."""

    stems: tuple[str, ...]
    written: dict[str, str]
    pairs: tuple[tuple[str, str], ...]

    def shown(self, stems: Iterable[str]) -> str:
        """The words for people, as they stood in the question."""
        return ", ".join(f"“{self.written[s]}”" for s in stems)


def terms_of(question: str) -> Terms:
    """The terms of ``question``; pairs stand side by side in it."""
    found = words(question)
    written: dict[str, str] = {}
    for word in found:
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
        """Counts every stem once per document."""
        frequency: Counter[str] = Counter()
        size = 0
        for document in documents:
            frequency.update(set(document))
            size += 1
        return cls(size, frequency)

    def idf(self, term: str) -> float:
        """Inverse document frequency, always positive (the variant with 1 inside the log)."""
        seen = self.frequency[term]
        return math.log(1 + (self.size - seen + 0.5) / (seen + 0.5))

    def weight(self, term: str) -> float:
        """``idf`` halved and raised by 1: to hold many words of a question, which a whole
        partition may be about, must count for more than to hold its rarest one.
        """
        return 1 + self.idf(term) / 2


def bm25(terms: Sequence[str], found: Sequence[str], corpus: Corpus) -> float:
    """The BM25 score of one sentence, given as its stems."""
    counts = Counter(found)
    norm = K1 * (1 - B + B * len(found) / TYPICAL_LENGTH)
    return sum(
        corpus.weight(term) * counts[term] * (K1 + 1) / (counts[term] + norm)
        for term in terms
        if counts[term]
    )


def substance(found: Sequence[str]) -> float:
    """1 for a sentence with enough content words, less for a stub; counters BM25's taste."""
    return math.sqrt(min(1.0, len(found) / SHORT_LENGTH))


def coverage(terms: Sequence[str], found: frozenset[str], corpus: Corpus) -> float:
    """The share of the question's weight that ``found`` touches; 0 to 1.

    Words that no document holds weigh half: a question may ask for much that is absent.
    """
    total = sum(corpus.weight(t) if corpus.frequency[t] else corpus.weight(t) / 2 for t in terms)
    return sum(corpus.weight(term) for term in terms if term in found) / total if total else 0.0


def same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences say much the same: half of all their stems are shared."""
    shared = len(one & other)
    if shared < SAME_STEMS:
        return shared > 0 and one == other
    return shared >= SAME_OVERLAP * len(one | other)
