"""Decides whether a text contains a term.

Only whole words count, in any of their forms. Texts and terms are compared in their normal form.

A term is a word or a phrase. A text contains a word if one of its words has the same root. It
contains a phrase if the words are side by side, ignoring function words. A database can only look
for parts of words. ``filters`` are the lower-case parts that every text with the term contains. So
the database finds too many texts, never too few, and ``Page.holds`` decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pgs_neo4j.text.normal_form import (
    fold_case,
    has_unsegmented,
    is_mark,
    joined_words,
    normal_form,
    with_joined_words,
)
from pgs_neo4j.text.words import MIN_STEM, stem, words

LONGEST_WORD = 80  # only this many characters of a word are compared; longer words are data dumps
LONGEST_ENDING = 8  # forms of a word differ by at most this many characters, such as "ations"
PHRASE_WINDOW = 60  # characters for a word of a phrase and the gap after it
UNSPACED = 0x2E80  # scripts from here on put no blanks between words (Han, Kana, Hangul)
GROUP = 3  # digits of a large number between two commas


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """A search: a text matches if it contains ``needed`` or more of the ``terms``.

    If not ``segmented``, the search has terms in a script that cannot be divided into words. A
    search without a match then proves nothing.
    """

    terms: tuple[str, ...]
    needed: int
    segmented: bool = True

    @property
    def usable(self) -> tuple[str, ...]:
        """The distinct terms with at least one word, longest (and probably rarest) first."""
        terms = [term for term in dict.fromkeys(self.terms) if forms(term)]
        return tuple(sorted(terms, key=lambda term: (-len(probe(term)), term)))

    @property
    def searchable(self) -> bool:
        """Whether any text could match."""
        return 0 < self.needed <= len(self.usable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A matching node, by its place.

    ``element_id`` is valid in this run only.
    """

    partition: int
    rank: int
    element_id: str
    key: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The result of one search.

    ``hits`` are verified. They are in the order in which partitions are read, then by rank. If not
    ``complete``, there were too many candidates to verify, or the search may have missed some.
    ``hits`` are then only some of the matching nodes, and an empty list does not prove an absence.
    ``searched`` counts the searched nodes; 0 means that nothing was searched. ``texts`` counts the
    searched nodes with text, None if unknown.
    """

    searched: int = 0
    method: str = ""
    hits: tuple[Hit, ...] = ()
    complete: bool = True
    texts: int | None = None

    @property
    def count(self) -> int:
        """How many nodes are known to match; a lower bound unless ``complete``."""
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class Page:
    """A text to search in normal form, as written and in lower case.

    Both have the same length. At their ends, hyphenated words are repeated without hyphens.
    """

    text: str
    lowered: str

    @classmethod
    def of(cls, text: str) -> Page:
        """Make the page of a text."""
        whole = with_joined_words(normal_form(text))
        return cls(whole, fold_case(whole))

    def counts(self, search: SearchTerms) -> bool:
        """Return whether the text matches a search."""
        usable, matched = search.usable, 0
        for left, term in zip(range(len(usable), 0, -1), usable, strict=True):
            if matched >= search.needed or matched + left < search.needed:
                break
            matched += self.holds(term)
        return search.searchable and matched >= search.needed

    def holds(self, term: str) -> bool:
        """Return whether the text contains the words of ``term`` side by side, in any form."""
        parts = filters(term)
        if not parts or any(part not in self.lowered for part in parts):
            return False
        if any(_is_unspaced(part) for part in parts):
            return True
        start = 0
        while (place := self.lowered.find(parts[0], start)) >= 0:
            first, last = self._find_run(place)
            if any(self._has_form(first, last, form) for form in forms(term)):
                return True
            start = last
        return False

    def _find_run(self, place: int) -> tuple[int, int]:
        """Return the start and end of the run of letters and digits around a place.

        The run begins at most ``LONGEST_WORD`` characters before the place.
        """
        first = place
        while first > max(0, place - LONGEST_WORD) and is_word_sign(self.text[first - 1]):
            first -= 1
        last, end = place, min(len(self.text), place + 2 * LONGEST_WORD)
        while last < end and is_word_sign(self.text[last]):
            last += 1
        return first, max(last, place + 1)

    def _has_form(self, first: int, last: int, form: tuple[str, ...]) -> bool:
        """Return whether a run contains the first word of ``form``, and the others follow it."""
        size = len(form)
        end = last if size == 1 else last + PHRASE_WINDOW * size
        # Identifiers are read in both ways: GitHub is git hub, and github.
        for piece in (self.text[first:end], self.lowered[first:end]):
            roots = [root(word) for word in words(piece)]
            if any(tuple(roots[i : i + size]) == form for i in range(len(roots) - size + 1)):
                return True
        return False


@lru_cache(maxsize=65536)
def root(word: str) -> str:
    """Return the root of a lower-case word; "theory" and "theories" share one root."""
    stemmed = stem(word[:LONGEST_WORD])
    if not stemmed.isascii() or len(stemmed) < MIN_STEM or stemmed[-1] not in "iy":
        return stemmed
    return stemmed[:-1] if len(stemmed) > MIN_STEM else f"{stemmed[:-1]}i"


@lru_cache(maxsize=65536)
def forms(term: str) -> tuple[tuple[str, ...], ...]:
    """Return the roots of a term's content words, in up to three forms.

    The forms are: as written, ignoring camelCase, and without hyphens. The result is empty if there
    is no content word.
    """
    written, plain = words(term), words(fold_case(normal_form(term)))
    if "".join(written) != "".join(plain):
        written = plain  # the part before a capital was too short to be a word: mRNA, pH
    joined = joined_words(normal_form(term))
    whole = joined if len(joined) == 1 and len(term.split()) == 1 and written else []
    rooted = (tuple(map(root, row)) for row in (written, plain, whole) if row)
    return tuple(dict.fromkeys(rooted))


@lru_cache(maxsize=65536)
def filters(term: str) -> tuple[str, ...]:
    """Return lower-case parts, one per word, that every text with ``term`` contains."""
    return tuple(
        part[:-1] if len(part) == MIN_STEM and part.endswith("i") else part
        for part in next(iter(forms(term)), ())
    )


def probe(term: str) -> str:
    """Return the longest filter, which is likely the rarest."""
    return max(filters(term), key=len)


def pattern(term: str) -> str:
    """Return a Java regular expression for texts that contain the term.

    It matches an entire lower-case text. It is more precise than ``filters``, and a hundred times
    slower (20 µs for 1 KB): each match begins at the beginning of a word, and the words are close
    together. It does not find words in the middle of camelCase.
    """
    parts = filters(term)
    if any(_is_unspaced(part) for part in parts):
        return f"(?s).*{'.*'.join(parts)}.*"
    parts = tuple(_allow_groups(part) for part in parts)
    between = rf"[\W_]*(?:[^\W_]+[\W_]+){{0,{len(parts)}}}"
    spelled = between.join(rf"{part}\w{{0,{LONGEST_ENDING}}}" for part in parts)
    return rf"(?sU).*(?:\b|_){spelled}(?:\b|_).*"


def stored_part(part: str) -> str:
    """Return the part of a filter that a text contains even if it groups digits, as in 1,000."""
    return part[-GROUP:] if _is_large_number(part) else part


def is_word_sign(sign: str) -> bool:
    """Return whether a character is a letter, a digit, or a mark."""
    return sign.isalnum() or is_mark(sign)


def _allow_groups(part: str) -> str:
    if not _is_large_number(part):
        return part
    first = len(part) % GROUP or GROUP
    groups = (part[start : start + GROUP] for start in range(first, len(part), GROUP))
    return "[, ]?".join((part[:first], *groups))


def _is_large_number(part: str) -> bool:
    return len(part) > GROUP and part.isdecimal()


def _is_unspaced(part: str) -> bool:
    return has_unsegmented(part) or any(ord(letter) >= UNSPACED for letter in part)
