"""Reads the visible text of HTML, with headings, lists, and tables as in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pgs_neo4j.documents.read.limits import MOST_INDENTED
from pgs_neo4j.documents.read.markup import bound_markup
from pgs_neo4j.documents.read.text import (
    Decoded,
    check_text,
    decode,
    encodings_named,
    missing_extra,
    normalize_text,
)
from pgs_neo4j.model.documents import DocumentText
from pgs_neo4j.text.shown import counted

HEADINGS = {f"h{level}": level for level in range(1, 7)}
LEFT_OUT = frozenset(
    (
        *("script", "style", "template", "noscript", "head", "title"),
        *("iframe", "object", "embed", "canvas", "audio", "video"),
        *("datalist", "button"),
    )
)
"""Elements whose content does not belong to the document's text."""
CLOSED = frozenset(("svg", "select", "textarea"))
"""Elements of which only some words are text: labels of a drawing, and values of a form."""
DRAWN = frozenset(("text", "foreignObject", "foreignobject"))
"""Elements of a drawing that contain text."""
BUTTONS = frozenset(("hidden", "password", "submit", "button", "reset", "image", "file"))
"""Types of inputs whose values are secret or not filled in by users."""
PICTURE_BYTES = 2000
"""Characters of an embedded picture above which the picture counts as more than an ornament."""
BLOCKS = frozenset(
    (
        *HEADINGS,
        *("html", "body", "p", "div", "section", "article", "main"),
        *("aside", "header", "footer", "nav", "address", "blockquote", "figure"),
        *("figcaption", "details", "summary", "dl", "dt", "dd", "ul"),
        *("ol", "li", "table", "caption", "tbody", "thead", "tfoot"),
        *("tr", "form", "fieldset", "legend", "hr", "pre", "hgroup"),
        *("menu", "search", "dialog", "center"),
    )
)
LINE = "\v"
"""Marks a line break until white space is collapsed."""
META_BYTES = 2048

_BLANKS = re.compile(r"[ \t\n\r\f]+")
_LINE = re.compile(rf" ?{LINE} ?")
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def read_html(data: bytes, charset: str = "") -> tuple[DocumentText, str]:
    """Return the text of a page, and a note if its encoding was guessed. Raises InputFileError.

    ``charset`` is the encoding that the server names. Without it, the page's own declaration
    counts.
    """
    decoded = _decode_page(data, charset)
    page = _read_page(decoded.text)
    pictures = counted(page.pictures, "picture without", "pictures without")
    unread = (f"{pictures} a description",) if page.pictures else ()
    check_text(page.text, unread)
    return DocumentText(text=normalize_text(page.text), unread=unread), decoded.note


def plain_text(html: str) -> str:
    """Return the visible text of HTML with structure as in Markdown. Raises InputFileError.

    The page's title is the first line if there is no heading of the first level.
    """
    return _read_page(html).text


def _read_page(html: str) -> _PageWriter:
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        raise missing_extra(error, "reading HTML") from None
    page, writer = LexborHTMLParser(bound_markup(html)), _PageWriter()
    if page.root is None:
        return writer
    title = page.css_first("head > title")
    if title is not None and page.css_first("h1") is None:
        writer.add("heading", 1, title.text())
    for node, entered in _walk(page.root, _is_visible, CLOSED):
        if entered:
            writer.enter(node)
        else:
            writer.leave(node.tag)
    writer.flush()
    return writer


def _walk(
    root: Any, shows: Callable[[Any], bool], closed: Container[str]
) -> Iterator[tuple[Any, bool]]:
    """Yield each visible node with True, and each element again with False at its end.

    ``shows`` decides which nodes are visible. Nodes within ``closed`` elements are not yielded. The
    walk is not recursive, so nesting may have any depth.
    """
    node = root
    while True:
        visible = shows(node)
        if visible:
            yield node, True
        child = node.child if visible and node.tag not in closed else None
        if child is not None:
            node = child
            continue
        while True:
            if visible and node.is_element_node:
                yield node, False
            if node.mem_id == root.mem_id:
                return
            if node.next is not None:
                node = node.next
                break
            node, visible = node.parent, True


def _is_visible(node: Any) -> bool:
    if not node.is_element_node:
        return bool(node.is_text_node)
    if node.tag in LEFT_OUT:
        return False
    attributes = node.attributes
    return not (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or _HIDDEN.search(attributes.get("style") or "")
    )


