"""Text laid out for a terminal: wrapped, labeled, as items. Pure."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pgs_neo4j.text.shown import one_line

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_WORD = re.compile(r"\S+|\n|[^\S\n]+")
_BULLET = re.compile(r"(?:[-*+]|\d{1,3}[.)])$")
_COMMAND = re.compile(r"'pgs [^'\n]*'")
_HELD = "\x00"  # stands for a space at which no line ends
_BREAK = "\x0b"  # the second column of a wide letter, where a line may end
_SECOND = "\x01"  # the second column of a wide letter, where no line ends
_BLANKS = str.maketrans(dict.fromkeys("\t\n\x0b\x0c\r", " ") | {_SECOND: ""})
LABEL = 10  # columns of the labels on the left
LONGEST_ITEM = 3  # lines


def size(size_bytes: float) -> str:
    """Return bytes in kB or MB; a kB is 10^3.

    ``0 kB``, ``5.3 kB``, ``45.2 MB``, ``155 MB``.
    """
    if size_bytes < 1e5:
        return f"{size_bytes / 1e3:,.1f} kB" if size_bytes else "0 kB"
    return f"{size_bytes / 1e6:,.1f} MB" if size_bytes < 1e8 else f"{size_bytes / 1e6:,.0f} MB"


def moment(at: str) -> str:
    """Return an ISO 8601 time in UTC as ``2026-01-02 03:04``."""
    return at[:16].replace("T", " ")


def columns(text: str) -> int:
    """Return the columns that a text takes on a terminal, without its style."""
    text = _STYLE.sub("", text)
    if text.isascii():
        return len(text)
    return sum(_columns_of(letter) for letter in text)


def fitted(text: str, room: int) -> str:
    """Return text on one safe line of at most ``room`` columns."""
    line = one_line(text)
    if columns(line) <= room:
        return line
    return f"{line[: reach(line, room - 1)]}…"  # the ellipsis takes a column


def reach(text: str, room: int) -> int:
    """Return how many letters from the first on fit into ``room`` columns."""
    for kept, letter in enumerate(text):
        room -= _columns_of(letter)
        if room < 0:
            return kept
    return len(text)


def filled(text: str, width: int, **options: Any) -> list[str]:
    """Wrap a text by the columns that its letters take; ``options`` are those of textwrap.

    Scripts without blanks have wide letters, and a line may end after each of them.
    """
    if text.isascii():
        return textwrap.wrap(text, width, **options)
    # textwrap counts characters, so each wide letter gets one for its second column. That of the
    # last letter of a line falls off with the blanks, so the line is shorter by a column.
    spread = "".join(_spread(text.translate(_BLANKS)))
    room = width - (_BREAK in spread or _SECOND in spread)
    lines = textwrap.wrap(spread, room, replace_whitespace=False, expand_tabs=False, **options)
    return [line.replace(_BREAK, "").replace(_SECOND, "") for line in lines]


def _spread(text: str) -> Iterator[str]:
    """Yield the letters, wide ones with a character for their second column."""
    for letter, following in pairwise(f"{text} "):
        yield letter
        if _columns_of(letter) > 1:
            # A line never begins with punctuation or the accent of the letter before.
            attached = unicodedata.category(following) in ("Mn", "Pe", "Pf", "Po")
            yield _SECOND if attached or following == " " else _BREAK


def _columns_of(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def labeled(label: str, text: str, width: int, column: int = LABEL) -> list[str]:
    """Return a label and the text beside it, wrapped from ``column`` on.

    A command in quotes stays on one line, since a shell would run each line of it by itself.
    """
    body = filled(
        _COMMAND.sub(lambda found: found[0].replace(" ", _HELD), text),
        max(30, width - column),
        break_on_hyphens=False,
        break_long_words=False,
    ) or [""]
    first, *rest = (line.replace(_HELD, " ") for line in body)
    room = " " * max(column - 1 - columns(label), 0)
    return [f"{label}{room} {first}", *(f"{'':<{column}}{line}" for line in rest)]


def labeled_rows(rows: Iterable[tuple[str, str]], width: int, column: int = LABEL) -> list[str]:
    """Return labels with the texts beside them, without the labels that have no text."""
    return [line for label, text in rows if text for line in labeled(label, text, width, column)]


def item(text: str, width: int) -> list[str]:
    """Return a bullet, wrapped, and cut after LONGEST_ITEM lines."""
    return filled(
        text,
        max(30, width),
        initial_indent="  - ",
        subsequent_indent="    ",
        max_lines=LONGEST_ITEM,
        placeholder=" …",
        break_on_hyphens=False,
        break_long_words=False,
    )


def wrapped(text: str, width: int | None) -> str:
    """Wrap a text as its stream would be.

    ``width`` None leaves it unchanged.
    """
    wrapper = Wrapper(width)
    return wrapper.feed(text) + wrapper.close()


@dataclass(slots=True)
class Wrapper:
    """Wraps streamed text at word ends, once a word is complete.

    Lines that begin as a bullet continue under its text. ``width`` None leaves text as it is.
    """

    width: int | None
    _held: str = ""
    _gap: str = ""
    _column: int = 0
    _indent: int = 0
    _begun: bool = False

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
            self._gap, self._column, self._indent, self._begun = "", 0, 0, False
            return piece
        if piece.isspace():
            self._gap = piece
            return ""
        gap, self._gap = self._gap, ""
        reached = self._column + len(gap) + columns(piece)
        if self._begun and self.width is not None and reached > self.width:
            self._column = self._indent + columns(piece)
            return "\n" + " " * self._indent + piece
        if not self._begun:
            self._begun = True
            self._indent = len(gap) + (len(piece) + 1 if _BULLET.match(piece) else 0)
        self._column = reached
        return gap + piece
