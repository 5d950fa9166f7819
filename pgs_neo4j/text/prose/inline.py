"""Reads a line of prose: words, code, bold, and citations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from pgs_neo4j.text.mentions import Cited, pieces

LONGEST_QUOTE = 600  # characters; a lone mark in a long text quotes nothing

_MARKS = re.compile(r'`+|\*+|“|"')
_OPENS = "([{\"'“\u2018«/:-\u2010\u2013\u2014"  # may stand right before bold words and quotations


@dataclass(frozen=True, slots=True)
class Words:
    """Text to show as it is."""

    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """Text between backticks."""

    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Cites:
    """A group of aliases with its brackets."""

    group: tuple[Cited, ...]
    bold: bool = False


Inline = Words | Code | Cites


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place between two stretches: from here on it is bold, code, or neither."""

    start: int
    end: int
    code: bool
    bold: bool


def read_inline(text: str, partition: int = 0, *, quoted: bool = False) -> list[Inline]:
    """Split a line into its parts, without the marks of Markdown.

    Aliases without a partition belong to ``partition``. All of a ``quoted`` text is from the graph,
    so it has citations and no marks.
    """
    parts: list[Inline] = []
    begin, code, bold = 0, False, False
    marks = [] if quoted else _marks(text)
    for mark in (*marks, _Mark(len(text), len(text), False, False)):
        for piece in pieces(text[begin : mark.start], partition):
            if not isinstance(piece, str):
                parts.append(Cites(piece, bold))
            elif code and piece.strip():
                parts.append(Code(piece, bold))
            elif not code:
                parts.append(Words(piece, bold))
        begin, code, bold = mark.end, mark.code, mark.bold
    return parts


def _marks(text: str) -> list[_Mark]:
    """Return the marks that have a meaning, in order."""
    if not _MARKS.search(text):
        return []
    spans, stars = _spans_and_stars(text)
    bold = list(_bold(text, stars))
    edges: list[tuple[int, int, str]] = [(start, end, "code") for start, end in spans]
    edges += [(start, start + 2, "on" if even else "off") for start, even in bold]
    marks: list[_Mark] = []
    is_bold = False
    for start, end, kind in sorted(edges):
        if kind == "code":
            ticks = len(text[start:end]) - len(text[start:end].lstrip("`"))
            marks.append(_Mark(start, start + ticks, True, is_bold))
            marks.append(_Mark(end - ticks, end, False, is_bold))
        else:
            is_bold = kind == "on"
            marks.append(_Mark(start, end, False, is_bold))
    return marks


def _spans_and_stars(text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """Return code spans, and the places of ``**`` outside of code and quotations."""
    runs = list(_MARKS.finditer(text))
    ticks: dict[int, list[int]] = defaultdict(list)
    for run in runs:
        if run[0][0] == "`":
            ticks[len(run[0])].append(run.start())
    spans: list[tuple[int, int]] = []
    stars: list[int] = []
    done = 0
    for run in runs:
        start, mark = run.start(), run[0]
        if start < done:
            continue
        if mark[0] == "`":
            places = ticks[len(mark)]
            after = bisect_right(places, start)
            if after < len(places):
                done = places[after] + len(mark)
                spans.append((start, done))
        elif mark == "**":
            stars.append(start)
        elif mark[0] != "*":
            done = _quotation_end(text, start)
    return spans, stars


def _quotation_end(text: str, start: int) -> int:
    """Return the end of the quotation that starts here, else the end of its mark."""
    closing = "”" if text[start] == "“" else '"'
    end = text.find(closing, start + 1, start + LONGEST_QUOTE) + 1
    if not end or (closing == '"' and not (_opens(text, start, start + 1) and _closes(text, end))):
        return start + 1
    return end


def _bold(text: str, stars: list[int]) -> Iterator[tuple[int, bool]]:
    """Yield the marks of bold text in pairs, with true for the first of each."""
    opened: int | None = None
    for start in stars:
        ends = opened is not None and start > opened + 2 and not text[start - 1].isspace()
        if ends and opened is not None and _closes(text, start + 2):
            yield opened, True
            yield start, False
            opened = None
        elif _opens(text, start, start + 2):
            opened = start


def _opens(text: str, start: int, end: int) -> bool:
    """Whether a mark stands at the beginning of a word."""
    before = text[start - 1] if start else " "
    return (before.isspace() or before in _OPENS) and end < len(text) and not text[end].isspace()


def _closes(text: str, end: int) -> bool:
    """Whether a mark that ends here stands at the end of a word."""
    return end >= len(text) or not (text[end].isalnum() or text[end] == "_")
