"""Keeps a model's headings one level below the headings of this package.

This package adds the list of sources and the coverage of the run below an answer. A model may also
write ``## Sources`` or ``## Coverage``, by mistake or because a text in the graph told it to.
Readers must not take this for the program's own count. So headings of levels 1 and 2 belong to this
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
"""Maximum number of characters of a line that may still become a title."""

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
_DRESS = "*_#`~=: \t"  # marks that may surround a title


def lowered(level: int) -> int:
    """Return the lowered level of a model's heading, from 3 to 6."""
    return min(max(level + 1, TOP), DEEPEST)


def lower_headings(text: str, titles: Iterable[str] = (), *, markdown: bool = True) -> str:
    """Return a model's whole text with its headings lowered; see ``LoweredText``."""
    lower = lowered_text(titles, markdown=markdown)
    return lower.feed(text) + lower.close()


def lowered_text(titles: Iterable[str], *, markdown: bool) -> LoweredText:
    """Return a filter that lowers the headings of a streamed text.

    ``titles`` are the headings this package puts around it.
    """
    return LoweredText(titles=frozenset(map(_strip_title, titles)), markdown=markdown)


@dataclass(slots=True)
class LoweredText:
    """Lowers headings of a text that arrives in pieces.

    Headings with ``#`` go down a level, even in lists and quotations. If a line would be underlined
    by the next one, an empty line divides them. A line that consists of a title, bold or not,
    becomes a heading. So does a line that looks like a row of figures: a title, a gap, and a text.
    Fenced code stays as it is; a fence that is open at the end is closed. Titles are in the form of
    ``_strip_title``.

    With ``markdown``, a program may render the text. Heading tags, and tags at the beginning of a
    line, which could swallow the lines after them, then get a blank that makes them plain text.
    Each line is passed on when it is complete. Without ``markdown``, text is passed on as soon as
    its line can no longer become a heading.
    """

    titles: frozenset[str] = frozenset()
    markdown: bool = True
    _held: str = ""
    _begun: bool = False  # part of the line has been passed on
    _fence: str = ""  # the fence that opened the code around this line
    _inner: tuple[int, str] | None = None  # the column and the mark of code in a list
    _open: bool = False  # the line above can be underlined

    def feed(self, text: str) -> str:
        """Add a piece of text; return the text that can be passed on now."""
        *lines, self._held = (self._held + text).split("\n")
        done = [f"{self._lower_line(line)}\n" for line in lines]
        quiet = not self._fence and self._inner is None and not self.markdown
        if quiet and self._held and (self._begun or not self._may_matter(self._held)):
            done.append(self._held)
            self._held, self._begun = "", True
        return "".join(done)

    def close(self) -> str:
        """End the text; return what was held back, and close an open fence."""
        rest, self._held = self._lower_line(self._held) if self._held else "", ""
        fence, self._fence = self._fence or self._leave_entry(), ""
        return f"{rest}\n{fence}" if fence and rest else f"{rest}{fence}"

    def _lower_line(self, line: str) -> str:
        """Return a line, or its rest, with a heading lowered."""
        if self._begun:
            self._begun, self._open = False, True
            return line
        if self._fence:
            closing = _CLOSING.fullmatch(line)
            if closing and closing[1].startswith(self._fence):
                self._fence = ""
            return line
        left = ""
        if self._inner is not None and line.strip() and _count_indent(line) < self._inner[0]:
            left = f"{self._leave_entry()}\n"
        if self._is_code_of_entry(line):
            return f"{left}{line}"
        above, self._open = self._open, bool(line.strip())
        fence = _FENCE.fullmatch(line)
        if fence and ("`" not in fence[2] or fence[1][0] == "~"):
            self._fence, self._open = fence[1], False
            return f"{left}{line}"
        return f"{left}{self._lower_text_line(line, above=above and not left)}"

    def _leave_entry(self) -> str:
        """Return the fence that closes an open code block in a list, or "" if none is open.

        An indented fence outside a list looks the same, so it is closed.
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

    def _lower_text_line(self, line: str, *, above: bool) -> str:
        """Return a line outside of code; a heading is lowered, and a title becomes a heading."""
        if heading := _HEADING.fullmatch(line):
            self._open = False
            return self._disarm_tags(f"{heading[1]}{'#' * lowered(len(heading[2]))}{heading[3]}")
        if above and (underline := _UNDERLINE.fullmatch(line)):
            self._open = False
            return f"{underline[1].rstrip()}\n{line}"
        title, *rest = _CELLS.split(line.strip(), maxsplit=1)
        if not _MARKED.match(line) and (
            _strip_title(title) in self.titles or self._has_counts(line)
        ):
            self._open = False
            return self._disarm_tags(f"{'#' * TOP} {' '.join((title.strip(_DRESS), *rest))}")
        return self._disarm_tags(line)

    def _has_counts(self, line: str) -> bool:
        """Return whether a line is a title of several words with figures after a colon."""
        title = _strip_title(line.partition(":")[0])
        return " " in title and title in self.titles

    def _may_matter(self, begin: str) -> bool:
        """Return whether the beginning of a line may still become a heading, a rule, or a fence."""
        bare = begin.strip()
        if not bare or bare[0] in "#`~=>•-+*" or bare[0].isdigit():
            return True
        if len(begin) > LONGEST_TITLE:
            return False
        first = _strip_title(_CELLS.split(bare, maxsplit=1)[0])
        return any(title.startswith(first) for title in self.titles) or self._has_counts(begin)

    def _disarm_tags(self, line: str) -> str:
        return _TAG.sub(lambda tag: f"{tag[0]} ", line) if self.markdown else line


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _strip_title(title: str) -> str:
    """Return a title without marks, in lower case, with compatible letters in one form."""
    text = unicodedata.normalize("NFKC", title).casefold()
    return " ".join(text.strip(_DRESS).split())
