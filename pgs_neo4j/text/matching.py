"""What is looked for in texts, and whether a text holds it: whole words, in any of their forms.

A term is a word or a phrase. A text holds a word when one of its words has the same root, and a
phrase when its words stand side by side, function words aside. A database can only look for
parts of words: ``filters`` are the parts that every text with the term holds in lower case, so
that what it finds is more than enough, and ``Page.holds`` decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pgs_neo4j.text.words import MIN_STEM, stem, words

LONGEST_WORD = 80  # characters of a word that are looked at; beyond it is a dump of data
LONGEST_ENDING = 8  # characters by which two forms of a word differ: "ations", a doubled letter
PHRASE_WINDOW = 60  # characters that a word of a phrase and what follows it may take
UNSPACED = 0x2E80  # from here on scripts write words without blanks between (Han, Kana, Hangul)

_RUN = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """What to look for: a text counts that holds at least ``needed`` of the ``terms``."""

    terms: tuple[str, ...]
    needed: int

    @property
    def usable(self) -> tuple[str, ...]:
        """The terms that have words, those with the longest ones first: they are rarest."""
        found = [term for term in dict.fromkeys(self.terms) if forms(term)]
        return tuple(sorted(found, key=lambda term: (-len(probe(term)), term)))

    @property
    def searchable(self) -> bool:
        """Whether a text could hold it at all."""
        return 0 < self.needed <= len(self.usable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A node that holds what was wanted, by its place; ``element_id`` is good for this run."""

    partition: int
    rank: int
    element_id: str
    key: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What became of looking for one thing.

    ``hits`` are verified, by partition (those to be read first) and rank. Without ``complete``
    there were more candidates than were verified, or what was asked may have missed some: then
    ``hits`` are some of the nodes that hold it, and none does not mean that no node does.
    ``searched`` counts nodes; 0: nothing was.
    """

    searched: int = 0
    method: str = ""
    hits: tuple[Hit, ...] = ()
    complete: bool = True

    @property
    def count(self) -> int:
        """How many nodes are known to hold it: at least, unless ``complete``."""
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class Page:
    """A text to look into, as it is and in lower case; both have the same length."""

    text: str
    lowered: str

    @classmethod
    def of(cls, text: str) -> Page:
        """The page of a text."""
        lowered = text.lower()
        # A few letters grow when lowered; without capitals only words in camelCase are lost.
        return cls(text if len(text) == len(lowered) else lowered, lowered)

    def counts(self, wanted: SearchTerms) -> bool:
        """Whether the text holds enough of what is wanted."""
        usable, held = wanted.usable, 0
        for left, term in zip(range(len(usable), 0, -1), usable, strict=True):
            if held >= wanted.needed or held + left < wanted.needed:
                break
            held += self.holds(term)
        return wanted.searchable and held >= wanted.needed

    def holds(self, term: str) -> bool:
        """Whether the text has the words of ``term``, in any form, side by side."""
        parts = filters(term)
        if not parts or any(part not in self.lowered for part in parts):
            return False
        if any(_unspaced(part) for part in parts):
            return True
        start = 0
        while (found := self.lowered.find(parts[0], start)) >= 0:
            first, last = self._run(found)
            if any(self._begins(first, last, form) for form in forms(term)):
                return True
            start = last
        return False

    def _run(self, place: int) -> tuple[int, int]:
        """The letters and digits around a place, at most ``LONGEST_WORD`` before it."""
        first = place
        while first > max(0, place - LONGEST_WORD) and self.text[first - 1].isalnum():
            first -= 1
        run = _RUN.match(self.text, place, place + 2 * LONGEST_WORD)
        return first, run.end() if run else place + 1

    def _begins(self, first: int, last: int, form: tuple[str, ...]) -> bool:
        """Whether a run of letters holds the first word of ``form``, and the others follow."""
        size = len(form)
        end = last if size == 1 else last + PHRASE_WINDOW * size
        # Identifiers are read in both ways: GitHub is git hub, and github.
        for piece in (self.text[first:end], self.lowered[first:end]):
            found = [root(word) for word in words(piece)]
            if any(tuple(found[i : i + size]) == form for i in range(len(found) - size + 1)):
                return True
        return False


@lru_cache(maxsize=65536)
def root(word: str) -> str:
    """The stem of a lower-case word, one for both "theory" and "theories"."""
    found = stem(word[:LONGEST_WORD])
    if not found.isascii() or len(found) < MIN_STEM or found[-1] not in "iy":
        return found
    return found[:-1] if len(found) > MIN_STEM else f"{found[:-1]}i"


@lru_cache(maxsize=65536)
def forms(term: str) -> tuple[tuple[str, ...], ...]:
    """The roots of a term's content words in order: as written, and with humps ignored.

    Empty when it has no content word.
    """
    written, plain = words(term), words(term.lower())
    if "".join(written) != "".join(plain):
        written = plain  # what stands before a hump was too short to count: mRNA, pH
    found = (tuple(map(root, each)) for each in (written, plain) if each)
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=65536)
def filters(term: str) -> tuple[str, ...]:
    """What every text that holds ``term`` contains in lower case, a part for each word."""
    return tuple(
        part[:-1] if len(part) == MIN_STEM and part.endswith("i") else part
        for part in next(iter(forms(term)), ())
    )


def probe(term: str) -> str:
    """The longest of the filters, so likely the rarest."""
    return max(filters(term), key=len)


def pattern(term: str) -> str:
    """A regular expression (Java's) that a lower-case text with the term matches as a whole.

    Closer than ``filters``, and a hundred times slower (20 µs for 1 KB): words begin as they
    should and lie near each other.
    Words in the midst of camelCase are not found by it.
    """
    parts = filters(term)
    if any(_unspaced(part) for part in parts):
        return f"(?s).*{'.*'.join(parts)}.*"
    between = rf"[\W_]*(?:[^\W_]+[\W_]+){{0,{len(parts)}}}"
    spelled = between.join(rf"{part}\w{{0,{LONGEST_ENDING}}}" for part in parts)
    return rf"(?sU).*(?:\b|_){spelled}(?:\b|_).*"


def _unspaced(part: str) -> bool:
    return any(ord(letter) >= UNSPACED for letter in part)
