"""Reduces absences, findings, and flags to the words of their subjects, and groups equal ones.

An absence says "no evidence on X in these nodes". Only X counts in a search or a comparison with
another absence.

To group texts, not all pairs are compared. A text joins the group of an equal text, or else the
group whose first text it resembles most, or else begins a new group. Similar texts must share one
of the roots that make up most of their weight. So only those roots are looked up, rarest first
(prefix filtering: Chaudhuri, Ganti, and Kaushik 2006).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from pgs_neo4j.text.citations import defuse
from pgs_neo4j.text.matching import LONGEST_WORD, UNSPACED, SearchTerms, forms, root
from pgs_neo4j.text.normal_form import count_unsegmented, has_unsegmented, mark_class, normal_form
from pgs_neo4j.text.ranking import Corpus
from pgs_neo4j.text.words import words

MOST_TERMS = 6  # search terms of an absence; one node rarely contains more
PHRASE_WORDS = 4  # a quotation with this many content words is a sentence, not a term
UNSPACED_WORD = 6  # in a script without blanks, a longer run is more than one word

# Two texts say the same if their weighted Jaccard index is at least ``SAME``, as in the extractive
# reader. They share a subject if they share at least ``SPEAKS`` of the lighter text's weight.
SAME = 0.5
SPEAKS = 0.4
SHARED = 2  # words that both texts must have, unless one of them has fewer

# Words that state an absence, not its subject, in all forms that occur.
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

# The most common function words, and words of absences, of four more languages.
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
"""Words that describe an absence rather than its subject, in lower case."""

FOREIGN = frozenset(_OTHERS.split())
"""Function words and words of absences in four other languages, in lower case. A word in capitals
is not one of them, because it is a name: MIT, UN."""

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
"""Words that occur in texts on any subject. More specific words are preferred."""

_QUOTED = re.compile(
    r"“([^“”\n]{2,80})”|\"([^\"\n]{2,80})\"|„([^„“”\n]{2,80})[“”]"
    r"|«([^«»\n]{2,80})»|「([^「」\n]{1,80})」|『([^『』\n]{1,80})』|`([^`\n]{2,80})`"
)
_CITED = re.compile(r"⟦[^⟦⟧]*⟧")
_PLACES = re.compile(r"\(in pass(?:es)? \d+[ab]*(?:, \d+[ab]*)* of \d+\)")
_PARTITION = re.compile(r"(?<![^\W_])[Pp]\d{1,9}(?![^\W_])")

# Parts joined by a dot, hyphen, or underscore are one word.
_SIGN = rf"(?:[^\W_]|[{mark_class()}])"
_WORD = re.compile(rf"{_SIGN}+(?:[._\-\u2010\u2011]{{1,2}}{_SIGN}+)*")
_END = ".!?:;"
ROUNDING = 1e-9  # a tolerance, so that rounding errors decide nothing


@dataclass(frozen=True, slots=True)
class Rarity:
    """Weights of roots among the compared texts; rare roots weigh more."""

    weights: Mapping[str, float]

    @classmethod
    def of(cls, gists: Iterable[frozenset[str]]) -> Rarity:
        """Compute weights by document frequency, as the extractive reader does."""
        corpus = Corpus.of(gists)
        return cls({part: corpus.weight(part) for part in corpus.frequency})

    def weight(self, gist: Iterable[str]) -> float:
        """Return the total weight of roots; an unknown root weighs 1."""
        return fsum(self.weights.get(part, 1.0) for part in gist)

    def alike(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return the similarity of two gists, 0 to 1.

        It is a Jaccard index of weights. It is 0 if they share fewer than ``SHARED`` roots, unless
        they are equal.
        """
        shared = one & other
        if len(shared) < SHARED and one != other:
            return 0.0
        return self.weight(shared) / self.weight(one | other) if shared else 0.0

    def near(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return the overlap of two gists, 0 to 1.

        It is the shared weight over the lighter weight. It is 0 if they share fewer than ``SHARED``
        roots, unless one of them has fewer.
        """
        shared = one & other
        if not shared or len(shared) < min(SHARED, len(one), len(other)):
            return 0.0
        return self.weight(shared) / min(self.weight(one), self.weight(other))


def search_terms(text: str) -> SearchTerms:
    """Return the search terms of an absence, at most ``MOST_TERMS``, best first.

    Quoted words come first. Names follow: words with capitals or digits inside a sentence. Then
    come other words, longer before shorter, and ``GENERIC`` words last. A match needs all of up to
    three terms; with more terms, one may be missing.
    """
    best: dict[tuple[str, ...], tuple[tuple[int, int, int], str]] = {}
    for place, (term, rank) in enumerate(_find_terms(text)):
        key = forms(term)[0]
        best.setdefault(key, ((rank, -min(len(term), LONGEST_WORD), place), term))
    ranked = [term for _, term in sorted(best.values())][:MOST_TERMS]
    segmented = not has_unsegmented(_make_plain(text))
    return SearchTerms(tuple(ranked), needed(len(ranked)), segmented)


def needed(terms: int) -> int:
    """Return the number of terms that a node must contain.

    Up to three terms are all needed. With more, one may be missing.
    """
    return terms if terms <= 3 else terms - 1


def gist(text: str) -> frozenset[str]:
    """Return the roots of the words that describe a text's subject."""
    return _find_roots(_PARTITION.sub(" ", _make_plain(text)))


def named(text: str) -> frozenset[str]:
    """Return the roots of a text's quoted words, or, if nothing is quoted, of its subject."""
    quoted = _QUOTED.findall(_make_plain(text))
    return _find_roots("\n".join("".join(groups) for groups in quoted)) or gist(text)


def _find_roots(text: str) -> frozenset[str]:
    content = (word for word in words(text) if word not in _IDLE and not _is_overlong(word))
    return frozenset(map(root, content))


def _find_terms(text: str) -> Iterator[tuple[str, int]]:
    """Yield terms with ranks, quoted terms first, each in reading order.

    Rank 0 is a quoted term, 1 a name, 2 another word, and 3 a generic word.
    """
    plain = _make_plain(text)
    for match in _QUOTED.finditer(plain):
        quoted = " ".join(next(part for part in match.groups() if part).split())
        if 0 < len(words(quoted)) < PHRASE_WORDS and forms(quoted):
            yield quoted, 0
        else:
            yield from _find_single(quoted)
    yield from _find_single(_PARTITION.sub(" ", _QUOTED.sub(" \n", plain)))


def _make_plain(text: str) -> str:
    """Return the text in normal form, without citations, and without notes on passes."""
    return normal_form(_CITED.sub(" ", defuse(_PLACES.sub(" ", text))))


def _find_single(text: str) -> Iterator[tuple[str, int]]:
    """Yield the words of a text that may be terms, with ranks."""
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
            if forms(part) and not _is_overlong(part):
                yield part, _rank_word(part, begins)


def _rank_word(word: str, begins: bool) -> int:
    if word.lower() in GENERIC:
        return 3
    special = any(letter.isdigit() for letter in word) or any(
        letter.isupper() for letter in word[int(begins) :]
    )
    return 1 if special else 2


def _is_overlong(word: str) -> bool:
    """Return whether a word is so long that it must be data, or several words without blanks."""
    if word.isascii():
        return len(word) > LONGEST_WORD
    unspaced = max(sum(ord(letter) >= UNSPACED for letter in word), count_unsegmented(word))
    return len(word) > LONGEST_WORD or unspaced > UNSPACED_WORD


def grouped(gists: Sequence[frozenset[str]], rarity: Rarity) -> list[list[int]]:
    """Group the indexes of texts that say the same.

    Groups, and the indexes in a group, are in the order of the texts. The earlier group wins a tie.
    Texts without words stay alone.
    """
    groups: list[list[int]] = []
    equal: dict[frozenset[str], int] = {}
    having: defaultdict[str, list[int]] = defaultdict(list)
    for place, gist in enumerate(gists):
        if gist and gist in equal:
            groups[equal[gist]].append(place)
            continue
        rarest = _find_rarest(gist, rarity)
        near = dict.fromkeys(group for part in rarest for group in having[part])
        best, group = max(
            ((rarity.alike(gist, gists[groups[group][0]]), -group) for group in near),
            default=(0.0, 0),
        )
        if best >= SAME - ROUNDING:
            equal[gist] = -group
            groups[-group].append(place)
            continue
        equal[gist] = len(groups)
        for part in rarest:
            having[part].append(len(groups))
        groups.append([place])
    return groups


def _find_rarest(gist: frozenset[str], rarity: Rarity) -> list[str]:
    """Return the rarest roots; the other roots have less than ``SAME`` of the weight."""
    ordered = sorted(gist, key=lambda part: (-rarity.weight([part]), part))
    left = total = rarity.weight(gist)
    rarest: list[str] = []
    for part in ordered:
        if left < SAME * total - ROUNDING:
            break
        rarest.append(part)
        left -= rarity.weight([part])
    return rarest
