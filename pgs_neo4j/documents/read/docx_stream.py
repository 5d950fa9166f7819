"""Streams the elements of a docx part, without those that do not affect its text. Pure.

Word writes five to ten elements of formatting around a few words. These are skipped, and each block
of the body is released when it ends. So memory depends on the largest block, not on the document.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from xml.etree.ElementTree import Element, XMLParser

from pgs_neo4j.documents.read.limits import MOST_ELEMENTS
from pgs_neo4j.errors import InputFileError

NOISE = frozenset(
    (
        *("rPr", "tblPr", "tblPrEx", "tblGrid", "tblStylePr", "sectPr", "sdtPr", "sdtEndPr"),
        *("proofErr", "bookmarkStart", "bookmarkEnd", "lastRenderedPageBreak", "instrText"),
        *("permStart", "permEnd", "latentStyles", "docDefaults"),
    )
)
"""Elements without text: formats, and marks that only Word uses."""
KEPT = {
    "pPr": frozenset(("pStyle", "numPr", "rPr")),
    "rPr": frozenset(("del",)),
    "tcPr": frozenset(("gridSpan", "vMerge")),
    "trPr": frozenset(("del",)),
}
"""Children that are kept of some formats because they affect the text: headings, lists, deletions,
merged cells."""
BARE = frozenset(("p", "r", "t", "tbl", "tr", "tc"))
"""Elements whose attributes are dropped, because these only contain data such as Word's session
ids."""
WRAPPERS = frozenset(("document", "body", "sdt", "sdtContent", "customXml"))
"""Elements around blocks. Some templates put the whole document into a content control."""
_PIECE = 2**16


def local(one: Element) -> str:
    """Return the name of an element without its namespace."""
    return one.tag.rpartition("}")[2]


def read_tree(archive: zipfile.ZipFile, name: str) -> Element:
    """Return a part as a tree. Raises InputFileError, KeyError, and ParseError."""
    (root,) = _stream(archive, name, frozenset())
    return root


def stream_blocks(archive: zipfile.ZipFile, name: str) -> Iterator[Element]:
    """Yield the paragraphs, tables, and other blocks of a body, each as soon as it ends.

    Raises InputFileError, KeyError for a part without a body, and ParseError.
    """
    return _stream(archive, name, WRAPPERS)


def _stream(archive: zipfile.ZipFile, name: str, wrappers: frozenset[str]) -> Iterator[Element]:
    builder = _Builder(wrappers)
    parser = XMLParser(target=builder)
    with archive.open(name) as part:
        while piece := part.read(_PIECE):
            parser.feed(piece)
            yield from builder.drain()
    parser.close()
    yield from builder.drain()
    if wrappers and not builder.has_body:
        raise KeyError("body")


class _Builder:
    """Builds elements from a parser's events, except the ``wrappers`` around them."""

    def __init__(self, wrappers: frozenset[str]) -> None:
        self.has_body = False
        self._wrappers = wrappers
        self._open: list[Element] = []
        self._around: list[str] = []
        self._skipped = self._count = 0
        self._texts: list[str] = []
        self._blocks: list[Element] = []

    def drain(self) -> Iterator[Element]:
        """Yield the blocks that ended since the last call."""
        blocks, self._blocks = self._blocks, []
        return iter(blocks)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if self._skipped:
            self._skipped += 1
            return
        name = tag.rpartition("}")[2]
        if not self._open:
            if name in self._wrappers:
                self._around.append(name)
                self.has_body = self.has_body or name == "body"
                return
            self._count = 0
        parent = local(self._open[-1]) if self._open else ""
        kept = KEPT.get(parent)
        if (kept is not None and name not in kept) or (kept is None and name in NOISE):
            self._skipped = 1
            return
        self._count += 1
        if self._count > MOST_ELEMENTS:
            what = "tables or other parts" if self._wrappers else "parts"
            raise InputFileError(
                f"one of its {what} has more than {MOST_ELEMENTS:,} elements; split it"
            )
        one = Element(tag, {} if name in BARE else attributes)
        if self._open:
            self._end_text()
            self._open[-1].append(one)
        self._open.append(one)

    def end(self, _: str) -> None:
        """End an element."""
        if self._skipped:
            self._skipped -= 1
        elif not self._open:
            self._around.pop()
        else:
            self._end_text()
            one = self._open.pop()
            if not self._open and (not self._wrappers or "body" in self._around):
                self._blocks.append(one)

    def data(self, text: str) -> None:
        """Add some characters of text."""
        if self._open and not self._skipped:
            self._texts.append(text)

    def close(self) -> None:
        """End the part."""

    def _end_text(self) -> None:
        """Set the text of an element, which is all characters before its first child."""
        if self._texts:
            one = self._open[-1]
            if not len(one):
                one.text = "".join(self._texts)
            self._texts.clear()
