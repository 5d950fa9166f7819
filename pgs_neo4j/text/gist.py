"""What an absence, a finding, or a flag is about: its words, without those of its kind.

An absence says "no evidence on X in these nodes"; to look for it, or to compare it with another
one, only X counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import fsum

from pgs_neo4j.text.citations import defuse
from pgs_neo4j.text.matching import LONGEST_WORD, UNSPACED, SearchTerms, forms, root
from pgs_neo4j.text.ranking import Corpus
from pgs_neo4j.text.words import words

MOST_TERMS = 6  # that an absence is looked for by: more would hardly ever stand in one node
PHRASE_WORDS = 4  # content words from which a quotation is a sentence and no term
UNSPACED_WORD = 6  # signs from which a run in a script without blanks is more than a word
# Weighted Jaccard index from which two texts say the same (that of the extractive reader), and
# the share of the lighter text's weight from which two speak of the same.
SAME = 0.5
SPEAKS = 0.4
SHARED = 2  # words that takes, unless one of the texts has fewer

# Words of absences, not of what is absent; all forms that occur.
_ENGLISH = """
absence absences absent account accounts addressed addresses addressing appear appears appeared
area areas asks aspect aspects cited citation claim claims concrete content contents context
coverage cover covered covering covers data detail detailed details digest digests direct directly
discuss discussed discusses discussing discussion discussions document documented documentation
documents entries entry evidence explain explained explains explanation explanations explicit
explicitly exploration explore explored explores finding graph here hold holds identified implicit
indication information insight insights instance instances into item items lack lacked lacking
lacks mentioned mentioning neighbor neighbors neighbour neighbours node nodes note noted notes
occur occurs occurrence occurrences omitted partition partitions pass passage passages passes
presence quantitative question questions read refer reference referenced references referred
refers report reported reporting reports searched section sections silent speak speaks state
stated statement statements states text texts title titles together topic topics touch touched
touches unaddressed uncovered unmentioned unreported unspecified word words
"""
# The commonest function words, and words of absences, of four more languages.
_OTHERS = """
aber auch auf aus bei beim das dass dem den der des diese dieser ein eine einem einen einer eines
enthalten erwähnt erwähnung erwähnungen fehlen fehlend fehlende fehlt gefunden gibt hinweis
hinweise ist kein keine keinen keiner keinerlei knoten mit nicht nichts noch oder sich sind über
und vom von vor wird zum zur
au aucun aucune aux avec ce ces cette dans de des du est et il la le les mais manque mention
mentionné mentionnée ne nœud nœuds ou pas pour qui rien sans se sont sur un une
al como con del el en esta este hay las los mencion menciona mencionado mención ni ningún ninguna
nodo nodos para pero por que se sin sobre su una unos
alla che da dal dei della delle di gli ha il lo manca menziona menzione nei nel nella nessun nessuna
non per sono sul sulla tra uno
"""
JARGON = frozenset(_ENGLISH.split())
"""What an absence says beside what is absent, lower case."""

FOREIGN = frozenset(_OTHERS.split())
"""The same in other languages; in capitals it is a name: MIT, UN."""
_IDLE = JARGON | FOREIGN

_GENERIC = """
analysis application applications approach approaches benefit benefits challenge challenges change
changes compare compared compares comparison concept concepts condition conditions connection
connections consequence consequences dataset definition development difference differences effect
effects factor factors feature features function functions group groups impact impacts implication
implications influence issue issues level levels limit limits link links literature material
mechanism mechanisms method methods model models number numbers outcome outcomes pattern patterns
practice problem problems process processes properties property rate rates relation relations
relationship relationships result results role roles rule rules source sources step steps
strategies strategy structure studies study subject system systems technique techniques term terms
theory time treat treated treatment treatments treats type types value values
"""
GENERIC = frozenset(_GENERIC.split())
"""Words that are in texts on anything: others are looked for before them."""

_QUOTED = re.compile(
    r"“([^“”\n]{2,80})”|\"([^\"\n]{2,80})\"|„([^„“”\n]{2,80})[“”]"
    r"|«([^«»\n]{2,80})»|「([^「」\n]{1,80})」|『([^『』\n]{1,80})』|`([^`\n]{2,80})`"
)
_CITED = re.compile(r"⟦[^⟦⟧]*⟧")
_PLACES = re.compile(r"\(in pass(?:es)? \d+[ab]*(?:, \d+[ab]*)* of \d+\)")
_PARTITION = re.compile(r"(?<![^\W_])[Pp]\d{1,9}(?![^\W_])")
# Parts that a dot, hyphen, or underscore joins are one word of somebody's.
_WORD = re.compile(r"[^\W_]+(?:[._\-\u2010\u2011]{1,2}[^\W_]+)*")
_END = ".!?:;"


@dataclass(frozen=True, slots=True)
class Rarity:
    """How much each root weighs among the texts that are compared: the rarer, the more."""

    weights: Mapping[str, float]

    @classmethod
    def of(cls, gists: Iterable[frozenset[str]]) -> Rarity:
        """The weights by document frequency, those that the extractive reader uses."""
        corpus = Corpus.of(gists)
        return cls({part: corpus.weight(part) for part in corpus.frequency})

    def weight(self, gist: Iterable[str]) -> float:
        """The weight of some roots together, the same in whatever order; of others it is 1."""
        return fsum(self.weights.get(part, 1.0) for part in gist)

    def alike(self, one: frozenset[str], other: frozenset[str]) -> float:
        """How much two gists say the same, 0 to 1: a Jaccard index of weights.

        Gists that share fewer than ``SHARED`` roots say nothing in common unless they are equal.
        """
        shared = one & other
        if len(shared) < SHARED and one != other:
            return 0.0
        return self.weight(shared) / self.weight(one | other) if shared else 0.0

    def near(self, one: frozenset[str], other: frozenset[str]) -> float:
        """How much two gists speak of the same, 0 to 1: shared weight over the lighter one's.

        0 when they share fewer than ``SHARED`` roots, unless one of them has fewer.
        """
        shared = one & other
        if not shared or len(shared) < min(SHARED, len(one), len(other)):
            return 0.0
        return self.weight(shared) / min(self.weight(one), self.weight(other))


def search_terms(text: str) -> SearchTerms:
    """What to look for to check an absence: at most ``MOST_TERMS``, the most telling first.

    Quoted words come first, then names (with capitals or digits in the midst of a sentence),
    then the longer word before the shorter, and words that are in texts on anything last. All
    of up to three terms are needed, and all but one of more.
    """
    found: dict[tuple[str, ...], tuple[tuple[int, int, int], str]] = {}
    for place, (term, rank) in enumerate(_terms(text)):
        key = forms(term)[0]
        found.setdefault(key, ((rank, -min(len(term), LONGEST_WORD), place), term))
    ranked = [term for _, term in sorted(found.values())][:MOST_TERMS]
    return SearchTerms(tuple(ranked), needed(len(ranked)))


def needed(terms: int) -> int:
    """How many of so many terms a node must hold: all of up to three, then all but one."""
    return terms if terms <= 3 else terms - 1


def gist(text: str) -> frozenset[str]:
    """The roots of the words that a text is about."""
    return _roots(_PARTITION.sub(" ", _plain(text)))


def named(text: str) -> frozenset[str]:
    """The roots of the words that a text puts in quotes, else of all that it is about."""
    quoted = _QUOTED.findall(_plain(text))
    return _roots("\n".join("".join(groups) for groups in quoted)) or gist(text)


def _roots(text: str) -> frozenset[str]:
    found = (word for word in words(text) if word not in _IDLE and not _overlong(word))
    return frozenset(map(root, found))


def _terms(text: str) -> Iterator[tuple[str, int]]:
    """Terms in reading order, quoted ones first; rank 0 quoted, 1 names, 2 others, 3 generic."""
    plain = _plain(text)
    for match in _QUOTED.finditer(plain):
        quoted = " ".join(next(part for part in match.groups() if part).split())
        if 0 < len(words(quoted)) < PHRASE_WORDS and forms(quoted):
            yield quoted, 0
        else:
            yield from _single(quoted)
    yield from _single(_PARTITION.sub(" ", _QUOTED.sub(" \n", plain)))


def _plain(text: str) -> str:
    """The text without citations, and without what is said of the passes over a partition."""
    return _CITED.sub(" ", defuse(_PLACES.sub(" ", text)))


def _single(text: str) -> Iterator[tuple[str, int]]:
    """The words of a text that count."""
    before = 0
    for match in _WORD.finditer(text):
        begins = not before or any(mark in text[before : match.start()] for mark in _END)
        before = match.end()
        word = match.group()
        every = words(word) or [word]
        idle = JARGON if word.isupper() else _IDLE
        parts = [part for part in every if part not in idle]
        if len(parts) == len(every):
            parts = [word]
        for part in parts:
            if forms(part) and not _overlong(part):
                yield part, _rank(part, begins)


def _rank(word: str, begins: bool) -> int:
    if word.lower() in GENERIC:
        return 3
    special = any(letter.isdigit() for letter in word) or any(
        letter.isupper() for letter in word[int(begins) :]
    )
    return 1 if special else 2


def _overlong(word: str) -> bool:
    """Whether it is no word at all, or several in a script that leaves no blanks."""
    if word.isascii():
        return len(word) > LONGEST_WORD
    unspaced = sum(ord(letter) >= UNSPACED for letter in word)
    return len(word) > LONGEST_WORD or unspaced > UNSPACED_WORD
