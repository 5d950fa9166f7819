"""Looks up ordinals, centuries, weekdays, and words such as thousands in the sources of a sentence.

An ordinal is in doubt only if a source has another ordinal with the same noun: the second edition
instead of the third. Most other ordinals are the model's own count, as in "a third reason".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date
from decimal import Decimal

from pgs_neo4j.text.claims.sources import Material, Sources
from pgs_neo4j.text.matching import root

_ORDINAL_WORDS = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first
"""
_ORDINALS = {word: value for value, word in enumerate(_ORDINAL_WORDS.split(), 1)}
_ORDINAL = re.compile(
    rf"(?<![\w-])(?:(?P<word>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
    r"|(?P<digits>\d{1,3})(?:st|nd|rd|th))[\s-](?P<noun>[^\W\d_]{3,})",
    re.IGNORECASE,
)
_MAY_BE_ORDINAL = re.compile(
    r"\d(?:st|nd|rd|th)\b|(?:first|second|third|[a-z]th|tieth)\b", re.IGNORECASE
)
# Nouns that a text numbers to structure itself, such as reasons, and words that are not nouns.
_OWN_WORDS = """
and but the one half place largest smallest highest lowest most least best worst time times step
reason point theme strand finding aspect group kind type way part question section sentence
node partition report option possibility example case observation thing level set paper party
"""
_OWN = frozenset(_OWN_WORDS.split())
_CENTURY = re.compile(r"centur", re.IGNORECASE)
_SCALES = {"hundreds": 2, "thousands": 3, "millions": 6, "billions": 9, "trillions": 12}
_MANY = re.compile(
    rf"\b(?:(?P<more>tens|hundreds|dozens) of )?(?P<scale>{'|'.join(_SCALES)})(?= of\b)",
    re.IGNORECASE,
)
_MORE = {"tens": 1, "dozens": 1, "hundreds": 2}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = re.compile(rf"\b(?P<day>{'|'.join(_DAYS)})s?\b", re.IGNORECASE)
LOWEST_YEAR, HIGHEST_YEAR = 1000, 3000


def find_unsaid(text: str, sources: Sources, question: Material) -> list[str]:
    """Return the ordinals, centuries, weekdays, and vague amounts that no source has."""
    unsaid: list[str] = []
    if _MAY_BE_ORDINAL.search(text):
        unsaid += [
            match.group()
            for match in _ORDINAL.finditer(text)
            if not _has_ordinal(match, [question, *sources])
        ]
    unsaid += [
        match.group()
        for match in _MANY.finditer(text)
        if not _has_amount(match, [question, *sources])
    ]
    return unsaid + [
        match.group()
        for match in _DAY.finditer(text)
        if not _has_day(match["day"].casefold(), [question, *sources])
    ]


def _has_ordinal(match: re.Match[str], sources: Iterable[Material]) -> bool:
    """Return whether a source has an ordinal, or no source has another one with its noun."""
    value = _read_ordinal(match)
    noun = match["noun"].casefold()
    if _CENTURY.match(noun):
        return any(_has_century(value, one) for one in sources)
    if noun in _OWN:
        return True
    wanted, other = root(noun), False
    for one in sources:
        if wanted not in one.folded or _MAY_BE_ORDINAL.search(one.folded) is None:
            continue
        said = [
            _read_ordinal(known)
            for known in _ORDINAL.finditer(one.folded)
            if root(known["noun"]) == wanted
        ]
        if value in said:
            return True
        other = other or bool(said)
    return not other


def _read_ordinal(match: re.Match[str]) -> int:
    return int(match["digits"]) if match["digits"] else _ORDINALS[match["word"].casefold()]


def _has_century(value: int, source: Material) -> bool:
    """Return whether a source names a century or has a year in it."""
    if _CENTURY.search(source.folded):
        said = {
            _read_ordinal(known)
            for known in _ORDINAL.finditer(source.folded)
            if _CENTURY.match(known["noun"])
        }
        if value in said:
            return True
    return any((year - 1) // 100 + 1 == value or year // 100 + 1 == value for year in years(source))


def years(source: Material) -> Iterator[int]:
    """Yield the numbers of a source that may be years."""
    return (
        int(one.value)
        for one in source.numbers
        if not one.kind and LOWEST_YEAR <= one.value < HIGHEST_YEAR
    )


def _has_amount(match: re.Match[str], sources: Iterable[Material]) -> bool:
    """Return whether a source has a vague amount, in words or as a number."""
    scale = match["scale"].casefold()
    low = _SCALES[scale] + _MORE.get((match["more"] or "").casefold(), 0)
    high = low + (1 if match["more"] else 3)
    return any(
        scale in one.folded
        or any(
            Decimal(10) ** low <= abs(value) < Decimal(10) ** high
            for number in one.numbers
            if not (number.year or number.kind)
            for value, _ in number.plain[:1]
        )
        for one in sources
    )


def _has_day(day: str, sources: Iterable[Material]) -> bool:
    """Return whether a source has a weekday, or a date on this weekday."""
    place = _DAYS.index(day)
    for one in sources:
        if day[:3] in one.folded and one.has_word(day):
            return True
        for known in one.dates:
            for year, month, number in known.readings:
                if year and month and number:
                    with suppress(ValueError):
                        if date(year, month, number).weekday() == place:
                            return True
    return False
