"""Builds HTML and SVG, and renders a model's prose. Escapes all text that is not ``Html``."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from pgs_neo4j.text.citations import Cited
from pgs_neo4j.text.headings import DEEPEST, lowered
from pgs_neo4j.text.prose import (
    Block,
    Cites,
    Code,
    Heading,
    Inline,
    Listing,
    ListItem,
    Paragraph,
    Preformatted,
    Table,
    read_blocks,
    read_inline,
)
from pgs_neo4j.text.shown import plain

VOID = frozenset({"br", "hr", "meta"})


class Html(str):
    """Markup that this module made.

    The sum of an ``Html`` and a ``str`` is a ``str``, so the sum will be escaped.
    """

    __slots__ = ()


EMPTY = Html()


def escaped(text: str) -> Html:
    """Escape text; return markup unchanged."""
    return text if isinstance(text, Html) else Html(html.escape(plain(text)))


def element(tag: str, *children: str, **attributes: str | float | bool | None) -> Html:
    """Build an element: ``element("p", "a < b", class_="note")``.

    In attribute names, ``_`` stands for ``-``, and a trailing ``_`` is removed. True gives an
    attribute without a value; False and None give no attribute.
    """
    written = "".join(_render_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{joined(children)}</{tag}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Join parts, and escape all parts that are not markup."""
    return Html(escaped(between).join(map(escaped, parts)))


def _render_attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {written}"
    # Two decimals are exact enough for a picture, and make the picture the same on every machine.
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {written}="{html.escape(plain(text))}"'


Draw = Callable[[tuple[Cited, ...]], Html]


def blocks(text: str, draw: Draw, *, quoted: bool = False, below: int = 2) -> Html:
    """Render headings, paragraphs, lists, and tables.

    ``draw`` turns a group of aliases into markup. In a ``quoted`` text, marks for bold words and
    code have no effect. The text's headings become subheadings of level ``below``, which is 2 or 3.
    """
    return drawn_blocks(read_blocks(plain(text)), draw, quoted=quoted, below=below)


def drawn_blocks(
    parts: Sequence[Block], draw: Draw, *, quoted: bool = False, below: int = 2
) -> Html:
    """Render blocks that are already parsed, with the options of ``blocks``."""

    def write(text: str) -> Html:
        return line(text, draw, quoted=quoted)

    return joined((_render_block(part, write, below - 2) for part in parts), "\n")


def line(text: str, draw: Draw, partition: int = 0, *, quoted: bool = False) -> Html:
    """Render a text with bold words, code, and citations, but without blocks.

    Aliases without a partition belong to ``partition``.
    """
    return joined(
        _render_inline(part, draw) for part in read_inline(plain(text), partition, quoted=quoted)
    )


def _render_inline(part: Inline, draw: Draw) -> Html:
    if isinstance(part, Cites):
        written = draw(part.group)
    elif isinstance(part, Code):
        written = element("code", part.text)
    else:
        written = joined((part.text,))
    return element("strong", written) if part.bold else written


def _render_block(block: Block, write: Callable[[str], Html], deeper: int) -> Html:
    match block:
        case Heading(level, text):
            return element(f"h{min(lowered(level) + deeper, DEEPEST)}", write(text))
        case Paragraph(text, quotation):
            paragraph = element("p", write(text))
            return element("blockquote", paragraph) if quotation else paragraph
        case Listing(entries):
            return joined(_render_lists(entries, 0, write))
        case Preformatted(text):
            return element("pre", element("code", text))
        case Table():
            return _render_table(block, write)
        case _:
            return element("hr")


def _render_lists(
    entries: Sequence[ListItem], depth: int, write: Callable[[str], Html]
) -> Iterator[Html]:
    """Yield the lists at ``depth``. Bulleted and numbered items form separate lists."""
    items: list[list[ListItem]] = []
    for entry in entries:
        if entry.depth <= depth or not items:
            items.append([entry])
        else:
            items[-1].append(entry)
    for is_bullet, group in groupby(items, lambda item: item[0].number is None):
        members = list(group)
        drawn = (_render_item(item, depth, write) for item in members)
        start = members[0][0].number
        if is_bullet:
            yield element("ul", *drawn)
        else:
            yield element("ol", *drawn, start=None if start == 1 else start)


def _render_item(item: Sequence[ListItem], depth: int, write: Callable[[str], Html]) -> Html:
    first, *inner = item
    begin, *more = first.paragraphs
    paragraphs = (element("p", write(text)) for text in more)
    return element("li", write(begin), *paragraphs, *_render_lists(inner, depth + 1, write))


def _render_table(table: Table, write: Callable[[str], Html]) -> Html:
    head, *body = (
        element("tr", *(_render_cell("td" if place else "th", cell, right, write)
                        for cell, right in zip(row, table.right, strict=True)))
        for place, row in enumerate(table.rows)
    )  # fmt: skip
    return element("table", element("thead", head), element("tbody", *body) if body else "")


def _render_cell(tag: str, text: str, right: bool, write: Callable[[str], Html]) -> Html:
    return element(tag, write(text), class_="right" if right else None)
