"""Finds the places of names in a text: as written, in another case or width, or inflected.

The text is folded once: letters of one case and width, no invisible characters, one sign for each
kind of dash and quote. A table leads back to the places in the text itself, so they are exact.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal

import numpy as np

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
_NOT_PLAIN = re.compile(r"[^\t-\r\x20-\x7e]")
_ASCII_SIGNS = {ord("`"): "'"} | dict.fromkeys(map(ord, "\t\n\r\x0b\x0c"), " ")


class FoldedText:
    """A text to look names up in; ``places[i]`` is where its letter ``i`` stands in the text."""

    def __init__(self, text: str) -> None:
        parts: list[str] = []
        places: list[int] = []
        start = 0
        for match in _NOT_PLAIN.finditer(text):
            place = match.start()
            folded = _fold(match[0])
            parts += (text[start:place].lower().translate(_ASCII_SIGNS), folded)
            places += (*range(start, place), *[place] * len(folded))
            start = place + 1
        parts.append(text[start:].lower().translate(_ASCII_SIGNS))
        places += range(start, len(text) + 1)
        self.text, self.places = _with_single_blanks("".join(parts), places)

    @cached_property
    def words(self) -> list[tuple[int, int, str]]:
        """Start, end, and key of each word; the key is equal in all forms of a word."""
        return [(*match.span(), _key(match[0])) for match in _WORD.finditer(self.text)]

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """The places in ``words`` of each key."""
        numbers: dict[str, list[int]] = {}
        for number, (_, _, key) in enumerate(self.words):
            numbers.setdefault(key, []).append(number)
        return numbers

    def exact(self, name: str, start: int, end: int) -> list[tuple[int, int]]:
        """Return where a name stands between two places of the folded text.

        Blanks, case, and width may differ. A word is not found inside another one.
        """
        wanted = fold_name(name)
        found: list[tuple[int, int]] = []
        place = self.text.find(wanted, start, end) if wanted else -1
        while place >= 0:
            last = place + len(wanted)
            if self._stands_alone(place, last):
                found.append((place, last))
            place = self.text.find(wanted, last, end)
        return found

    def inflected(self, name: str, start: int, end: int) -> list[tuple[int, int]]:
        """Return where the words of a name stand side by side, in another form."""
        wanted = [_key(word) for word in _WORD.findall(fold_name(name))]
        if not wanted:
            return []
        numbers = self.numbers.get(wanted[0], [])
        first = bisect_left(numbers, start, key=lambda number: self.words[number][0])
        found: list[tuple[int, int]] = []
        for number in numbers[first:]:
            row = self.words[number : number + len(wanted)]
            if row[-1][1] > end:
                break
            if [key for _, _, key in row] == wanted and self._adjacent(row):
                found.append((row[0][0], row[-1][1]))
        return found

    def misspelled(self, name: str) -> list[tuple[int, int]]:
        """Return where a name stands with other blanks, or with a typing error in a word."""
        folded = fold_name(name)
        spans = _find_parts(folded.split(), self.text)
        if found := [span for span in spans if self._stands_alone(*span)]:
            return found
        wanted = _WORD.findall(folded)
        if all(len(word) < LEAST_FUZZY for word in wanted):
            return []
        return list(self._alike(wanted))

    def spans(self, found: Sequence[tuple[int, int]]) -> Spans:
        """Return places of the folded text as places of the text, ascending, without overlap."""
        spans: list[tuple[int, int]] = []
        for start, end in sorted(set(found), key=lambda span: (span[0], -span[1])):
            begin, last = self.places[start], self.places[end - 1] + 1
            if not spans or begin >= spans[-1][1]:
                spans.append((begin, last))
        return tuple(spans)

    def _alike(self, wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield where words stand that may be misspelled; the longest is looked for first."""
        longest = max(range(len(wanted)), key=lambda place: len(wanted[place]))
        begin, size = wanted[longest][0], len(wanted[longest])
        for place, (start, end, _) in enumerate(self.words):
            first = place - longest
            if abs(end - start - size) > 1 or self.text[start] != begin or first < 0:
                continue
            row = self.words[first : first + len(wanted)]
            spelled = [self.text[one[0] : one[1]] for one in row]
            if (
                len(row) == len(wanted)
                and all(map(is_form, wanted, spelled))
                and (self._adjacent(row))
            ):
                yield row[0][0], row[-1][1]

    def _adjacent(self, row: Sequence[tuple[int, int, str]]) -> bool:
        gaps = all(_GAP.fullmatch(self.text, one[1], other[0]) for one, other in pairwise(row))
        return gaps and self._stands_alone(row[0][0], row[-1][1])

    def _stands_alone(self, start: int, end: int) -> bool:
        text = self.text
        first, last = start - 1, end
        while first >= 0 and text[first] == "_":  # of emphasis, or of __init__
            first -= 1
        while last < len(text) and text[last] == "_":
            last += 1
        before = text[first] if first >= 0 else " "
        after = text[last] if last < len(text) else " "
        if _joins(before, text[start]) or unicodedata.combining(after):
            return False
        if text[end - 1].isalnum() and after in _SIGNS:
            return False  # C is not C++
        return not _joins(text[end - 1], after)


@lru_cache(maxsize=32768)
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
    if _key(word) == _key(other):
        return True
    if not (word.isalpha() and other.isalpha()):
        return False
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
    if not (one.isalnum() and other.isalnum()):
        return False
    return ord(one) < UNSPACED and ord(other) < UNSPACED


@lru_cache(maxsize=65536)
def _key(word: str) -> str:
    plain = word.removesuffix("'s")
    return root(plain) if plain.isalpha() else plain


def _with_single_blanks(text: str, places: list[int]) -> tuple[str, list[int]]:
    """Return a folded text with one blank for several, and its places."""
    if "  " not in text:
        return text, places
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    blank = codes == ord(" ")
    stay = np.flatnonzero(~(blank & np.concatenate(([False], blank[:-1]))))
    single = codes[stay].tobytes().decode("utf-32-le", "surrogatepass")
    return single, [*np.array(places)[stay].tolist(), places[-1]]


@lru_cache(maxsize=65536)
def _fold(letter: str) -> str:
    """Return the folded form of one character: one or more, or none."""
    if INVISIBLE.match(letter):
        return ""
    # Marks stand apart from letters, but the parts of a syllable of Hangul do not.
    form: Literal["NFKC", "NFKD"] = "NFKC" if ord(letter) >= UNSPACED else "NFKD"
    folded = unicodedata.normalize(form, letter).casefold().translate(_ONE_SIGN)
    return "".join(unicodedata.normalize(form, folded).split()) or " "


def _find_parts(parts: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield where all parts follow each other, with blanks between them or none."""
    start = text.find(parts[0]) if parts else -1
    while start >= 0:
        end = start + len(parts[0])
        for part in parts[1:]:
            begin = end
            while text[begin : begin + 1].isspace():
                begin += 1
            if not text.startswith(part, begin):
                end = 0
                break
            end = begin + len(part)
        if end:
            yield start, end
        start = text.find(parts[0], max(end, start + 1))