@dataclass(slots=True)
class _PageWriter:
    """Writes blocks of text; ``parts`` are the pieces of the current block."""

    blocks: list[tuple[str, str]] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    lists: list[int | None] = field(default_factory=list)  # The next number of each open list.
    mark: str = ""  # The mark of a list item, for the next block.
    tables: int = 0
    verbatim: int = 0
    pictures: int = 0  # The number of embedded pictures without a description.

    @property
    def text(self) -> str:
        """All blocks as one text.

        No blank lines separate rows of a table or items of a list.
        """
        pieces: list[str] = []
        before = ""
        for kind, text in self.blocks:
            if pieces:
                pieces.append("\n" if kind == before and kind in ("row", "item") else "\n\n")
            pieces.append(text)
            before = kind
        return "".join(pieces)

    def add(self, kind: str, level: int, text: str) -> None:
        """Write a block; a heading or a row is written as one line."""
        text = _BLANKS.sub(" ", text)
        text = _LINE.sub("\n" if kind in ("text", "item") else " ", text).strip()
        if text:
            self.blocks.append((kind, f"{'#' * level} {text}" if level else text))

    def enter(self, node: Any) -> None:
        """Process the beginning of an element, or a text."""
        tag = node.tag
        if node.is_text_node:
            self.parts.append(node.text_content or "")
        elif tag == "img":
            self._write_picture(node.attributes)
        elif tag == "input" or tag in CLOSED:
            self.parts.append(_read_closed(node))
        elif tag == "br":
            self.parts.append("\n" if self.verbatim else LINE)
        elif self.tables and tag in BLOCKS and tag not in ("tr", "table"):
            self.parts.append(" ")
        elif tag in BLOCKS:
            self._open_block(tag)

    def _write_picture(self, attributes: Mapping[str, str | None]) -> None:
        """Write the description of a picture; an empty description marks an ornament."""
        said, source = attributes.get("alt"), attributes.get("src") or ""
        if said and said.strip():
            self.parts.append(f" ({said.strip()}) ")
        elif "alt" not in attributes and source.startswith("data:"):
            self.pictures += len(source) > PICTURE_BYTES

    def _open_block(self, tag: str) -> None:
        if tag == "table":
            self.tables += 1
        if self.tables > 1:
            self.parts.append(" ")
            return
        self.flush()
        if tag in ("ul", "ol", "menu"):
            self.lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self.mark = self._next_mark()
        elif tag == "pre":
            self.verbatim += 1

    def leave(self, tag: str) -> None:
        """Process the end of an element."""
        if self.tables:
            self._leave_table(tag)
        elif tag in HEADINGS:
            self.add("heading", HEADINGS[tag], "".join(self.parts))
            self.parts.clear()
        elif tag == "pre":
            self._end_verbatim()
        elif tag in BLOCKS:
            self.flush()
            if tag in ("ul", "ol", "menu") and self.lists:
                self.lists.pop()
            self.mark = "" if tag == "li" else self.mark

    def _leave_table(self, tag: str) -> None:
        if tag == "table":
            self.tables -= 1
        if self.tables > 1 or (self.tables and tag == "table"):
            # Other elements may be inside a word, so they add no space.
            if tag in BLOCKS or tag in ("td", "th"):
                self.parts.append(" ")
        elif tag in ("td", "th"):
            self.cells.append(" ".join("".join(self.parts).split()))
            self.parts.clear()
        elif tag == "tr" or not self.tables:
            if any(self.cells):
                self.add("row", 0, f"| {' | '.join(self.cells)} |")
            self.cells.clear()
            self.flush()
        elif tag in BLOCKS:
            self.parts.append(" ")

    def flush(self) -> None:
        """Write the current block."""
        text = "".join(self.parts)
        self.parts.clear()
        if text.strip():
            kind = "item" if self.lists else "text"
            self.add(kind, 0, self.mark + text.strip() if self.mark else text)
            if self.mark and self.blocks:
                last = self.blocks[-1][1]
                self.blocks[-1] = kind, "  " * (min(len(self.lists), MOST_INDENTED) - 1) + last
            self.mark = ""

    def _next_mark(self) -> str:
        number = self.lists[-1] if self.lists else None
        if number is None:
            return "- "
        self.lists[-1] = number + 1
        return f"{number}. "

    def _end_verbatim(self) -> None:
        self.verbatim -= 1
        text = "".join(self.parts).replace(LINE, "\n").strip("\n")
        self.parts.clear()
        if text.strip():
            self.blocks.append(("text", f"```\n{text}\n```"))


def _read_closed(node: Any) -> str:
    """Return the words of a drawing, or the value of a form field."""
    attributes = node.attributes
    if node.tag == "svg":
        texts = _texts_within(node, lambda one: one.tag in DRAWN)
    elif node.tag == "select":
        texts = _texts_within(
            node, lambda one: one.tag == "option" and "selected" in one.attributes
        )
    elif node.tag == "textarea":
        texts = [node.text()]
    elif attributes.get("type") in ("checkbox", "radio"):
        texts = ["[x]"] if "checked" in attributes else []
    else:
        texts = [] if attributes.get("type") in BUTTONS else [attributes.get("value") or ""]
    return f" {' '.join(texts)} " if any(text.strip() for text in texts) else ""


def _texts_within(root: Any, wanted: Callable[[Any], bool]) -> list[str]:
    """Return the text of each wanted element, except of those within another wanted element.

    The outer element's text already contains the text of the inner element.
    """
    collected: list[list[str]] = []
    outer = None
    for node, entered in _walk(root, lambda _: True, ()):
        if node.is_element_node:
            if entered and outer is None and wanted(node):
                outer = node.mem_id
                collected.append([])
            elif not entered and node.mem_id == outer:
                outer = None
        elif outer is not None and node.is_text_node:
            collected[-1].append(node.text_content or "")
    return ["".join(texts) for texts in collected]


def _decode_page(data: bytes, charset: str) -> Decoded:
    declared = charset
    if not declared and (match := _META.search(data[:META_BYTES])):
        declared = match[1].decode("ascii")
    for encoding in encodings_named(declared):
        try:
            return Decoded(data.decode(encoding), encoding)
        except (UnicodeError, LookupError):  # LookupError: the codec is not for text.
            continue
    return decode(data)
