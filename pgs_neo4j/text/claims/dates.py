"""Finds the dates of a text in any common form, and compares them as dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pgs_neo4j.text.claims.numbers import has_digits, plain_digits

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero gennaio jänner januari janeiro января stycznia",
            "february feb februar février fevrier febrero febbraio februari fevereiro "
            "февраля lutego",
            "march mar märz maerz mars marzo maart março marts марта marca",
            "april apr avril abril aprile апреля kwietnia",
            "may mai mayo maggio mei maio мая maj",
            "june jun juni juin junio giugno junho июня czerwca",
            "july jul juli juillet julio luglio julho июля lipca",
            "august aug août aout agosto augustus augusti августа sierpnia",
            "september sep sept septembre septiembre settembre setembro сентября września",
            "october oct oktober okt octobre octubre ottobre outubro октября października",
            "november nov novembre noviembre novembro ноября listopada",
            "december dec dezember dez décembre decembre diciembre dicembre dezembro "
            "декабря grudnia",
        ),
        1,
    )
    for name in names.split()
}
MONTH_NAMES = frozenset(_MONTHS)
"""Names of months in European languages, lower case."""

_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_SHORT_MONTH = _MONTH.replace(r"\b\.?", r"\b\.?,?")
_DAY = r"(?<![\w.,])(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.)?"
_YEAR = r"(?P<year>[12]\d{3})(?![\d%]|[.,]\d)"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<![\w.,-])(?P<year>[12]\d{3})(?P<sep>[-/.])(?P<number>[01]?\d)(?P=sep)"
        r"(?P<day>[0-3]?\d)(?![\d])(?!(?P=sep)\d)",
        r"(?<![\w.,-])(?P<year>[12]\d{3})-(?P<number>0[1-9]|1[0-2])(?![\d-])",
        r"(?<![\w.,/-])(?P<first>[0-3]?\d)(?P<sep>[-/.])(?P<second>[0-3]?\d)(?P=sep)"
        r"(?P<year>[12]\d{3})(?!\d)",
        r"(?P<year>[12]\d{3})\s?年\s?(?P<number>[01]?\d)\s?月(?:\s?(?P<day>[0-3]?\d)\s?日)?",
    )
)
_MONTH_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<![\w.,-])(?P<day>[0-3]?\d)[-/.]{_MONTH}[-/.]?{_YEAR}",
        rf"(?<![\w.,-]){_MONTH}[-/.](?P<day>[0-3]?\d)[-/.,]\s?{_YEAR}",
        rf"{_DAY}\s+{_SHORT_MONTH},?\s+['\u2019](?P<late>\d\d)(?!\d)",
        rf"(?<!\w){_SHORT_MONTH}\s+(?P<day>[0-3]?\d)(?:st|nd|rd|th)?,?\s+['\u2019](?P<late>\d\d)(?!\d)",
        rf"{_DAY}\s+(?:of\s+|de\s+)?{_MONTH},?(?:\s+(?:of\s+|de\s+)?{_YEAR})?",
        rf"(?<!\w){_MONTH}\s+(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?!\d)(?:,?\s+{_YEAR})?",
        rf"(?<!\w){_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}",
    )
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_DIVIDED = re.compile("\\d[-/.]\\d|年")
AROUND = 20  # characters on either side of a month that may contain its day and year

Reading = tuple[int | None, int | None, int | None]
"""A year, a month, and a day; each is None if the text does not state it."""


@dataclass(frozen=True, slots=True)
class Date:
    """A date as a text states it, with its place; ``readings`` are the ways to read it."""

    text: str
    readings: tuple[Reading, ...]
    start: int
    end: int


def find_dates(text: str) -> list[Date]:
    """Return the dates of a text in order. A year alone is a number."""
    plain = plain_digits(text)
    if not has_digits(plain):
        return []
    taken = bytearray(len(plain))
    found: list[Date] = []
    for match in _find_forms(plain):
        readings = tuple(one for one in _read_date(match.groupdict()) if _is_date(one))
        if readings and not any(taken[match.start() : match.end()]):
            taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
            found.append(Date(match.group().strip(), readings, match.start(), match.end()))
    return sorted(found, key=lambda date: date.start)


def _find_forms(text: str) -> Iterator[re.Match[str]]:
    """Yield stretches of the text that may be dates.

    Forms with the name of a month are slow to search, so they are only tried around such names.
    """
    if _DIVIDED.search(text):
        for form in _FORMS:
            yield from form.finditer(text)
    months = [word for word in _WORD.finditer(text) if word.group().casefold() in _MONTHS]
    for form in _MONTH_FORMS:
        for word in months:
            yield from form.finditer(text, max(0, word.start() - AROUND), word.end() + AROUND)


def same_date(claim: Date, source: Date) -> bool:
    """Return whether a source states the date of a claim, or a more precise form of it."""
    return any(
        all(own is None or own == other for own, other in zip(said, known, strict=True))
        for said in claim.readings
        for known in source.readings
    )


def _read_date(parts: dict[str, str | None]) -> list[Reading]:
    """Return the ways to read a date; 1/2/2003 may begin with its day or its month."""
    year = int(parts.get("year") or 0) or None
    if parts.get("late"):
        late = int(parts["late"] or 0)
        month = _MONTHS[(parts["month"] or "").casefold()]
        return [(hundred + late, month, int(parts["day"] or 0)) for hundred in (1900, 2000)]
    if parts.get("first"):
        one, other = int(parts["first"] or 0), int(parts["second"] or 0)
        return (
            [(year, other, one)]
            if parts["sep"] == "."
            else [(year, other, one), (year, one, other)]
        )
    if parts.get("month"):
        month = _MONTHS[(parts["month"] or "").casefold()]
    else:
        month = int(parts["number"] or 0)
    return [(year, month, int(parts["day"] or 0) if parts.get("day") else None)]


def _is_date(reading: Reading) -> bool:
    _, month, day = reading
    return (month is None or 1 <= month <= 12) and (day is None or 1 <= day <= 31)
