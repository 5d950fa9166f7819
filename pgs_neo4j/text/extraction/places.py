"""Finds the places of names in a text: as written, in another case or width, or inflected.

The text is folded once: letters get one case and width, invisible characters are left out, and each
kind of dash or quote becomes one sign. A table maps every place back to the exact place in the text
itself.
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
"""Minimum letters of a word that may have a typing error: one letter more, less, or different."""

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
    """A folded text to look up names in; ``places[i]`` is the original place of letter ``i``."""

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
        self.text, self.places = _reduce_blanks("".join(parts), places)

    @cached_property
    def words(self) -> list[tuple[int, int, str]]:
        """Start, end, and key of each word; all forms of a word have the same key."""
        return [(*match.span(), _make_key(match[0])) for match in _WORD.finditer(self.text)]

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """The positions in ``words`` of each key."""
        numbers: dict[str, list[int]] = {}
        for number, (_, _, key) in enumerate(self.words):
            numbers.setdefault(key, []).append(number)
        return numbers

    def exact(self, name: str, start: int, end: int) -> list[tuple[int, int]]:
        """Return the places of a name between two places of the folded text.

        Blanks, case, and width may differ. A name inside a longer word is not found.
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
        """Return the places where the words of a name are side by side, in any inflection."""
        wanted = [_make_key(word) for word in _WORD.findall(fold_name(name))]
        if not wanted:
            return []
        numbers = self.numbers.get(wanted[0], [])
        first = bisect_left(numbers, start, key=lambda number: self.words[number][0])
        found: list[tuple[int, int]] = []
        for number in numbers[first:]:
            row = self.words[number : number + len(wanted)]
            if row[-1][1] > end:
                break
            if [key for _, _, key in row] == wanted and self._are_adjacent(row):
                found.append((row[0][0], row[-1][1]))
        return found

    def misspelled(self, name: str) -> list[tuple[int, int]]:
        """Return the places of a name with different blanks, or else with typing errors."""
        folded = fold_name(name)
        spans = _find_parts(folded.split(), self.text)
        if found := [span for span in spans if self._stands_alone(*span)]:
            return found
        wanted = _WORD.findall(folded)
        if all(len(word) < LEAST_FUZZY for word in wanted):
            return []
        return list(self._find_misspelled(wanted))

    def spans(self, found: Sequence[tuple[int, int]]) -> Spans:
        """Turn places of the folded text into original places, ascending, without overlap."""
        spans: list[tuple[int, int]] = []
        for start, end in sorted(set(found), key=lambda span: (span[0], -span[1])):
            begin, last = self.places[start], self.places[end - 1] + 1
            if not spans or begin >= spans[-1][1]:
                spans.append((begin, last))
        return tuple(spans)

    def _find_misspelled(self, wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the places of words that may be misspelled; the longest word is compared first."""
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
                and (self._are_adjacent(row))
            ):
                yield row[0][0], row[-1][1]

    def _are_adjacent(self, row: Sequence[tuple[int, int, str]]) -> bool:
        gaps = all(_GAP.fullmatch(self.text, one[1], other[0]) for one, other in pairwise(row))
        return gaps and self._stands_alone(row[0][0], row[-1][1])

    def _stands_alone(self, start: int, end: int) -> bool:
        """Return whether a place of the folded text is not part of a longer word."""
        text = self.text
        first, last = start - 1, end
        while first >= 0 and text[first] == "_":  # a mark of emphasis, or part of __init__
            first -= 1
        while last < len(text) and text[last] == "_":
            last += 1
        before = text[first] if first >= 0 else " "
        after = text[last] if last < len(text) else " "
        if _are_joined(before, text[start]) or unicodedata.combining(after):
            return False
        if text[end - 1].isalnum() and after in _SIGNS:
            return False  # C is not C++
        return not _are_joined(text[end - 1], after)


@lru_cache(maxsize=32768)
def fold_name(name: str) -> str:
    """Return the folded form of a name, without an article and ``'s``."""
    plain = " ".join("".join(map(_fold, name)).split())
    plain = _POSSESSIVE.sub("", plain)
    return _ARTICLE.sub("", plain, count=1) if _ARTICLE.match(plain) else plain


def roots_of(text: str) -> frozenset[str]:
    """Return the roots of the content words of a text.

    In scripts without blanks, pairs of letters count as words.
    """
    roots: set[str] = set()
    for word in words("".join(map(_fold, text))):
        if ord(word[0]) >= UNSPACED:
            roots.update(map("".join, pairwise(word)))
        roots.add(root(word))
    return frozenset(roots)


def is_form(word: str, other: str) -> bool:
    """Return whether two folded words are forms of one word, or differ by one typing error.

    Words with digits must be equal. Only long words may have an error, after their first letter.
    """
    if _make_key(word) == _make_key(other):
        return True
    if not (word.isalpha() and other.isalpha()):
        return False
    long = min(len(word), len(other)) >= LEAST_FUZZY
    return long and word[0] == other[0] and _differ_by_one(word, other)


def _differ_by_one(one: str, other: str) -> bool:
    """Return whether one letter is added, missing, replaced, or swapped with the next."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest, more = one[start:], other[start:]
    swapped = len(rest) > 1 and rest[:2] == more[1::-1] and rest[2:] == more[2:]
    return swapped or rest[1:] == more[1:] or rest[1:] == more or rest == more[1:]


def _are_joined(one: str, other: str) -> bool:
    """Return whether two adjacent characters belong to one word."""
    if not (one.isalnum() and other.isalnum()):
        return False
    return ord(one) < UNSPACED and ord(other) < UNSPACED


@lru_cache(maxsize=65536)
def _make_key(word: str) -> str:
    plain = word.removesuffix("'s")
    return root(plain) if plain.isalpha() else plain


def _reduce_blanks(text: str, places: list[int]) -> tuple[str, list[int]]:
    """Return a folded text and its places, with runs of blanks reduced to one blank."""
    if "  " not in text:
        return text, places
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    blank = codes == ord(" ")
    stay = np.flatnonzero(~(blank & np.concatenate(([False], blank[:-1]))))
    single = codes[stay].tobytes().decode("utf-32-le", "surrogatepass")
    return single, [*np.array(places)[stay].tolist(), places[-1]]


@lru_cache(maxsize=65536)
def _fold(letter: str) -> str:
    """Return the folded form of a character: empty if it is invisible, else one or more letters."""
    if INVISIBLE.match(letter):
        return ""
    # Decompose accented letters, so that marks become separate characters. Syllables of Hangul stay
    # whole.
    form: Literal["NFKC", "NFKD"] = "NFKC" if ord(letter) >= UNSPACED else "NFKD"
    folded = unicodedata.normalize(form, letter).casefold().translate(_ONE_SIGN)
    return "".join(unicodedata.normalize(form, folded).split()) or " "


def _find_parts(parts: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield the places where all parts follow each other, with or without blanks between them."""
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
