"""Draw a model's Markdown for a terminal: marks become styles, citations become titles. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pgs_neo4j.text.citations import Place
from pgs_neo4j.text.prose import Cites, Code, Inline, read_inline
from pgs_neo4j.text.shown import plain

LONGEST = 2_000  # maximum characters to hold back until bold words, code, or a citation end
BOLD, CODE, CITED, END = "\x1b[1m", "\x1b[36m", "\x1b[34m", "\x1b[0m"

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+)")
_BULLET = re.compile(r"([ \t]*)[*+•][ \t]+")
_HELD = ("#", "|", "`", "~")  # a line that begins with one is only drawn when it is complete


@dataclass(slots=True)
class Prose:
    """Draws streamed prose, each piece as soon as every mark in it is closed.

    ``titles`` are short titles of cited nodes, by place. Without ``color``, there are no escape
    sequences.
    """

    titles: Mapping[Place, str] = field(default_factory=dict)
    color: bool = True
    quoted: bool = False
    _held: str = ""
    _line_begun: bool = False  # part of the current line has been drawn

    def feed(self, text: str) -> str:
        """Return the text that can be drawn now."""
        *lines, self._held = (self._held + text).split("\n")
        drawn = [f"{self._line(line)}\n" for line in lines]
        if (end := self._complete()) > 0:
            drawn.append(self._stretch(self._held[:end]))
            self._held = self._held[end:]
        return "".join(drawn)

    def close(self) -> str:
        """Return the text that was held back."""
        rest, self._held = self._held, ""
        return self._line(rest)

    def _complete(self) -> int:
        """Return the length of the longest start of the held text in which every mark is closed."""
        text = self._held
        if not self._line_begun and (not text.strip() or text.lstrip()[0] in _HELD):
            return 0
        end = text.rfind(" ") + 1
        head = text[:end]
        if len(text) > LONGEST:
            return end or len(text)
        even = head.count("**") % 2 == head.count("`") % 2 == head.count('"') % 2 == 0
        closed = all(head.rfind(a) <= head.rfind(b) for a, b in ("[]", "()", "“”"))
        return end if even and closed else 0

    def _line(self, line: str) -> str:
        """Draw the rest of a line."""
        heading = None if self._line_begun else _HEADING.fullmatch(line)
        if heading:
            # Keep the # marks, which distinguish these headings from the headings that pgs prints.
            drawn = self._styled(f"{heading[1]} {heading[2].strip().strip('*')}", BOLD)
        elif not self._line_begun and line.lstrip().startswith(("|", "```", "~~~")):
            drawn = line
        else:
            drawn = self._stretch(line)
        self._line_begun = False
        return drawn

    def _stretch(self, text: str) -> str:
        if not self._line_begun and (bullet := _BULLET.match(text)):
            text = f"{bullet[1]}- {text[bullet.end() :]}"
        self._line_begun = True
        return "".join(map(self._part, read_inline(text, quoted=self.quoted)))

    def _part(self, part: Inline) -> str:
        bold = BOLD if part.bold else ""
        if isinstance(part, Cites):
            names = (
                f"{cited.before}{self._styled(self._name(cited.place, cited.text), CITED)}"
                f"{cited.after}"
                for cited in part.group
            )
            return "".join(names)
        return self._styled(part.text, bold + (CODE if isinstance(part, Code) else ""))

    def _name(self, place: Place, alias: str) -> str:
        return plain(self.titles.get(place) or alias)

    def _styled(self, text: str, style: str) -> str:
        return f"{style}{text}{END}" if style and self.color and text else text
