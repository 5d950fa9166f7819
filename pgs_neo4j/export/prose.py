"""A model's Markdown as HTML, with all text escaped here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pgs_neo4j.export.markup import Html, element, escaped
from pgs_neo4j.export.written import inert_parser
from pgs_neo4j.text.shown import plain

HEADING = 3  # level of the highest heading; the page itself uses those above
_SHAPED = re.compile(r"[*_`\\&\n]")

Write = Callable[[str], Html]


def blocks(text: str, write: Write) -> Html:
    """Render paragraphs, lists, and tables.

    ``write`` turns each stretch of text into markup.
    """
    parser = _parser()
    tokens = parser.parse(plain(text))
    for token in tokens:
        token.attrs = _attributes(token)
        token.info = ""
        if token.tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            token.tag = f"h{min(max(int(token.tag[1]) + 1, HEADING), 6)}"
        if token.children is not None:
            token.children = list(_written(token.children, write))
    return Html(parser.renderer.render(tokens, parser.options, {}))


def line(text: str, write: Write) -> Html:
    """Render a text with emphasis and code, but without blocks."""
    text = plain(text)
    if not _SHAPED.search(text):
        return write(text)
    parser = _parser()
    (token,) = parser.parseInline(text)
    token.children = list(_written(token.children or (), write))
    return Html(parser.renderer.render([token], parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    return inert_parser()


def _attributes(token: Token) -> dict[str, str | int | float]:
    """Return the allowed attributes.

    They are the start of a list, and a column's alignment as a class.
    """
    if token.type == "ordered_list_open" and "start" in token.attrs:
        return {"start": token.attrs["start"]}
    return {"class": "right"} if "right" in str(token.attrs.get("style", "")) else {}


def _written(tokens: Sequence[Token], write: Write) -> Iterator[Token]:
    """Replace each stretch of text with its markup.

    A citation may continue on the next line, so text is collected across line breaks.
    """
    pending: list[str] = []
    for token in tokens:
        if token.type in {"text", "softbreak"}:
            pending.append("\n" if token.type == "softbreak" else token.content)
            continue
        if pending:
            yield _raw(write("".join(pending)))
            pending = []
        if token.type == "code_inline":
            yield _raw(element("code", write(token.content)))
        else:
            yield token
    if pending:
        yield _raw(write("".join(pending)))


def _raw(markup: Html) -> Token:
    return Token("html_inline", "", 0, content=escaped(markup))
