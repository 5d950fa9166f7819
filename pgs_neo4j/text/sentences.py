"""Splits a text into sentences, each with its place; together they are the text.

First, each line is classified as prose, a heading, a row, or code, as in Markdown,
reStructuredText, and docstrings. Then paragraphs are divided where sentences begin, and anything
too long for a sentence is cut. Nothing is removed. Reading takes time in proportion to the text,
since only the beginning of a long line decides its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from pgs_neo4j.model.documents import Sentence, SentenceKind

LineKind = Literal["blank", "prose", "opener", "heading", "row", "code", "rule"]
"""``opener`` is prose that begins a list item, a field, or a quotation."""

CODE_BLOCK = 800
"""Maximum number of characters of code in one sentence; a blank line also ends it."""

_UNDERLINES = {"=": 1, "-": 2, "~": 3, "^": 4, '"': 4, "'": 4, "*": 1, "+": 3, "#": 1}
_GRID = ("+-", "+=")  # how a line between rows of a grid table begins; a row may have several lines

LONGEST_HEADING = 100
LOOK = 2000  # number of characters at the beginning of a line that decide its kind
TABS = 2  # minimum number of tabs of a line that is a row of a table
HEADING = re.compile(r"\s*(#{1,6})\s")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)]|>)\s")
_FIELD = re.compile(r"[@:]\w+[^:]{0,60}:\s*")
_ENTRY = re.compile(r"[*`]{0,2}\w[\w*.]{0,40}(?:\(\))?[*`]{0,2}\s+-{1,2}\s")
_PROMPT = re.compile(r">>>|\.\.\.(?:\s|$)|\$ |In \[\d+\]|Traceback \(")
_STATEMENTS = ("def ", "class ", "import ", "return ", "raise ", "print(")
_FROM = re.compile(r"from \w[\w.]* import ")
_ASSIGNMENT = re.compile(r"\s*[\w.\[\]'\", ]{1,60} = \S")
_CALL = re.compile(r"[\w.]+\([^)]*\)")
_TAG = re.compile(r"<[/\w][^>]*>")
_WORD = re.compile(r"[^\W_]")
_FEEDS = re.compile(r"\n+")
_FENCES = ("```", "~~~")

LONGEST = 1200
"""Maximum characters of a sentence. Anything longer is a table, a dump, or data, and is cut."""

_CLOSING = "\"'\u2019\u201d»)\\]*_`"
_OPENING = "\"'\u201c\u2018«(\\[*_`¿¡"

# Stops of Arabic, Devanagari, Armenian, Ethiopic, and Khmer come before blanks, as in English.
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
_MARKER = re.compile(r"\s{0,80}\d{1,3}[.)]\s")  # the mark of a numbered item
_BREAKS = (re.compile(r"\n(?=\S)"), re.compile(r"\s(?=\S)"))
_TRIED = 128  # maximum number of places that are compared for a cut
_AHEAD = 16  # characters after a place that decide whether a cut is made there

_Start = tuple[int, SentenceKind, bool, int]
"""The place where a sentence begins, its kind, whether it opens a block, and its level."""


class Line(NamedTuple):
    """A stretch ``text[start:end]`` with its line feed; ``level`` is the level of a heading."""

    start: int
    end: int
    kind: LineKind
    level: int = 0


def split_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text in order, without gap or overlap.

    Blank lines belong to the sentence before them. Only ``\\n`` is a line break.
    """
    starts = _find_starts(text)
    first = next(starts, None)
    if first is None:
        if text:
            yield Sentence(0, len(text), "rule")
        return
    begin, kind, opens, level = 0, *first[1:]
    for start in starts:
        yield Sentence(begin, start[0], kind, opens, level)
        begin, kind, opens, level = start
    yield Sentence(begin, len(text), kind, opens, level)


def _find_starts(text: str) -> Iterator[_Start]:
    """Yield the start of each sentence of a text."""
    paragraph: list[Line] = []
    block = 0
    grid = False
    for before, line in _join_titles(text):
        if line.kind == "prose" and paragraph:
            paragraph.append(line)
            continue
        yield from _find_paragraph_starts(text, paragraph)
        paragraph = []
        if line.kind in ("prose", "opener"):
            paragraph = [line]
        elif line.kind == "code":
            if before != "code" or line.end - block > CODE_BLOCK:
                block = line.start
                yield from _find_long_starts(text, line, "code")
        elif line.kind == "row":
            if before != "row" or not grid or line.end - block > CODE_BLOCK:
                block = line.start
                yield from _find_long_starts(text, line, "row")
        elif line.kind in ("heading", "rule"):
            grid = text[line.start : line.start + LOOK].lstrip().startswith(_GRID)
            yield line.start, "rule" if line.kind == "rule" else "heading", True, line.level
    yield from _find_paragraph_starts(text, paragraph)


def _find_paragraph_starts(text: str, lines: list[Line]) -> Iterator[_Start]:
    if lines:
        opens = True
        for start, long in sentence_starts(text, lines[0].start, lines[-1].end):
            yield start, "data" if long else "prose", opens, 0
            opens = False


def _find_long_starts(text: str, line: Line, kind: SentenceKind) -> Iterator[_Start]:
    opens = True
    for start, _ in cut_long(text, line.start, line.end):
        yield start, kind, opens, 0
        opens = False


