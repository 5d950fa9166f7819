"""Finds where sentences begin inside a paragraph, and cuts what is too long for one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

LONGEST = 1200
"""Characters of a sentence. More is a table, a dump, or a line of data, and it is cut."""

_CLOSING = "\"'\u2019\u201d»)\\]*_`"
_OPENING = "\"'\u201c\u2018«(\\[*_`¿¡"
# Stops of Arabic, Devanagari, Armenian, Ethiopic, and Khmer stand before blanks, as ours do.
_STOPS = ".!?…\u061f\u06d4\u0964\u0965\u0589\u1362\u17d4"
_WIDE_STOPS = "\u3002\uff01\uff1f\uff61"
_WIDE_CLOSING = "\u300d\u300f\uff09\u3011\u3009\u300b\u201d\u2019\"')"
_END = re.compile(
    rf"(?<=[{_STOPS}])[{_CLOSING}]{{0,4}}\s+(?=[{_OPENING}]{{0,3}}[^\W_a-z])"
    rf"|(?<=[{_WIDE_STOPS}])[{_WIDE_CLOSING}]{{0,3}}\s*(?=[^\s{_WIDE_STOPS}{_WIDE_CLOSING}])"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|fig|figs|eq|eqs|sec|no|nos|dr|mr|mrs|ms|prof|st|approx|resp"
    r"|ca|vol|ed|eds|pp|inc|ref|refs|jr|sr|co|corp|ltd|mt|gen|col|sgt|capt|lt|rev|hon|gov|sen|rep"
    r"|dept|univ|bros|viz|est)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_MARKER = re.compile(r"\s{0,80}\d{1,3}[.)]\s")  # of a numbered item
_BREAKS = (re.compile(r"\n(?=\S)"), re.compile(r"\s(?=\S)"))
_TRIED = 128  # places of a cut that are compared
_AHEAD = 16  # characters after a place that decide whether a cut is made there


def sentence_starts(text: str, start: int, end: int) -> Iterator[tuple[int, bool]]:
    """Yield where sentences of the paragraph ``text[start:end]`` begin.

    True marks the parts of something too long for a sentence.
    """
    begin = start
    marker = _MARKER.match(text, start, end)
    for match in _END.finditer(text, marker.end() if marker else start, end):
        if match.end() < end and not _is_abbreviated(text, begin, match.start()):
            yield from cut_long(text, begin, match.end())
            begin = match.end()
    yield from cut_long(text, begin, end)


def cut_long(text: str, start: int, end: int) -> Iterator[tuple[int, bool]]:
    """Yield ``start`` and the places at which ``text[start:end]`` is cut, if it is too long.

    A cut is made before a line if possible, else before a word. Which one follows from the words
    after it, so that an insertion moves few cuts.
    """
    long = end - start > LONGEST
    yield start, long
    while end - start > LONGEST:
        start = _cut(text, start + LONGEST // 3, start + LONGEST)
        yield start, long


def _cut(text: str, low: int, high: int) -> int:
    for pattern in _BREAKS:
        places = [match.end() for match in islice(pattern.finditer(text, low, high), _TRIED)]
        if places:
            return max(places, key=lambda place: text[place : place + _AHEAD])
    # No word ends here, so cut before the character that sorts last.
    highest = max(text[low:high])
    same = islice((place for place in range(low, high) if text[place] == highest), _TRIED)
    return max(same, key=lambda place: text[place : place + _AHEAD])


def _is_abbreviated(text: str, begin: int, stop: int) -> bool:
    return _ABBREVIATION.search(text[max(begin, stop - 12) : stop]) is not None
