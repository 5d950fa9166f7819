"""Keeps the headings of a model one level below those of this package.

An answer stands above the list of its sources and the coverage of its run. A model that writes
``## Sources`` or ``## Coverage`` itself, because it errs or because a text of the graph told it to,
must not look like the program that counts them. So headings of levels 1 and 2 belong to this
package alone, and a line that consists of one of its titles becomes a heading of the model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

TOP, DEEPEST = 3, 6
"""Levels of the highest and the lowest heading of a model."""
LONGEST_TITLE = 80
"""Characters of a line that may still become a title."""

# Marks of quotations and entries of lists, in any depth.
_INSIDE = r"(?:[ \t]*(?:>|(?:[-*+•]|\d{1,9}[.)])(?=[ \t])))*[ \t]*"
_HEADING = re.compile(rf"({_INSIDE})(#{{1,6}})((?:[ \t].*)?)")
_FENCE = re.compile(r"(`{3,}|~{3,})(.*)")
_CLOSING = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_INNER_FENCE = re.compile(
    r"((?:[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t])*[ \t]*)(`{3,}(?=[^`]*$)|~{3,}).*"
)
_UNDERLINE = re.compile(r"([ \t>]*)(?:=+|-+)[ \t]*")
_MARKED = re.compile(r"[ \t]*(?:>|[-*+•][ \t]|\d{1,9}[.)][ \t])")
_CELLS = re.compile(r"\t| {2,}")
_TAG = re.compile(r"<(?=/?h[1-6](?![0-9a-z]))|^ {0,3}<(?=[!?]|/?[a-z](?![\w+.-]*:))", re.IGNORECASE)
_DRESS = "*_#`~=: \t"  # around a title


def lowered(level: int) -> int:
    """Return the level at which a model's heading stands, 3 to 6."""
    return min(max(level + 1, TOP), DEEPEST)


def lower_headings(text: str, titles: Iterable[str] = (), *, markdown: bool = True) -> str:
    """Return a whole text of a model with its headings one level below; see ``LoweredText``."""
    lower = lowered_text(titles, markdown=markdown)
    return lower.feed(text) + lower.close()


def lowered_text(titles: Iterable[str], *, markdown: bool) -> LoweredText:
    """Return a filter for a streamed text; ``titles`` are those of this package around it."""
    return LoweredText(titles=frozenset(map(_bare, titles)), markdown=markdown)


@dataclass(slots=True)
class LoweredText:
    """Lowers headings of a text that arrives in pieces.

    Headings by ``#`` lose a level, also those in lists and quotations. A line that the next one
    would underline gets an empty line below. A line that consists of a title, bold or not, becomes
    a heading. So does one that looks like a row of figures: a title, a gap, and a text. Fenced code
    stays as it is; a fence that is open at the end is closed. Titles are in the form of ``_bare``.

    With ``markdown``, a program may render the text. Tags of headings, and tags at the beginning of
    a line, which would take in what follows, then get a blank that makes them text, and lines are
    passed on when they are complete. Otherwise, text is passed on as soon as nothing can become of
    its line.
    """

    titles: frozenset[str] = frozenset()
    markdown: bool = True
    _held: str = ""
    _begun: bool = False  # part of the line has been passed on
    _fence: str = ""  # what opened the code around this line
    _inner: tuple[int, str] | None = None  # the column and the mark of code in a list
    _open: bool = False  # the line above can be underlined

    def feed(self, text: str) -> str:
        """Return what can be passed on now."""
        *lines, self._held = (self._held + text).split("\n")
        done = [f"{self._line(line)}\n" for line in lines]
        quiet = not self._fence and self._inner is None and not self.markdown
        if quiet and self._held and (self._begun or not self._may_matter(self._held)):
            done.append(self._held)
            self._held, self._begun = "", True
        return "".join(done)

    def close(self) -> str:
        """Return the text that was held back."""
        rest, self._held = self._line(self._held) if self._held else "", ""
        fence, self._fence = self._fence or self._leave_entry(), ""
        return f"{rest}\n{fence}" if fence and rest else f"{rest}{fence}"

    def _line(self, line: str) -> str:
        """Return the rest of a line."""
        if self._begun:
            self._begun, self._open = False, True
            return line
        if self._fence:
            closing = _CLOSING.fullmatch(line)
            if closing and closing[1].startswith(self._fence):
                self._fence = ""
            return line
        left = ""
        if self._inner is not None and line.strip() and _indent(line) < self._inner[0]:
            left = f"{self._leave_entry()}\n"
        if self._is_code_of_entry(line):
            return f"{left}{line}"
        above, self._open = self._open, bool(line.strip())
        fence = _FENCE.fullmatch(line)
        if fence and ("`" not in fence[2] or fence[1][0] == "~"):
            self._fence, self._open = fence[1], False
            return f"{left}{line}"
        return f"{left}{self._text_line(line, above=above and not left)}"

    def _leave_entry(self) -> str:
        """Return the fence that ends code in a list; empty outside of it.

        The same fence ends the code if there was no list, only a fence that was indented.
        """
        column, mark = self._inner or (0, "")
        self._inner = None
        return f"{' ' * column}{mark}"

    def _is_code_of_entry(self, line: str) -> bool:
        """Return whether a line is fenced code in a list."""
        if self._inner is not None:
            mark = self._inner[1]
            if line.strip().startswith(mark) and not line.strip().strip(mark[0]):
                self._inner = None
            return True
        inner = _INNER_FENCE.fullmatch(line)
        if inner and inner[1]:
            self._inner = len(inner[1]), inner[2]
        return bool(inner and inner[1])

    def _text_line(self, line: str, *, above: bool) -> str:
        if heading := _HEADING.fullmatch(line):
            self._open = False
            return self._inert(f"{heading[1]}{'#' * lowered(len(heading[2]))}{heading[3]}")
        if above and (underline := _UNDERLINE.fullmatch(line)):
            self._open = False
            return f"{underline[1].rstrip()}\n{line}"
        title, *rest = _CELLS.split(line.strip(), maxsplit=1)
        if not _MARKED.match(line) and (_bare(title) in self.titles or self._counts(line)):
            self._open = False
            return self._inert(f"{'#' * TOP} {' '.join((title.strip(_DRESS), *rest))}")
        return self._inert(line)

    def _counts(self, line: str) -> bool:
        """Return whether a line is a title of several words with figures after a colon."""
        title = _bare(line.partition(":")[0])
        return " " in title and title in self.titles

    def _may_matter(self, begin: str) -> bool:
        """Return whether the beginning of a line may become more than a line of text."""
        bare = begin.strip()
        if not bare or bare[0] in "#`~=>•-+*" or bare[0].isdigit():
            return True
        if len(begin) > LONGEST_TITLE:
            return False
        first = _bare(_CELLS.split(bare, maxsplit=1)[0])
        return any(title.startswith(first) for title in self.titles) or self._counts(begin)

    def _inert(self, line: str) -> str:
        return _TAG.sub(lambda tag: f"{tag[0]} ", line) if self.markdown else line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bare(title: str) -> str:
    """Return a title without marks, case, and forms of its letters."""
    text = unicodedata.normalize("NFKC", title).casefold()
    return " ".join(text.strip(_DRESS).split())
