"""Finds contradictions: one text denies what another says in nearly the same words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.text.matching import root
from pgs_neo4j.text.normal_form import find_words

LEAST_WORDS = 3  # a sentence with fewer content words is not compared
SHARE = 0.8  # share of a sentence's content words that a text must have in the same order
LOOSE = 1.4  # a place in a text may be this many times as long as the sentence, in content words
ANCHORS = 3  # a place in a text begins with one of this many first content words
BEFORE = 4  # words before the first shared word that may deny it

_DENYING = """
not no never none neither nor nothing nobody without cannot lack lacks lacked lacking fail
fails failed failing unable hardly nicht kein keine keinen keiner keinem keines nie niemals
rarely seldom barely scarcely false untrue reject rejects rejected rejecting refuse refuses refused
refusing ohne weder pas jamais aucun aucune sans ni ningún ninguna sin nunca jamás non senza mai
"""
_NEGATORS = frozenset(_DENYING.split())
_SMALL_WORDS = """
a an the of to in on at by for with from as is am are was were be been being do does did has have
had it its this that these those they he she we i you and or but so than then there which who can
could may might must shall should will would not any all yet
"""
_SMALL = frozenset(_SMALL_WORDS.split())
_OPPOSED = """
decrease increase, decreases increases, decreased increased, decreasing increasing
reduce increase, reduces increases, reduced increased, reducing increasing
lower higher, smaller larger, fewer more, less more, worse better, slower faster, weaker stronger
fell rose, falls rises, closed open, outside inside, excluded included, excludes includes
failure success, disabled enabled, disables enables, loses gains, lost gained
"""
# Each word maps to the word whose contrary it states.
_OPPOSITES = dict(pair.split() for pair in re.split(r"[,\n]", _OPPOSED) if pair.strip())
_UNDONE = re.compile(r"\bdeclin(?:e|es|ed|ing) to\b", re.IGNORECASE)
_CONTRACTED = re.compile(r"n['\u2019]t\b", re.IGNORECASE)
_INTRODUCTION = re.compile(r"\A\W*(?:According to|As \w+ed)\b[^,]{0,40},\s", re.IGNORECASE)
_END = re.compile(r"[.;:!?\n]+(?=\s|\Z)")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a sentence, prepared for comparison.

    ``words`` are all words in lower case. ``roots`` are the roots of its content words in order,
    and ``places`` their places among all words.
    """

    words: tuple[str, ...]
    roots: tuple[str, ...]
    places: tuple[int, ...]

    @classmethod
    def of(cls, sentence: str) -> Words:
        """Split a sentence, in normal form and lower case, into its words."""
        plain = sentence.replace("can't", "can not").replace("cannot", "can not")
        every = tuple(find_words(_CONTRACTED.sub(" not", _UNDONE.sub("not", plain))))
        places = tuple(
            place
            for place, word in enumerate(every)
            if word not in _SMALL and word not in _NEGATORS and (len(word) > 1 or word.isdigit())
        )
        roots = (root(_OPPOSITES.get(every[place], every[place])) for place in places)
        return cls(every, tuple(roots), places)

    def both_ways(self) -> bool:
        """Return whether the sentence has a word and its contrary, such as rose and fell."""
        opposed = {_OPPOSITES[word] for word in self.words if word in _OPPOSITES}
        return not opposed.isdisjoint(self.words)

    def denials(self, first: int, last: int) -> int:
        """Return how many words from ``first`` up to ``last``, exclusive, deny something."""
        words = self.words[max(0, first) : last]
        return sum(word in _NEGATORS or word in _OPPOSITES for word in words)


OPPOSED = frozenset(root(word) for pair in _OPPOSITES.items() for word in pair)
"""Roots of words with a contrary; in a comparison, either word stands for both."""


def split_clauses(text: str) -> list[str]:
    """Split a text, in normal form, at the ends of sentences, semicolons, and colons.

    An introduction, such as "According to n3,", is left out.
    """
    parts = (_INTRODUCTION.sub("", part) for part in _END.split(text))
    return [part for part in parts if part.strip()]


def denies(claim: Words, known: Sequence[Words]) -> bool:
    """Return whether a text contradicts a claim in nearly the same words.

    A text that also confirms the claim does not contradict it.
    """
    if len(claim.roots) < LEAST_WORDS:
        return False
    denied = claim.denials(0, len(claim.words)) % 2
    wanted = frozenset(claim.roots)
    contrary = False
    for words in known:
        if len(wanted.intersection(words.roots)) < SHARE * len(wanted):
            continue
        if words.both_ways():  # the claim may be about either direction
            continue
        place = _find_place(claim.roots, words)
        if place is None:
            continue
        if words.denials(*place) % 2 == denied:
            return False
        contrary = True
    return contrary


def _find_place(roots: Sequence[str], words: Words) -> tuple[int, int] | None:
    """Return the first and last word of the place with most ``roots`` in order; None if too few."""
    best: tuple[int, int, int] | None = None
    for start, own in enumerate(words.roots):
        if own not in roots[:ANCHORS]:
            continue
        at, matched, last = start, 0, start
        for wanted in roots:
            try:
                found = words.roots.index(wanted, at, start + int(LOOSE * len(roots)) + 2)
            except ValueError:
                continue
            matched, last, at = matched + 1, found, found + 1
        span = last - start + 1
        near = matched >= SHARE * len(roots) and span <= LOOSE * len(roots) + 1
        if near and (best is None or matched > best[0]):
            best = matched, start, last
    if best is None:
        return None
    first, last = words.places[best[1]], words.places[best[2]]
    previous = words.places[best[1] - 1] if best[1] else -1
    end = words.places[best[2] + 1] if best[2] + 1 < len(words.places) else len(words.words)
    return max(first - BEFORE, previous + 1 if previous >= 0 else 0), min(end, last + 3)