def _join_titles(text: str) -> Iterator[tuple[LineKind, Line]]:
    """Yield each line with the kind of the line before it.

    A title and its underline become one line.
    """
    before: LineKind = "blank"
    waiting: Line | None = None
    for line in read_lines(text):
        if waiting is not None:
            level = _find_underline_level(text, waiting, line) if before in ("blank", "rule") else 0
            if level:
                yield before, Line(waiting.start, line.end, "heading", level)
                before, waiting = "heading", None
                continue
            yield before, waiting
            before = waiting.kind
        waiting = line
    if waiting is not None:
        yield before, waiting


def _find_underline_level(text: str, title: Line, rule: Line) -> int:
    """Return the level of a title by the rule below it, or 0 if it is not an underlined title."""
    if title.kind != "prose" or rule.kind != "rule" or title.end - title.start > LONGEST_HEADING:
        return 0
    words, line = text[title.start : title.end].strip(), text[rule.start : rule.end].strip()
    mark = line[0]
    if len(set(line)) > 1 or len(line) < 3 or (mark not in "=-" and len(line) < len(words) - 1):
        return 0
    return _UNDERLINES.get(mark, 0)


@dataclass(slots=True)
class _State:
    """The code that earlier lines opened: a fence, a literal block, or a session."""

    fence: str = ""
    literal: int | None = None  # the lines of a literal block have a larger indent than this
    session: bool = False

    def holds_code(self, line: str, stripped: str) -> bool:
        """Return whether a nonblank line is code. Updates the state if it opens or ends a block."""
        if self.fence:
            if stripped.startswith(self.fence):
                self.fence = ""
            return True
        if stripped.startswith(_FENCES):
            self.fence = stripped[:3]
            return True
        if self.session:
            return True
        if self.literal is not None and indent_of(line) > self.literal:
            return True
        self.literal = None
        self.session = _PROMPT.match(stripped) is not None
        return self.session


def read_lines(text: str) -> Iterator[Line]:
    """Yield the lines of a text in order; together they are the text."""
    state = _State()
    start = 0
    size = len(text)
    while start < size:
        if text[start] == "\n":
            end = _FEEDS.match(text, start).end()  # type: ignore[union-attr]
            state.session = False
            yield Line(start, end, "blank")
        else:
            end = text.find("\n", start) + 1 or size
            yield _classify_line(text[start : min(end, start + LOOK)], start, end, state)
        start = end


def indent_of(line: str) -> int:
    """Return the number of columns before the first word of a line."""
    begin = line[: len(line) - len(line.lstrip())]
    return len(begin.expandtabs())


def _classify_line(line: str, start: int, end: int, state: _State) -> Line:
    """Return a line with its kind; ``line`` is its beginning, at most ``LOOK`` characters."""
    stripped = line.strip()
    if not stripped and end - start <= LOOK:
        state.session = False
        return Line(start, end, "blank")
    if state.holds_code(line, stripped):
        return Line(start, end, "code")
    if end - start >= LOOK:
        return Line(start, end, "row" if _is_row(stripped) else "prose")
    if not stripped[0].isalnum() and not _WORD.search(stripped):
        return Line(start, end, "rule")
    if _is_code(line, stripped):
        return Line(start, end, "code")
    heading = HEADING.match(line) if stripped[0] == "#" else None
    if heading and len(line.rstrip()) <= LONGEST_HEADING:
        return Line(start, end, "heading", len(heading[1]))
    if stripped.endswith("::"):
        state.literal = indent_of(line)
    if _is_row(stripped):
        return Line(start, end, "row")
    return Line(start, end, "opener" if _is_opener(stripped) else "prose")


def _is_code(line: str, stripped: str) -> bool:
    last = stripped[-1]
    if last in "{};" or stripped.startswith(_STATEMENTS) or _FROM.match(stripped):
        return True
    if last == ")" and _CALL.fullmatch(stripped):
        return True
    if last == ">" and _TAG.fullmatch(stripped):
        return True
    return " = " in line and _ASSIGNMENT.match(line) is not None


def _is_row(stripped: str) -> bool:
    return stripped[:1] == "|" or stripped.count("\t") >= TABS


def _is_opener(stripped: str) -> bool:
    first = stripped[0]
    if first in "-*+•>" or first.isdigit():
        return _BULLET.match(stripped) is not None or _ENTRY.match(stripped) is not None
    if first in "@:":
        return _FIELD.match(stripped) is not None
    return " -" in stripped[:60] and _ENTRY.match(stripped) is not None


def sentence_starts(text: str, start: int, end: int) -> Iterator[tuple[int, bool]]:
    """Yield the places where sentences of the paragraph ``text[start:end]`` begin.

    Each place comes with True if it begins a part of something too long for a sentence.
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

    A cut is made before a line if possible, or else before a word. The choice depends only on the
    text after each place, so an insertion moves few cuts.
    """
    long = end - start > LONGEST
    yield start, long
    while end - start > LONGEST:
        start = _choose_cut(text, start + LONGEST // 3, start + LONGEST)
        yield start, long


def _choose_cut(text: str, low: int, high: int) -> int:
    """Return a place to cut from ``low`` to ``high``: before a line, a word, or any character."""
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
