"""Changes a page so that parsing takes time proportional to its size, or refuses the page.

The parser compares each attribute of a tag with the previous ones, and searches the open elements
at each tag. This module limits the number of both. In a selection list that allows one choice, the
parser also searches all options at each new option. It does not do so in a list that allows several
choices, so all lists are changed to allow several. The options that the page marks as selected stay
the same.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from pgs_neo4j.documents.read.limits import MOST_ATTRIBUTES, MOST_OPEN, MOST_OPTIONS
from pgs_neo4j.errors import InputFileError

RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
"""Elements whose content is text, even if it looks like a tag."""
SHALLOW = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr", "a", "p", "li", "dt", "dd", "option", "optgroup", "tr", "td"),
        *("th", "thead", "tbody", "tfoot", "colgroup", "rb", "rt", "rp", "rtc"),
        *("select", "button", "form", "nobr"),
    )
)
"""Elements without an end tag, and elements that end when the next element of their kind begins."""
DRAWN = frozenset(("svg", "g", "text", "tspan", "math", "mrow"))
"""Elements of drawings and equations at whose beginning the parser does not search the open
elements: 50,000 nested elements of these take half a second, but 50,000 nested ``div`` take 15
seconds."""
FOREIGN = ("svg", "math")
"""Elements in which tags may be self-closing."""
POINTS = frozenset(("foreignobject", "desc", "mi", "mo", "mn", "ms", "mtext", "annotation-xml"))
"""Elements inside drawings and equations that contain HTML."""
BREAKING = frozenset(
    (
        *("b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em"),
        *("embed", "h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing"),
        *("menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong"),
        *("strike", "sub", "sup", "table", "tt", "u", "ul", "var"),
    )
)
"""Tags that end a drawing or an equation, by the HTML standard."""
_BREAKING_FONT = re.compile(
    r"<font\b.*[ \t\n\f\r/\"'](?:color|face|size)\b", re.IGNORECASE | re.DOTALL
)
_ANY_NUMBER = " multiple"

_BLANK = r"[ \t\n\f\r]"
# An attribute's name and value. The pattern never backtracks, so its time is linear.
_ATTRIBUTE = (
    r"(?>[ \t\n\f\r/]*+[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
    rf"(?:{_BLANK}*+={_BLANK}*+(?:\"[^\"]*+\"?|'[^']*+'?|[^ \t\n\f\r>]*+))?+)"
)
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    rf"|<(?P<name>[a-z][^ \t\n\f\r/>]*+)(?:{_ATTRIBUTE}){{0,{MOST_ATTRIBUTES}}}+"
    rf"(?P<more>{_ATTRIBUTE})?(?P<ended>{_BLANK}*+/>)?"
    r"|</(?P<end>[a-z][^ \t\n\f\r/>]*+)",
    re.IGNORECASE | re.DOTALL,
)


def bound_markup(html: str) -> str:
    """Return a page with the same text, which takes linear time to parse.

    Raises InputFileError if a tag has more than MOST_ATTRIBUTES attributes, or if too many tags are
    nested too deeply.
    """
    lists: list[int] = []
    nesting = _Nesting()
    options = place = 0
    while tag := _TAG.search(html, place):
        place = tag.end()
        if end := tag["end"]:
            nesting.leave(end.lower())
            continue
        name = (tag["name"] or "").lower()
        if tag["more"]:
            raise InputFileError(
                f"one of its tags has more than {MOST_ATTRIBUTES:,} attributes; save it again "
                "without this tag"
            )
        if name in BREAKING or (name == "font" and _BREAKING_FONT.match(tag[0])):
            nesting.break_out()
        nesting.enter(name, ended=tag["ended"] is not None)
        if name == "select":
            lists.append(tag.end("name"))
        elif name == "option":
            options += 1
        elif name in RAW:
            place = _find_raw_end(html, name, place)
    return _allow_several(html, lists) if options > MOST_OPTIONS else html


@dataclass(slots=True)
class _Nesting:
    """Counts the open elements by name, and the elements that the parser has to search."""

    names: Counter[str] = field(default_factory=Counter)
    depth: int = 0
    passed: int = 0
    _spaces: list[str] = field(default_factory=list)
    """The open drawings and equations, and those of their open elements that contain HTML."""
    _open_spaces: Counter[str] = field(default_factory=Counter)

    def enter(self, name: str, *, ended: bool) -> None:
        """Count a start tag. Raises InputFileError if the parser must search too many elements."""
        if name not in DRAWN:
            self._look_through()
        if ended and (name in FOREIGN or self._is_drawing):
            return
        if name and name not in SHALLOW and name not in RAW:
            self.names[name] += 1
            self.depth += 1
        if name in FOREIGN or (name in POINTS and self._is_drawing):
            self._spaces.append(name)
            self._open_spaces[name] += 1

    def leave(self, name: str) -> None:
        """Count an end tag. Raises InputFileError if the parser must search too many elements."""
        self._look_through()
        if self.names[name]:
            self.names[name] -= 1
            self.depth -= 1
        if name in ("br", "p"):
            self.break_out()
        while self._open_spaces[name]:
            last = self._spaces.pop()
            self._open_spaces[last] -= 1
            if last == name:
                break

    def break_out(self) -> None:
        """End the open drawing or equation. HTML follows, in which no tag is self-closing."""
        while self._is_drawing:
            self._open_spaces[self._spaces.pop()] -= 1

    @property
    def _is_drawing(self) -> bool:
        return bool(self._spaces) and self._spaces[-1] in FOREIGN

    def _look_through(self) -> None:
        self.passed += self.depth
        if self.passed > MOST_OPEN:
            raise InputFileError(
                "its tags are nested more deeply than on any real page; save it again"
            )


def _find_raw_end(html: str, name: str, start: int) -> int:
    end = re.compile(f"</{name}", re.IGNORECASE).search(html, start)
    return end.end() if end else len(html)


def _allow_several(html: str, lists: list[int]) -> str:
    """Return a page in which each selection list allows several choices."""
    parts: list[str] = []
    start = 0
    for place in lists:
        parts.append(html[start:place])
        start = place
    return _ANY_NUMBER.join([*parts, html[start:]])
