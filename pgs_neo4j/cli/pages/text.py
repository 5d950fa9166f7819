"""Lay out text for a terminal: wrap it, label it, and draw it as list items. Pure."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pgs_neo4j.text.clauses import break_clauses
from pgs_neo4j.text.shown import one_line

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_WORD = re.compile(r"\S+|\n|[^\S\n]+")
_BULLET = re.compile(r"(?:[-*+]|\d{1,3}[.)])$")
_COMMAND = re.compile(r"'pgs [^'\n]*'")
_HELD = "\x00"  # replaces a space where a line must not end
_BREAK = "\x0b"  # the second column of a wide letter, where a line may end
_SECOND = "\x01"  # the second column of a wide letter, where no line ends
_BLANKS = str.maketrans(dict.fromkeys("\t\n\x0b\x0c\r", " ") | {_SECOND: ""})
LABEL = 10  # columns of the labels on the left
LONGEST_ITEM = 3  # lines


def size(size_bytes: float) -> str:
    """Return a number of bytes in kB or MB; 1 kB is 1,000 bytes.

    Examples: ``0 kB``, ``5.3 kB``, ``45.2 MB``, ``155 MB``.
    """
    if size_bytes < 1e5:
        return f"{size_bytes / 1e3:,.1f} kB" if size_bytes else "0 kB"
    return f"{size_bytes / 1e6:,.1f} MB" if size_bytes < 1e8 else f"{size_bytes / 1e6:,.0f} MB"


def moment(at: str) -> str:
    """Return an ISO 8601 time in UTC as ``2026-01-02 03:04``."""
    return at[:16].replace("T", " ")


def columns(text: str) -> int:
    """Return how many columns a text takes on a terminal, without its style sequences."""
    text = _STYLE.sub("", text)
    if text.isascii():
        return len(text)
    return sum(_columns_of(letter) for letter in text)


def fit_line(text: str, room: int) -> str:
    """Return text as one safe line of at most ``room`` columns, cut with an ellipsis."""
    line = one_line(text)
    if columns(line) <= room:
        return line
    return f"{line[: fitting_length(line, room - 1)]}…"  # the ellipsis takes a column


def fitting_length(text: str, room: int) -> int:
    """Return how many letters at the start of a text fit into ``room`` columns."""
    for kept, letter in enumerate(text):
        room -= _columns_of(letter)
        if room < 0:
            return kept
    return len(text)


def wrap_lines(text: str, width: int, **options: Any) -> list[str]:
    """Wrap a text by the terminal columns that its letters take, and return the lines.

    ``options`` are those of ``textwrap.wrap``. A line may end after any wide letter, because
    scripts with wide letters have no blanks.
    """
    if text.isascii():
        return textwrap.wrap(text, width, **options)
    # textwrap counts characters, so each wide letter gets a second character for its second column.
    # At the end of a line, textwrap strips that character as a blank, so the width is reduced by
    # one column.
    spread = "".join(_spread(text.translate(_BLANKS)))
    room = width - (_BREAK in spread or _SECOND in spread)
    lines = textwrap.wrap(spread, room, replace_whitespace=False, expand_tabs=False, **options)
    return [line.replace(_BREAK, "").replace(_SECOND, "") for line in lines]


def _spread(text: str) -> Iterator[str]:
    """Yield the letters, each wide one followed by a character for its second column."""
    for letter, following in pairwise(f"{text} "):
        yield letter
        if _columns_of(letter) > 1:
            # A line must not begin with closing punctuation or the accent of the letter before it.
            attached = unicodedata.category(following) in ("Mn", "Pe", "Pf", "Po")
            yield _SECOND if attached or following == " " else _BREAK


def _columns_of(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def labeled(label: str, text: str, width: int, column: int = LABEL) -> list[str]:
    """Return the lines of a label with a text beside it, which begins at ``column``.

    A quoted command stays on one line, since a shell would run each line of it separately.
    """
    body = wrap_lines(
        _COMMAND.sub(lambda found: found[0].replace(" ", _HELD), text),
        max(30, width - column),
        break_on_hyphens=False,
        break_long_words=False,
    ) or [""]
    first, *rest = (line.replace(_HELD, " ") for line in body)
    room = " " * max(column - 1 - columns(label), 0)
    return [f"{label}{room} {first}", *(f"{'':<{column}}{line}" for line in rest)]


def labeled_rows(rows: Iterable[tuple[str, str]], width: int, column: int = LABEL) -> list[str]:
    """Return the lines of labels with texts beside them; rows without text are left out."""
    return [line for label, text in rows if text for line in labeled(label, text, width, column)]


def statement_lines(statement: str, width: int, indent: str = "") -> list[str]:
    """Return a Cypher statement as lines, each clause on lines of its own."""
    return [
        f"{indent}{line}"
        for clause in break_clauses(statement).splitlines()
        for line in wrap_lines(one_line(clause), width - len(indent))
    ]


def item(text: str, width: int) -> list[str]:
    """Return a text as the lines of a list item, cut after LONGEST_ITEM lines."""
    return wrap_lines(
        text,
        max(30, width),
        initial_indent="  - ",
        subsequent_indent="    ",
        max_lines=LONGEST_ITEM,
        placeholder=" …",
        break_on_hyphens=False,
        break_long_words=False,
    )


def wrap_text(text: str, width: int | None) -> str:
    """Wrap a complete text exactly as Wrapper would wrap its stream.

    ``width`` None leaves it unchanged.
    """
    wrapper = Wrapper(width)
    return wrapper.feed(text) + wrapper.close()


@dataclass(slots=True)
class Wrapper:
    """Wraps streamed text between words, each as soon as it is complete.

    The wrapped lines of a list item align with its text. ``width`` None leaves text unchanged.
    """

    width: int | None
    _held: str = ""
    _gap: str = ""
    _column: int = 0
    _indent: int = 0
    _line_begun: bool = False

    def feed(self, text: str) -> str:
        """Return the text that can be written now."""
        if self.width is None:
            return text
        pieces = _WORD.findall(self._held + text)
        self._held = pieces.pop() if pieces and pieces[-1] != "\n" else ""
        return "".join(map(self._place, pieces))

    def close(self) -> str:
        """Return the text that was held back."""
        rest, self._held = self._held, ""
        return self._place(rest) if rest else ""

    def _place(self, piece: str) -> str:
        if piece == "\n":
            self._gap, self._column, self._indent, self._line_begun = "", 0, 0, False
            return piece
        if piece.isspace():
            self._gap = piece
            return ""
        gap, self._gap = self._gap, ""
        reached = self._column + len(gap) + columns(piece)
        if self._line_begun and self.width is not None and reached > self.width:
            self._column = self._indent + columns(piece)
            return "\n" + " " * self._indent + piece
        if not self._line_begun:
            self._line_begun = True
            self._indent = len(gap) + (len(piece) + 1 if _BULLET.match(piece) else 0)
        self._column = reached
        return gap + piece
