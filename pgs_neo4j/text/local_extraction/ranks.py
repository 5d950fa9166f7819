"""Chooses the terms of a chunk among its candidates.

Words of everyday English rank lower, because they rarely name anything.
"""

from __future__ import annotations

import math

from pgs_neo4j.text.gist import GENERIC
from pgs_neo4j.text.local_extraction.candidates import Candidate
from pgs_neo4j.text.matching import root

# These weights were tuned on questions of Stack Overflow, and by reading the terms of READMEs.
PROPER, HEADED, MARKED = 1.0, 1.5, 0.7
CODE = 0.6
"""Factor for a term that only occurs in code."""

LONGER = 0.4
"""Bonus for each doubling of the number of words in a phrase."""

NESTED, COVERED_NAME, COVERED_WORD = 1.5, 2.2, 0.2
"""Penalties for a phrase, name, or word that only occurs inside longer candidates."""

COMMON_WORD, COMMON_HEAD, IDLE, PART = 0.6, 0.3, 0.4, 0.5
TELLING = 0.2
LONGEST_SINGLE = 3
"""Maximum number of words of a phrase that occurs once, after a determiner or preposition."""

LEAST = 0.05
"""Minimum rank of a word, so that any word may be a term if there is room."""

SPECIFIC_WORD, SPECIFIC_COMMON = 0.5, 0.25
"""Weights in a pair: of a single word, and of an everyday English word; names and phrases weigh 1.

The weights were tuned on 96 long articles of an encyclopedia and on a dictionary of computing. Of
the strongest 500 relations between two titles of the encyclopedia, 65 % are also links set by its
authors. If only shared sentences are counted, it is 52 %. Measures of association within a chunk,
such as log-likelihood, were worse.
"""

_IDLE_ENDINGS = ("ly", "ing", "ed", "able", "ful", "ous")
_TELLING_ENDINGS = (
    *("ism", "ist", "logy", "graphy", "metry", "nomy", "tion", "sion", "ics", "ity", "ment"),
    *("ture", "sis", "ium", "ship", "phy", "gen", "oid"),
)

_VERBS = """
accept achieve act add affect agree allow answer appear apply argue arrive assume attempt attend
avoid base believe belong bring build buy call carry catch change check choose claim close collect
combine compare complete confirm connect contribute control copy correct cover create cut deal
decide declare decrease define delete deliver demand depend derive describe design destroy determine
develop die divide draw drop earn eat elect enable encourage end ensure enter establish estimate
exist expand expect experience explain express extend face fail fall feel fight fill fix focus force
gain grow guess handle hang hear help hit hold hope identify ignore imagine implement improve
increase indicate inform install intend introduce invite involve join kill lack last lay lead learn
leave lie listen live load lose love maintain manage mark match measure meet mention miss modify
move notice observe obtain occupy offer open operate order organize own pass pay perform permit pick
plan play point prefer prepare press prevent print produce promise propose protect prove publish
pull push raise reach react read realize receive recognize record reduce refuse reject release rely
remain remember remove repeat replace reply represent require resolve respond rest return reveal
ride rise run save search sell send separate serve set share shift shoot sing sit sleep solve speak
spend spread stand start stay stop store struggle study succeed suffer supply support suppose
surround survive switch talk teach tend test throw touch train travel treat turn understand update
visit vote wait walk warn wash watch wear win wonder write
"""

_OTHERS = """
able active actual additional advanced amount area aspect available average bad basic beginning big
bit body broad capable century certain character choice class clean clear closed cold color common
community condition contrast cost country course current custom daily dark date day dead death deep
default degree detail difficult direct direction distance early easy edge effective element empty
entire equal error event evidence exact existing extra fact fast father field figure final fine free
frequent friend fully future good ground half hand happy hard head heavy home hot hour house huge
human idea image important individual initial interest internal job key kind land language latter
law leader left length letter life light line list living local location lot main major man manner
map matter member memory middle mind minor minute modern moment money month morning mother movement
natural nature necessary need normal note object old open opinion option page pair parent past
people period person piece popular position power private program project public purpose quality
quick quiet range ready real reason region regular report response rich right room rule science
season sense series service shape short side sign significant simple single situation size social
society sort sound source space stage standard state story street strong style success sun surface
table team text thing title today tomorrow tool top total town traditional true type understanding
unique unit user usual value version view voice war water weak week weight wide wife woman word
world wrong year yesterday young
"""

COMMON = frozenset(map(root, (*_VERBS.split(), *_OTHERS.split(), *GENERIC)))
"""The roots of everyday English words."""


def best_terms(candidates: dict[str, Candidate], most: int) -> list[Candidate]:
    """Return at most ``most`` candidates, best first; ties are in the order of the text."""
    covered = _count_covered(candidates)
    ranked = [
        (-_rank_candidate(key, one, covered.get(key, 0)), place)
        for place, (key, one) in enumerate(candidates.items())
    ]
    values = list(candidates.values())
    return [values[place] for rank, place in sorted(ranked)[:most] if rank < 0]


def specificity(one: Candidate) -> float:
    """Return the weight of a term in a pair, from 0 to 1; single words weigh less."""
    if one.words > 1 or one.mostly_proper:
        return 1.0
    return SPECIFIC_COMMON if one.key in COMMON else SPECIFIC_WORD


def _count_covered(candidates: dict[str, Candidate]) -> dict[str, int]:
    """Return an estimate of how many places of each word are inside phrases."""
    whole: dict[str, int] = {}
    largest: dict[str, int] = {}
    for key, one in candidates.items():
        if one.words > 1:
            for word in key.split(" "):
                whole[word] = whole.get(word, 0) + one.count - one.nested
                largest[word] = max(largest.get(word, 0), one.count)
    return {word: max(count, largest[word]) for word, count in whole.items()}


def _rank_candidate(key: str, one: Candidate, covered: int) -> float:
    """Return the rank of a candidate; 0 means that it should not be a term."""
    rank = _rank_phrase(key, one) if one.words > 1 else _rank_word(key, one, covered)
    if rank <= 0:
        return 0.0
    rank += PROPER * (one.proper > 0) + HEADED * one.headed + MARKED * one.marked
    rank -= PART * one.part
    return rank if one.prose else rank * CODE


def _rank_phrase(key: str, one: Candidate) -> float:
    """Return the rank of a phrase; 0 if it occurs once and nothing sets it apart."""
    rank = math.log2(1 + one.count) + LONGER * math.log2(one.words)
    if one.count < 2 and not (one.proper or one.headed or one.marked):
        if one.nested or not one.noun or one.words > LONGEST_SINGLE:
            return 0.0
    elif one.nested == one.count:
        rank -= NESTED
    if not one.proper and key.rpartition(" ")[2] in COMMON:
        rank -= COMMON_HEAD
    return rank


def _rank_word(key: str, one: Candidate, covered: int) -> float:
    """Return the rank of a word, at least ``LEAST``."""
    rank = math.log2(1 + one.count)
    if covered >= one.count:
        rank -= COVERED_NAME if one.proper else COVERED_WORD
    if one.proper:
        return max(rank, LEAST)
    if key in COMMON:
        rank -= COMMON_WORD
    if one.name.endswith(_IDLE_ENDINGS):
        rank -= IDLE
    elif one.name.endswith(_TELLING_ENDINGS):
        rank += TELLING
    if one.noun and one.nested < one.count:
        rank += TELLING
    return max(rank, LEAST)
