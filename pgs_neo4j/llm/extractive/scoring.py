"""Reads a prompt's nodes: counts words, and scores sentences for the question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pgs_neo4j.llm.extractive.sentences import leans, plain, quote, sentences
from pgs_neo4j.model import Prompt, PromptNode
from pgs_neo4j.text.normal_form import find_words, fold_case, normal_form
from pgs_neo4j.text.ranking import Corpus, Terms, bm25, coverage, same, substance, terms_of
from pgs_neo4j.text.words import stem, words

# These weights were chosen by reading the output on two graphs, the standard library and physics2.
# A title names the subject, a first sentence sums up, and a well connected node matters a bit more.
TITLE_WEIGHT = 0.6
FIRST_SENTENCE = 1.15
CENTRALITY = 0.25
LEANING = 0.7
BARE_TITLE = 0.4
# Below this share of the question's weight, a sentence contains its words by chance.
MIN_COVERAGE = 0.15
KEYWORDS = 12
MAX_CITATIONS = 4
MAX_TITLE = 80
# Maximum number of quoted sentences of one node if there are few nodes.
PER_NODE = 3


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence worth quoting, with the nodes that contain it word for word."""

    text: str
    aliases: tuple[str, ...]
    stems: frozenset[str]

    @property
    def line(self) -> str:
        """The quote and its citation."""
        return f"{self.text} [{', '.join(self.aliases)}]"


@dataclass(frozen=True, slots=True)
class Reading:
    """Word counts of nodes: ``stems[i]`` and ``degrees[i]`` belong to ``nodes[i]``."""

    nodes: tuple[PromptNode, ...]
    terms: Terms
    stems: tuple[frozenset[str], ...]
    corpus: Corpus
    keywords: tuple[str, ...]
    degrees: tuple[int, ...]

    def holders(self, term: str) -> int:
        """Return how many nodes mention ``term`` (a stem)."""
        return self.corpus.frequency[term]

    @property
    def central(self) -> list[PromptNode]:
        """The nodes by descending degree.

        Nodes of equal degree keep the order of the prompt, which is by weight.
        """
        order = sorted(range(len(self.nodes)), key=lambda i: (-self.degrees[i], i))
        return [self.nodes[i] for i in order if self.degrees[i] > 0]


@dataclass(frozen=True, slots=True)
class _Candidate:
    score: float
    node: int
    place: int
    text: str
    stems: frozenset[str]


def read(prompt: Prompt) -> Reading:
    """Count the words and connections of all nodes of ``prompt``."""
    counted_words = [words(f"{node.title}\n{node.text}") for node in prompt.nodes]
    stemmed = tuple(frozenset(map(stem, row)) for row in counted_words)
    corpus = Corpus.of(stemmed)
    return Reading(
        nodes=prompt.nodes,
        terms=terms_of(prompt.question),
        stems=stemmed,
        corpus=corpus,
        keywords=_find_keywords(counted_words, corpus),
        degrees=_count_degrees(prompt),
    )


def best(reading: Reading, limit: int) -> list[Quoted]:
    """Return at most ``limit`` sentences that answer the question, best first.

    A sentence that repeats another one word for word only adds a citation to it. A sentence that
    differs from another one in a name or a number says something else, but it comes after all new
    sentences. A sentence must contain content words of the question, or keywords of the pass if the
    question has no content words.
    """
    per_node = 1 if len(reading.nodes) > limit else PER_NODE
    groups: list[list[_Candidate]] = []
    alike: list[_Candidate] = []

    def add(candidate: _Candidate) -> None:
        home = next((g for g in groups if _repeats(candidate, g[0])), None)
        if home is not None:
            if candidate.node not in {c.node for c in home}:
                home.append(candidate)
        elif len(groups) < limit and _count_quotes(groups)[candidate.node] < per_node:
            groups.append([candidate])

    for candidate in sorted(_find_candidates(reading), key=lambda c: (-c.score, c.node, c.place)):
        likeness = [g[0] for g in groups if same(g[0].stems, candidate.stems)]
        if likeness and not any(_repeats(candidate, one) for one in likeness):
            alike.append(candidate)
        else:
            add(candidate)
    for candidate in alike:
        add(candidate)
    return [_make_quote(reading, group) for group in groups]


def name_of(node: PromptNode, limit: int = MAX_TITLE) -> str:
    """Return a name for ``node``: its title, or else its first words."""
    return quote(plain((node.title or node.text)[: 8 * limit]), limit) or "untitled"


def _count_quotes(groups: Sequence[Sequence[_Candidate]]) -> Counter[int]:
    return Counter(candidate.node for group in groups for candidate in group)


