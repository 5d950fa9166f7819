"""Recognizes the content of a string: a link, a date, a code, or prose, for example. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Literal

Shape = Literal["blank", "link", "moment", "number", "code", "amount", "word", "phrase", "prose"]

PROSE_WORDS = 4  # minimum consecutive words that count as prose
# Minimum share of words among the pieces of prose. Addresses and product codes have fewer.
MIN_WORDS = 0.6

_BLANK = frozenset(
    {"null", "none", "nan", "nil", "n/a", "na", "-", "--", "?", "unknown", "undefined"}
)
_LINK = re.compile(
    r"(?i)(?:[a-z][a-z0-9+.-]{1,20}://|www\.|mailto:|data:)\S*|[^\s@]+@[^\s@]+\.[a-z]{2,}"
    r"|/?(?:[\w.~%-]+/)*[\w~%-][\w.~%-]*\.(?:jpe?g|png|gif|svg|webp|bmp|tiff?|pdf|html?|mp[34]|zip)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_MOMENT = re.compile(
    r"(?i)\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[T ]\S+)?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?: \S+)?"
    rf"|{_DAY}[- ]{_MONTH}[- ,]+\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}}|{_MONTH} \d{{4}}"
    r"|\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?"
)
# Numbers, sums of money, and telephone numbers.
_NUMBER = re.compile(
    r"[+-]?[$€£¥]?\s?[\d(][\d\s.,:()/+%-]*(?:e[+-]?\d+)?\s?[%$€£¥]?", re.IGNORECASE
)
# "24 - 12 oz bottles", "10 boxes x 20 bags", "1 kg pkg."
_UNIT = (
    r"(?:oz|kg|g|mg|lb|lbs|ml|l|cl|cm|mm|m|km|in|ft|pcs?|pieces?|pkgs?|packs?|packages?|boxe?s?|bags?"
    r"|bottles?|cans?|jars?|tins?|cups?|glasses|loafs?|loaves|bars?|rolls?|sheets?|dozen|hours?|hrs?"
    r"|minutes?|mins?|seconds?|secs?|days?|weeks?|months?|years?|gb|mb|kb|tb|hz|khz|mhz|ghz|w|kw|v|px)"
)
_AMOUNT = re.compile(rf"(?i)\d[\d.,]*(?:\s*[-x*/]\s*\d[\d.,]*)*\s*{_UNIT}\b\.?(?: \S+){{0,3}}")
_HEX = re.compile(r"(?i)(?:0x)?[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DATA = re.compile(r"\s*[\[{]\s*[\"{\[]")


def shape_of(value: str) -> Shape:
    """Return the kind of content of one value.

    ``code`` is an identifier: one token that has digits, only capitals, or several joined parts.
    ``amount`` is a quantity with a unit. ``phrase`` has a few words, and ``prose`` at least four,
    or six letters of a script without spaces.
    """
    text = value.strip()
    if not text or text.casefold() in _BLANK:
        return "blank"
    for pattern, shape in _PATTERNS:
        if pattern.fullmatch(text):
            return shape
    if _DATA.match(text):
        return "code"
    if len(_UNSPACED.findall(text)) >= 6:
        return "prose"
    pieces = text.split()
    if len(pieces) == 1:
        return _classify_token(text)
    words = sum(map(_is_word, pieces))
    if len(pieces) >= PROSE_WORDS:
        return "prose" if words >= MIN_WORDS * len(pieces) else "phrase"
    return "phrase" if words else "code"


def count_shapes(values: Iterable[str]) -> tuple[tuple[Shape, int], ...]:
    """Return how many values have each shape, the most frequent first."""
    counts = Counter(map(shape_of, values))
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _is_word(piece: str) -> bool:
    return any(map(str.isalpha, piece)) and not any(map(str.isdigit, piece))


def _classify_token(text: str) -> Shape:
    letters = [sign for sign in text if sign.isalpha()]
    if not letters:
        return "code"
    if any(sign.isdigit() or sign == "_" for sign in text):
        return "code"
    capitals = all(sign.isupper() for sign in letters if sign.isascii())
    return "code" if capitals and text.isascii() and len(text) > 1 else "word"


_PATTERNS: tuple[tuple[re.Pattern[str], Shape], ...] = (
    (_LINK, "link"),
    (_MOMENT, "moment"),
    (_NUMBER, "number"),
    (_HEX, "code"),
    (_AMOUNT, "amount"),
)
