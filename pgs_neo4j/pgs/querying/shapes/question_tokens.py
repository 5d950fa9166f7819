"""Divides a question into words, numbers, quoted texts, and signs, each with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["word", "number", "quoted", "sign"]

LONGEST_QUESTION = 500
"""Characters. A longer question asks for more than one shape has."""

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?<!\w)(?:'(?P<single>[^\s'](?:[^']|'(?=\w))*)'(?!\w)|"(?P<double>[^"]+)"
      |\u201c(?P<curved>[^\u201c\u201d]+)\u201d|`(?P<ticked>[^`]+)`
      |\u2018(?P<high>[^\u2018\u2019]+)\u2019)
  | (?P<number>\$?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w/%\-]|[.,:]\d))
  | (?P<owner>['\u2019]s(?!\w))
  | (?P<word>\w(?:\w|[\-.&/](?=\w)|['\u2019](?!s(?!\w))(?=\w))*)
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_END = re.compile(r"[\s?!.]+\Z")
_QUOTES = ("single", "double", "curved", "ticked", "high")


@dataclass(frozen=True, slots=True)
class Word:
    """A part of a question: its text without quotes, in lower case, and its place in the question.

    ``value`` is the value of a number. ``start`` and ``end`` are places of characters.
    """

    kind: Kind
    text: str
    start: int
    end: int
    value: int | float | None = None

    @property
    def lower(self) -> str:
        """The text by which phrases find a word; empty for a quoted text, which no phrase has."""
        return "" if self.kind == "quoted" else self.text.lower().replace("\u2019", "'")

    @property
    def is_capital(self) -> bool:
        """Whether the word begins with a capital letter."""
        return self.text[:1].isupper()


def read_words(question: str) -> tuple[Word, ...]:
    """Return the words of a question in order, without the signs at its end."""
    text = _END.sub("", question)
    words: list[Word] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "space":
            continue
        start, end = match.span()
        if kind in _QUOTES:
            words.append(Word("quoted", match[kind].strip(), start, end))
        elif kind == "number":
            written = match[0].replace(",", "").removeprefix("$")
            value = float(written) if "." in written else int(written)
            words.append(Word("number", match[0], start, end, value))
        else:
            words.append(Word("word" if kind == "word" else "sign", match[0], start, end))
    return tuple(words)