def _make_quote(reading: Reading, group: Sequence[_Candidate]) -> Quoted:
    first = group[0]
    aliases = tuple(reading.nodes[c.node].alias for c in group[:MAX_CITATIONS])
    node = reading.nodes[first.node]
    # If several nodes share the sentence, the title of one node is not the subject of the others.
    text = _add_subject(node, first.text) if len(group) == 1 else quote(first.text)
    return Quoted(text, aliases, first.stems)


def _repeats(one: _Candidate, other: _Candidate) -> bool:
    """Return whether two sentences have exactly the same words and numbers, down to a "not"."""
    return _find_tokens(other.text) == _find_tokens(one.text)


@lru_cache(maxsize=4096)
def _find_tokens(text: str) -> frozenset[str]:
    return frozenset(find_words(fold_case(normal_form(text))))


def _add_subject(node: PromptNode, sentence: str) -> str:
    """Put the node's title before a sentence, unless the sentence or the text repeats it."""
    title = quote(plain(node.title[: 8 * MAX_TITLE]), MAX_TITLE)
    opening = title.rstrip("…").lower()[:40]
    if (
        not title
        or opening in quote(plain(node.text[:400]), 400).lower()
        or opening in sentence.lower()
    ):
        return quote(sentence)
    return f"{title}: {quote(sentence)}"


def _find_candidates(reading: Reading) -> list[_Candidate]:
    """Score the sentences of all nodes; return the sentences with a positive score.

    The score rises with the degree of the node. A node without sentences offers its title.
    """
    terms = reading.terms.stems or tuple(map(stem, reading.keywords))
    sought = frozenset(terms)
    floor = MIN_COVERAGE if reading.terms.stems else 0.0
    most = math.log1p(max(reading.degrees, default=0)) or 1.0
    candidates: list[_Candidate] = []
    for index, node in enumerate(reading.nodes):
        if not reading.stems[index] & sought:
            continue
        central = 1 + CENTRALITY * math.log1p(reading.degrees[index]) / most
        title = [stem(word) for word in words(node.title[:400])]
        split = sentences(node.text)
        for place, text in enumerate(split or [node.title]):
            sentence_stems = [stem(word) for word in words(text)]
            score = _score_sentence(terms, sentence_stems, title, place, reading.corpus, floor)
            if score > 0:
                score *= central * _weigh_sentence(node, text, bare=not split)
                candidates.append(_Candidate(score, index, place, text, frozenset(sentence_stems)))
    return candidates


def _weigh_sentence(node: PromptNode, text: str, *, bare: bool) -> float:
    """Return a factor that is lower for nodes without text and for dependent sentences.

    ``bare`` is true if the node has no text. A dependent sentence refers to the one before it.
    """
    if bare:
        return BARE_TITLE
    return LEANING if not node.title and leans(text) else 1.0


def _score_sentence(
    terms: Sequence[str],
    sentence: Sequence[str],
    title: Sequence[str],
    place: int,
    corpus: Corpus,
    floor: float,
) -> float:
    """Return BM25 of sentence and title, scaled by the share of the question that they cover.

    The score is 0 if they cover less than ``floor``. Unless the sentence is the first of its text,
    the score is also 0 if only the title contains words of the question.
    """
    own, both = frozenset(sentence), frozenset((*sentence, *title))
    if not sentence or (place > 0 and own.isdisjoint(terms)):
        return 0.0
    covered = coverage(terms, both, corpus)
    if covered < floor:
        return 0.0
    score = bm25(terms, sentence, corpus) + TITLE_WEIGHT * bm25(terms, title, corpus)
    return (
        score * math.sqrt(covered) * (FIRST_SENTENCE if place == 0 else 1.0) * substance(sentence)
    )


def _find_keywords(rows: Sequence[Sequence[str]], corpus: Corpus) -> tuple[str, ...]:
    """Return the words that many but not all nodes share, each in its most common form."""
    forms: dict[str, Counter[str]] = {}
    for row in rows:
        for word in set(row):
            forms.setdefault(stem(word), Counter())[word] += 1
    scores = {
        term: count * math.log(1 + corpus.size / count)
        for term, count in corpus.frequency.items()
        if count > 1 and len(term) > 2 and not term.isdigit()
    }
    top = sorted(scores, key=lambda term: (-scores[term], term))[:KEYWORDS]
    return tuple(min(forms[term], key=lambda form: (-forms[term][form], form)) for term in top)


def _count_degrees(prompt: Prompt) -> tuple[int, ...]:
    degree = Counter(end for r in prompt.relationships for end in {r.source, r.target})
    by_alias = {f"n{rank + 1}": count for rank, count in degree.items()}
    return tuple(by_alias.get(node.alias, 0) for node in prompt.nodes)
