"""Finds numbers in other forms than plain digits: fractions, factors, times of day, and ratios.

A fraction is read as a share in percent, with the roundings in which a text may state it. Words
such as "half" and "third" count only if they say how much of something, not which of several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple
from unicodedata import numeric

CLOCK, RATIO, TIMES = "clock", "ratio", "times"
"""Kinds of numbers: minutes after midnight, a quotient, and the factor of a growth."""

HALF_DAY = 12 * 60  # minutes
_PARTS = {
    **{"third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7},
    **{"eighth": 8, "ninth": 9, "tenth": 10},
}
_TOPS = {
    word: number
    for number, words in enumerate(
        ("a an one", *["two", "three", "four", "five", "six", "seven", "eight", "nine"]), 1
    )
    for word in words.split()
}
_FRACTION = re.compile(
    rf"(?<![\w-])(?P<top>{'|'.join(_TOPS)})(?P<dash>[\s-])(?P<part>{'|'.join(_PARTS)})(?P<s>s?)"
    r"(?![\w-])",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(
    r"\s+(?:of|as|more|less|fewer|larger|smaller|higher|lower|longer|shorter|cheaper|faster)\b",
    re.IGNORECASE,
)
_PRECEDES = re.compile(
    r"\b(?:by|than|over|under|nearly|about|almost|roughly|around|only|just|exactly)\s\Z",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"(?<![\w-])(?:one[\s-])?half(?=\s(?:of|the|its|their|his|her|our|all|as)\b)"
    r"|(?<=\bby\s)(?:one[\s-])?half\b(?!\s(?:an?|past)\b)|(?<=\bin\s)half\b",
    re.IGNORECASE,
)
_WHICH = re.compile(  # a word before "half" that says which half is meant, not how much
    r"\b(?:first|second|other|latter|former|better|upper|lower|northern|southern|eastern|western"
    r"|left|right|top|bottom|this|that|each|either|same|last|next|back|front|outer|inner)\s\Z",
    re.IGNORECASE,
)
_QUOTIENT = re.compile(r"(?<![\d/.,\w])(\d{1,2})/(\d{1,3})(?=\s+of\b)")
_VULGAR = re.compile(r"(?<![\d\w])[¼-¾⅐-⅞](?=\s+(?:of|the|its|their)\b)")
_FACTORS: dict[str, int | Decimal] = {
    **{"doubled": 2, "tripled": 3, "trebled": 3, "quadrupled": 4, "quintupled": 5},
    "halved": Decimal("0.5"),
}
_FACTOR_FORMS = {
    Decimal(2): "doubl|twice|two-?fold|2-?fold",
    Decimal(3): "tripl|trebl|three-?fold|3-?fold|thrice",
    Decimal(4): "quadrupl|four-?fold|4-?fold|four times",
    Decimal(5): "quintupl|five-?fold|5-?fold|five times",
    Decimal("0.5"): "halv|by half|in half",
}
_COUNTS = {"ten": 10, "twelve": 12, "twenty": 20, "fifty": 50, "hundred": 100, "thousand": 1000}
_FOLDS = {
    word: value
    for word, value in {**_TOPS, **_COUNTS}.items()
    if word not in {"a", "an", "one", "two", "three"}
}
_FACTOR = re.compile(
    rf"\b(?:(?P<verb>{'|'.join(_FACTORS)})\b"
    rf"|(?P<count>\d{{1,6}}(?:\.\d+)?|{'|'.join(_FOLDS)})[\s-]?fold\b)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\d:.,/\-\w])(?P<hour>[01]?\d|2[0-4])"
    r"(?::(?P<minute>[0-5]\d)(?![\d:])(?:\s?(?P<half>[ap])\.?m\b\.?|\sUhr\b)?"
    r"|\s?(?P<half2>[ap])\.?m\b\.?|(?:\.(?P<minute2>[0-5]\d))?\sUhr\b)",
    re.IGNORECASE,
)
_RATIO = re.compile(
    r"(?<![\d:.,/\-\w])(\d{1,4})(?::| : )(\d{1,4})(?![\d:.,]?\d)"
    r"|(?<=ratio of )(\d{1,4}) to (\d{1,4})\b|(?<=ratio is )(\d{1,4}) to (\d{1,4})\b"
)
_HALF_OF_DAY = re.compile(r"\d\s?[apAP]\.?[mM]")


class Amount(NamedTuple):
    """A number at its place in a text; ``readings`` are the ways to read it, each with its step."""

    start: int
    end: int
    kind: str
    readings: tuple[tuple[Decimal, Decimal], ...]


def find_amounts(text: str) -> Iterator[Amount]:
    """Yield the fractions, times of day, and ratios of a text; some may overlap."""
    if ":" in text or "Uhr" in text or _HALF_OF_DAY.search(text):
        for match in _CLOCK.finditer(text):
            yield Amount(match.start(), match.end(), CLOCK, _read_minutes(match))
    if ":" in text or "ratio" in text:
        for match in _RATIO.finditer(text):
            one, other = (Decimal(group) for group in match.groups() if group)
            if other:
                yield Amount(match.start(), match.end(), RATIO, ((one / other, Decimal(0)),))
    yield from _find_fractions(text)


def find_factors(text: str) -> Iterator[Amount]:
    """Yield the factors in a text by which something grew or shrank."""
    if not any(part in text for part in ("fold", "bled", "pled", "halved")):
        return
    for match in _FACTOR.finditer(text):
        word = (match["verb"] or match["count"]).casefold()
        value = Decimal(_FACTORS.get(word) or _FOLDS.get(word) or word)
        yield Amount(match.start(), match.end(), TIMES, ((value, Decimal("0.2")),))


def states_factor(value: Decimal, text: str) -> bool:
    """Return whether a text, in lower case, states a factor in words or digits."""
    words = [word for word, number in _FOLDS.items() if number == value]
    forms = [*words, f"{value.normalize():f}"]
    pattern = "|".join(rf"\b{re.escape(one)}(?:[\s-]?fold| times|x\b)" for one in forms)
    own = _FACTOR_FORMS.get(value)
    return re.search(f"{pattern}|{own}" if own else pattern, text) is not None


def _read_minutes(match: re.Match[str]) -> tuple[tuple[Decimal, Decimal], ...]:
    """Return a time of day in minutes after midnight; without am or pm, both halves count."""
    minute = int(match["minute"] or match["minute2"] or 0)
    half = (match["half"] or match["half2"] or "").casefold()
    hour = int(match["hour"])
    at = hour % 12 * 60 + minute if half else hour * 60 + minute
    times = [at + HALF_DAY] if half == "p" else [at]
    if not half and 0 < hour <= 12:  # the text does not say which half of the day is meant
        times.append((at + HALF_DAY) % (2 * HALF_DAY))
    return tuple((Decimal(one), Decimal(0)) for one in times)


def _find_fractions(text: str) -> Iterator[Amount]:
    """Yield the fractions in digits, signs, and words, as shares in percent."""
    if "/" in text:
        for match in _QUOTIENT.finditer(text):
            one, other = int(match[1]), int(match[2])
            if 0 < one < other:
                yield Amount(match.start(), match.end(), "%", share(Decimal(one) / other))
    if not text.isascii():
        for match in _VULGAR.finditer(text):
            yield Amount(*match.span(), "%", share(Decimal(str(numeric(match.group())))))
    lowered = text.lower()
    if not any(part in lowered for part in ("half", *_PARTS)):
        return
    for match in _HALF.finditer(text):
        if not _WHICH.search(text, max(0, match.start() - 12), match.start()):
            yield Amount(match.start(), match.end(), "%", share(Decimal("0.5")))
    for match in _FRACTION.finditer(text):
        if _is_share(match, text):
            top, part = _TOPS[match["top"].casefold()], _PARTS[match["part"].casefold()]
            if top < part:
                yield Amount(match.start(), match.end(), "%", share(Decimal(top) / part))


def _is_share(match: re.Match[str], text: str) -> bool:
    """Return whether words such as "a third" mean a share, not one of three things."""
    several = _TOPS[match["top"].casefold()] > 1
    if several != bool(match["s"]):
        return False
    if several and (match["part"].casefold() != "quarter" or match["dash"] == "-"):
        return True
    before = text[max(0, match.start() - 12) : match.start()]
    return bool(_FOLLOWS.match(text, match.end()) or (not several and _PRECEDES.search(before)))


def share(value: Decimal) -> tuple[tuple[Decimal, Decimal], ...]:
    """Return a share in percent, exact and rounded, each with a step of 1."""
    exact = 100 * value
    rounded = dict.fromkeys((exact, round(exact, 1), Decimal(round(exact)), Decimal(int(exact))))
    return tuple((one, Decimal(1)) for one in rounded)
