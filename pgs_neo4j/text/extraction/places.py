"""Finds the places of names in a text: as written, in another case or width, or inflected.

The text is folded once: letters of one case and width, no invisible characters, one sign for each
kind of dash and quote. A table leads back to the places in the text itself, so they are exact.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from pgs_neo4j.model.documents import Spans
from pgs_neo4j.text.invisible import INVISIBLE
from pgs_neo4j.text.matching import UNSPACED, root
from pgs_neo4j.text.words import words

LEAST_FUZZY = 7
"""Letters from which on a word may have a typing error: one letter more, less, or other."""

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_QUOTES = dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u0060\u00b4"), "'")
_ONE_SIGN = _DASHES | _QUOTES | {0x201C: '"', 0x201D: '"'}
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ARTICLE = re.compile(r"(?:the|a|an) (?=\S)")
_POSSESSIVE = re.compile(r"'s$")
_GAP = re.compile(r"[\s\-'.]{1,3}")
_SIGNS = "+#"


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text to look names up in; ``places[i]`` is where its letter ``i`` stands in the text."""

    text: str
    places: Sequence[int]
    size: int

    @classmethod
    def of(cls, text: str) -> FoldedText:
        """Fold a text."""
        if text.isascii() and not INVISIBLE.search(text):
            return cls(text.lower().replace("`", "'"), range(len(text) + 1), len(text))
        letters: list[str] = []
        places = array("q")
        for place, letter in enumerate(text):
            folded = _fold(letter)
            letters.append(folded)
            places.extend([place] * len(folded))
        places.append(len(text))
        return cls("".join(letters), places, len(text))

    def exact(self, name: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where a name stands between two places of the folded text.

        Blanks, case, and width may differ. A word is not found inside another one.
        """
        parts = [re.escape(part) for part in fold_name(name).split()]
        if parts:
            pattern = _pattern(r"\s*".join(parts))
            for match in pattern.finditer(self.text, start, end):
                if self._stands_alone(match.start(), match.end()):
                    yield match.span()

    def inflected(self, name: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield where the words of a name stand side by side, in another form or misspelled."""
        wanted = _WORD.findall(fold_name(name))
        if not wanted:
            return
        found = list(_WORD.finditer(self.text, start, end))
        for first in range(len(found) - len(wanted) + 1):
            row = found[first : first + len(wanted)]
            span = (row[0].start(), row[-1].end())
            pairs = zip(wanted, row, strict=True)
            alike = all(is_form(word, match[0]) for word, match in pairs)
            if alike and self._adjacent(row) and self._stands_alone(*span):
                yield span

    def spans(self, found: Sequence[tuple[int, int]]) -> Spans:
        """Return places of the folded text as places of the text, ascending, without overlap."""
        spans: list[tuple[int, int]] = []
        for start, end in sorted(set(found), key=lambda span: (span[0], -span[1])):
            begin, last = self.places[start], self.places[end - 1] + 1
            if not spans or begin >= spans[-1][1]:
                spans.append((begin, last))
        return tuple(spans)

    def _adjacent(self, row: Sequence[re.Match[str]]) -> bool:
        return all(
            _GAP.fullmatch(self.text, one.end(), other.start()) for one, other in pairwise(row)
        )

    def _stands_alone(self, start: int, end: int) -> bool:
        text = self.text
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        if _joins(before, text[start]) or unicodedata.combining(after):
            return False
        if text[end - 1].isalnum() and after in _SIGNS:
            return False  # C is not C++
        return not _joins(text[end - 1], after)


def fold_name(name: str) -> str:
    """Return a name as it stands in a folded text, without an article and ``'s``."""
    plain = " ".join("".join(map(_fold, name)).split())
    plain = _POSSESSIVE.sub("", plain)
    return _ARTICLE.sub("", plain, count=1) if _ARTICLE.match(plain) else plain


def roots_of(text: str) -> frozenset[str]:
    """Return the roots of the content words of a text, for names that it may be about.

    In scripts without blanks, pairs of letters are words.
    """
    roots: set[str] = set()
    for word in words("".join(map(_fold, text))):
        if ord(word[0]) >= UNSPACED:
            roots.update(map("".join, pairwise(word)))
        roots.add(root(word))
    return frozenset(roots)


def is_form(word: str, other: str) -> bool:
    """Whether two folded words are forms of one word, or differ by one typing error.

    Words with digits must be equal. An error is one letter after the first, in long words.
    """
    if word == other or _POSSESSIVE.sub("", other) == word:
        return True
    if not (word.isalpha() and other.isalpha()):
        return False
    if root(word) == root(other):
        return True
    long = min(len(word), len(other)) >= LEAST_FUZZY
    return long and word[0] == other[0] and _differ_by_one(word, other)


def _differ_by_one(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest, more = one[start:], other[start:]
    swapped = len(rest) > 1 and rest[:2] == more[1::-1] and rest[2:] == more[2:]
    return swapped or rest[1:] == more[1:] or rest[1:] == more or rest == more[1:]


def _joins(one: str, other: str) -> bool:
    """Whether two characters belong to one word."""
    if ord(one) >= UNSPACED or ord(other) >= UNSPACED:
        return False
    return (one.isalnum() or one == "_") and (other.isalnum() or other == "_")


@lru_cache(maxsize=4096)
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


@lru_cache(maxsize=65536)
def _fold(letter: str) -> str:
    """Return the folded form of one character: one or more, or none."""
    if INVISIBLE.match(letter):
        return ""
    # Marks stand apart from letters, but the parts of a syllable of Hangul do not.
    form: Literal["NFKC", "NFKD"] = "NFKC" if ord(letter) >= UNSPACED else "NFKD"
    folded = unicodedata.normalize(form, letter).casefold().translate(_ONE_SIGN)
    return "".join(unicodedata.normalize(form, folded).split(" ")) or " "
