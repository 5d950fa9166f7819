"""The model's Markdown: read so that only its shape counts, and made safe to write on after."""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pgs_neo4j.text.shown import plain

# Lists and quotations deeper than this are left out by the parser, which goes down by recursion.
NESTING = 60
ROUNDS = 3

# Also an address in angle brackets, of the web or of mail, which would be a link.
_TAG = re.compile(r"<(?=[A-Za-z/!?]|[^\s<>@]++@)")
_INERT = ("link", "image", "autolink", "reference", "html_block", "html_inline")
# Between the characters that make a link, an image, or the definition of a link.
_LINK = re.compile(r"(?<=\])(?=\()|(?<=!)(?=\[)")
_DEFINITION = re.compile(r"(?<=\])(?=:)")
# A line that may begin a link definition, behind the marks of quotations and list items.
_LABEL = re.compile(r"[\s>]*+(?:(?:[-+*]|\d{1,9}[.)])[\s>]++)*+\[")
_BACKTICKS = re.compile(r"(\\*)(`+)")

Span = tuple[int, int]


def inert_parser() -> MarkdownIt:
    """A parser that knows no links, images, or HTML: all of these are text."""
    options = {"html": False, "linkify": False, "maxNesting": NESTING}
    return MarkdownIt("commonmark", options).enable("table").disable(list(_INERT))


def contained(text: str) -> str:
    """Markdown that ends where it ends, whatever it holds, and that leads nowhere.

    An open fence is closed, so headings after it are headings. What a viewer would take for
    HTML, a link, an image, or the definition of a link is written as text: a citation must not
    lead to where a node's text wants it to. A bare address stays, since it shows where it leads.
    But for that, and control characters, it is as it was.
    """
    text = plain(text).rstrip()
    # Where HTML and fences are does not depend on links, and looking for those can be slow.
    parser = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable("table")
    parser.disable(["link", "image", "reference"])
    text = _without_tags(text, parser)
    text = _without_links(text, parser.parse(text))
    return text + _closing(parser, text)


def _without_tags(text: str, parser: MarkdownIt) -> str:
    for _ in range(ROUNDS):
        lines = text.split("\n")
        tokens = parser.parse(text)
        found = {line for each in tokens if _is_tagged(each) for line in _lines(each)}
        found |= {line for line in _unsure(tokens, len(lines)) if _TAG.search(lines[line])}
        if not found:
            return text
        for line in found:
            lines[line] = _TAG.sub("&lt;", lines[line])
        text = "\n".join(lines)
    return _TAG.sub("&lt;", text)


def _is_tagged(token: Token) -> bool:
    """Whether it is HTML, or holds some, or an address in angle brackets."""
    inside = (each.type in {"html_inline", "link_open"} for each in token.children or ())
    return token.type == "html_block" or any(inside)


def _without_links(text: str, tokens: Sequence[Token]) -> str:
    """The text with a backslash in whatever would be a link, outside of code."""
    lines = text.split("\n")
    unsure = _unsure(tokens, len(lines))
    for token in tokens:
        held = _lines(token)
        if token.type == "inline" and not unsure.intersection(held):
            stretch = "\n".join(lines[held.start : held.stop])
            lines[held.start : held.stop] = _unlinked(stretch, list(_code(stretch))).split("\n")
    for line in unsure:
        lines[line] = _unlinked(lines[line], ())
    return "\n".join(lines)


def _unlinked(stretch: str, code: Sequence[Span]) -> str:
    """A paragraph with a backslash inside ``](``, ``![``, and ``]:`` of definitions.

    Inside, since one before the first character would undo a backslash that is there. Links in
    code are none, but a definition is one before there is any code.
    """
    places = [each.start() for each in _LINK.finditer(stretch)]
    places = [place for place in places if not _inside(place, code)]
    if any(map(_LABEL.match, stretch.split("\n"))):
        places += [each.start() for each in _DEFINITION.finditer(stretch)]
    ends = [0, *sorted(places), len(stretch)]
    return "\\".join(stretch[begin:end] for begin, end in pairwise(ends))


def _inside(place: int, code: Sequence[Span]) -> bool:
    before = bisect(code, (place, 0)) - 1
    return before >= 0 and place < code[before][1]


def _code(stretch: str) -> Iterator[Span]:
    """Where code spans are in a paragraph: from backticks to the next run of as many."""
    runs = list(_BACKTICKS.finditer(stretch))
    places: dict[int, list[int]] = defaultdict(list)
    for number, run in enumerate(runs):
        places[len(run[2])].append(number)
    number = 0
    while number < len(runs):
        run = runs[number]
        # An odd number of backslashes before it takes the first backtick away; only outside code.
        length = len(run[2]) - len(run[1]) % 2
        same = places[length] if length else []
        at = bisect(same, number)
        if at < len(same):
            yield run.end() - length, runs[same[at]].end()
            number = same[at]
        number += 1


def _unsure(tokens: Sequence[Token], count: int) -> set[int]:
    """Lines of which it is not sure what a viewer makes, so nothing there is taken for code.

    In tables, which not all know, a cell may end code or be left out; and the parser makes
    nothing of what is nested too deep, nor of empty lines and rules, which do not matter.
    """
    kinds = {"inline", "fence", "code_block", "html_block"}
    seen = {line for each in tokens if each.type in kinds for line in _lines(each)}
    tables = {line for each in tokens if each.type == "table_open" for line in _lines(each)}
    return set(range(count)) - seen | tables


def _lines(token: Token) -> range:
    return range(*token.map) if token.map else range(0)


def _closing(parser: MarkdownIt, text: str) -> str:
    """What closes a fence that would take in what follows; empty when none would."""
    tokens = parser.parse(f"{text}\n\n# Next")
    open_fence = bool(tokens) and tokens[-1].type == "fence" and tokens[-1].level == 0
    return f"\n{tokens[-1].markup}" if open_fence else ""
