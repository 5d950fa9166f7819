"""The model's Markdown: read so that only its shape counts, and made safe to write on after."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pgs_neo4j.export.text import plain

# Lists and quotations deeper than this are left out by the parser, which goes down by recursion.
NESTING = 60
ROUNDS = 3

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_INERT = ("link", "image", "autolink", "reference", "html_block", "html_inline")


def inert_parser() -> MarkdownIt:
    """A parser that knows no links, images, or HTML: all of these are text."""
    options = {"html": False, "linkify": False, "maxNesting": NESTING}
    return MarkdownIt("commonmark", options).enable("table").disable(list(_INERT))


def contained(text: str) -> str:
    """Markdown that ends where it ends, whatever it holds: headings after it are headings.

    An open fence is closed, and what a viewer would take for HTML is written as text; but for
    that, and control characters, it is as it was.
    """
    text = plain(text).rstrip()
    # Links say nothing about where HTML and fences are, and looking for them can be slow.
    parser = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable("table")
    parser.disable(["link", "image", "reference"])
    for _ in range(ROUNDS):
        lines = text.split("\n")
        found = [each for each in parser.parse(text) if _is_html(each)]
        if not found:
            break
        for line in {line for each in found for line in range(*each.map or (0, len(lines)))}:
            lines[line] = _TAG.sub("&lt;", lines[line])
        text = "\n".join(lines)
    else:
        text = _TAG.sub("&lt;", text)
    return text + _closing(parser, text)


def _is_html(token: Token) -> bool:
    inside = (each.type == "html_inline" for each in token.children or ())
    return token.type == "html_block" or any(inside)


def _closing(parser: MarkdownIt, text: str) -> str:
    """What closes a fence that would take in what follows; empty when none would."""
    tokens = parser.parse(f"{text}\n\n# Next")
    open_fence = bool(tokens) and tokens[-1].type == "fence" and tokens[-1].level == 0
    return f"\n{tokens[-1].markup}" if open_fence else ""
