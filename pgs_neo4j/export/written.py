"""The model's Markdown, parsed for its shape and made safe to embed."""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pgs_neo4j.text.shown import plain

# The parser recurses, so it leaves out lists and quotations nested deeper than this.
NESTING = 60
ROUNDS = 3

# Includes web and mail addresses in angle brackets, which would be links.
_TAG = re.compile(r"<(?=[A-Za-z/!?]|[^\s<>@]+@)")
_INERT = ("link", "image", "autolink", "reference", "html_block", "html_inline")
# The point between the characters that make a link, an image, or a link definition.
_LINK = re.compile(r"(?<=\])(?=\()|(?<=!)(?=\[)")
_DEFINITION = re.compile(r"(?<=\])(?=:)")
# A line that may begin a link definition, after the marks of quotations and list items.
_LABEL = re.compile(r"[\s>]*(?:(?:[-+*]|\d{1,9}[.)])[\s>]+)*\[")
_BACKTICKS = re.compile(r"(\\*)(`+)")

Span = tuple[int, int]


def inert_parser() -> MarkdownIt:
    """Return a parser that treats links, images, and HTML as text."""
    options = {"html": False, "linkify": False, "maxNesting": NESTING}
    return MarkdownIt("commonmark", options).enable("table").disable(list(_INERT))


def contained(text: str) -> str:
    """Make Markdown that affects nothing after it and links to nothing.

    An open fence is closed, so that headings after the text stay headings. HTML, links, images, and
    link definitions become text: a node's text must not decide where a citation leads. A bare
    address stays, because its target is visible. Control characters are removed. Everything else
    stays as it was.
    """
    text = plain(text).rstrip()
    # Links do not change where HTML and fences are, and parsing links can be slow.
    parser = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable("table")
    parser.disable(["link", "image", "reference"])
    text = _without_tags(text, parser)
    text = _without_links(text, parser.parse(text))
    return text + _closing(parser, text)


def _without_tags(text: str, parser: MarkdownIt) -> str:
    for _ in range(ROUNDS):
        lines = text.split("\n")
        tokens = parser.parse(text)
        tagged = {line for token in tokens if _is_tagged(token) for line in _lines(token)}
        tagged |= {line for line in _unsure(tokens, len(lines)) if _TAG.search(lines[line])}
        if not tagged:
            return text
        for line in tagged:
            lines[line] = _TAG.sub("&lt;", lines[line])
        text = "\n".join(lines)
    return _TAG.sub("&lt;", text)


def _is_tagged(token: Token) -> bool:
    """Whether a token contains HTML or an address in angle brackets."""
    inside = (child.type in {"html_inline", "link_open"} for child in token.children or ())
    return token.type == "html_block" or any(inside)


def _without_links(text: str, tokens: Sequence[Token]) -> str:
    """Break every link outside code with a backslash."""
    lines = text.split("\n")
    unsure = _unsure(tokens, len(lines))
    for token in tokens:
        span = _lines(token)
        if token.type == "inline" and not unsure.intersection(span):
            stretch = "\n".join(lines[span.start : span.stop])
            lines[span.start : span.stop] = _unlinked(stretch, list(_code(stretch))).split("\n")
    for line in unsure:
        lines[line] = _unlinked(lines[line], ())
    return "\n".join(lines)


def _unlinked(stretch: str, code: Sequence[Span]) -> str:
    """Put a backslash inside ``](``, ``![``, and the ``]:`` of definitions.

    A backslash before the first character would cancel one that precedes it. Code spans contain no
    links, but definitions are recognized before code spans.
    """
    places = [link.start() for link in _LINK.finditer(stretch)]
    places = [place for place in places if not _inside(place, code)]
    if any(map(_LABEL.match, stretch.split("\n"))):
        places += [colon.start() for colon in _DEFINITION.finditer(stretch)]
    ends = [0, *sorted(places), len(stretch)]
    return "\\".join(stretch[begin:end] for begin, end in pairwise(ends))


def _inside(place: int, code: Sequence[Span]) -> bool:
    before = bisect(code, (place, 0)) - 1
    return before >= 0 and place < code[before][1]


def _code(stretch: str) -> Iterator[Span]:
    """Yield a paragraph's code spans, between backtick runs of equal length."""
    runs = list(_BACKTICKS.finditer(stretch))
    places: dict[int, list[int]] = defaultdict(list)
    for number, run in enumerate(runs):
        places[len(run[2])].append(number)
    number = 0
    while number < len(runs):
        run = runs[number]
        # An odd number of backslashes before a run outside code escapes its first backtick.
        length = len(run[2]) - len(run[1]) % 2
        same = places[length] if length else []
        at = bisect(same, number)
        if at < len(same):
            yield run.end() - length, runs[same[at]].end()
            number = same[at]
        number += 1


def _unsure(tokens: Sequence[Token], count: int) -> set[int]:
    """Return the lines that viewers may render differently.

    None of their text is treated as code. Not every viewer supports tables, and a cell may end code
    or be dropped. Text that is nested too deep is skipped by the parser. The parser also skips
    empty lines and rules, which do not matter.
    """
    kinds = {"inline", "fence", "code_block", "html_block"}
    parsed = {line for token in tokens if token.type in kinds for line in _lines(token)}
    tables = {line for token in tokens if token.type == "table_open" for line in _lines(token)}
    return set(range(count)) - parsed | tables


def _lines(token: Token) -> range:
    return range(*token.map) if token.map else range(0)


def _closing(parser: MarkdownIt, text: str) -> str:
    """Return the text that closes an open fence, or an empty text."""
    tokens = parser.parse(f"{text}\n\n# Next")
    open_fence = bool(tokens) and tokens[-1].type == "fence" and tokens[-1].level == 0
    return f"\n{tokens[-1].markup}" if open_fence else ""
