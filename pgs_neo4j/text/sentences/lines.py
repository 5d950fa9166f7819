"""Says of each line of a text what it is: prose, a heading, a row, or code.

The lines are those of Markdown, reStructuredText, and docstrings. Nothing is removed. Reading takes
time in proportion to the text, since only the beginning of a long line is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

LineKind = Literal["blank", "prose", "opener", "heading", "row", "code", "rule"]
"""``opener``: prose that begins a list item, a field, or a quotation."""

LONGEST_HEADING = 100
LOOK = 2000  # characters of a line that decide what it is
TABS = 2  # of a line that is a row of a table

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


class Line(NamedTuple):
    """A stretch ``text[start:end]`` with its line feed; ``level`` is that of a heading."""

    start: int
    end: int
    kind: LineKind
    level: int = 0


@dataclass(slots=True)
class _State:
    """What the lines before make of a line: a fence, a literal block, a session."""

    fence: str = ""
    literal: int | None = None  # the indent that a literal block exceeds
    session: bool = False

    def holds_code(self, line: str, stripped: str) -> bool:
        """Whether a line that is not blank belongs to code that has begun."""
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
            yield _line(text[start : min(end, start + LOOK)], start, end, state)
        start = end


def indent_of(line: str) -> int:
    """Return the columns before the first word of a line."""
    begin = line[: len(line) - len(line.lstrip())]
    return len(begin.expandtabs())


def _line(line: str, start: int, end: int, state: _State) -> Line:
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
    return Line(start, end, "opener" if _opens(stripped) else "prose")


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


def _opens(stripped: str) -> bool:
    first = stripped[0]
    if first in "-*+•>" or first.isdigit():
        return _BULLET.match(stripped) is not None or _ENTRY.match(stripped) is not None
    if first in "@:":
        return _FIELD.match(stripped) is not None
    return " -" in stripped[:60] and _ENTRY.match(stripped) is not None
