"""Reads PDF: the text of each page, and the titles of its outline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.ingest.read.extra import missing_extra
from pgs_neo4j.ingest.read.text import normalize
from pgs_neo4j.model.documents import DocumentText, OutlineEntry

MOST_TITLES = 5000
LONGEST_TITLE = 200
BETWEEN = "\n\n"
"""Stands between pages."""

_HYPHEN = re.compile("[\ufffe\x02](?:\r?\n)?")  # PDFium's mark of a word divided at the line's end
_WORD = re.compile(r"\S+")
_WRONG_PASSWORD = 4  # PDFium's number


def read_pdf(data: bytes) -> tuple[DocumentText, str]:
    """Return the text of a PDF with its pages. Raises InputFileError."""
    try:
        import pypdfium2
    except ImportError as error:
        raise missing_extra(error, "reading PDF") from None
    try:
        with closing(pypdfium2.PdfDocument(data)) as pdf:
            pages = [_page_text(pdf, number) for number in range(len(pdf))]
            bookmarks = [*_bookmarks(pdf)]
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _WRONG_PASSWORD:
            raise InputFileError("it is encrypted; save it without a password") from None
        raise InputFileError("it is broken, or not a PDF; save it again") from None
    if not any(page.strip() for page in pages):
        raise InputFileError("its pages have no text, as if scanned; run text recognition on it")
    starts = [*_starts(pages)]
    text = BETWEEN.join(pages)
    outline = tuple(_outline(bookmarks, text, starts))
    return DocumentText(text=text, page_starts=tuple(starts), outline=outline), ""


def _page_text(pdf: Any, number: int) -> str:
    with closing(pdf[number]) as page, closing(page.get_textpage()) as texts:
        text = _HYPHEN.sub("", texts.get_text_bounded())
    return normalize(text).strip("\n")


def _starts(pages: Iterable[str]) -> Iterator[int]:
    at = 0
    for page in pages:
        yield at
        at += len(page) + len(BETWEEN)


def _bookmarks(pdf: Any) -> Iterator[tuple[int, str, int]]:
    """Yield the level, title, and page index of the bookmarks that lead to a page."""
    for bookmark, _ in zip(pdf.get_toc(), range(MOST_TITLES), strict=False):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        title = " ".join(normalize(bookmark.get_title()).split())[:LONGEST_TITLE]
        if title and index is not None and 0 <= index < len(pdf):
            yield bookmark.level + 1, title, index


def _outline(
    bookmarks: Iterable[tuple[int, str, int]], text: str, starts: list[int]
) -> Iterator[OutlineEntry]:
    """Yield the bookmarks in the order of their places: where the title stands on its page.

    A title that does not stand there begins with the page.
    """
    entries: list[OutlineEntry] = []
    last = 0
    for level, title, index in bookmarks:
        begin = max(starts[index], last)
        end = starts[index + 1] if index + 1 < len(starts) else len(text)
        last = _find(title, text, begin, end)
        entries.append(OutlineEntry(last, level, title))
    yield from sorted(entries, key=lambda entry: entry.start)


def _find(title: str, text: str, begin: int, end: int) -> int:
    """Return where the words of a title stand in ``text[begin:end]``, else ``begin``."""
    words = title.casefold().split()
    places = [(word[0].casefold(), word.start()) for word in _WORD.finditer(text, begin, end)]
    for first in range(len(places) - len(words) + 1):
        if [word for word, _ in places[first : first + len(words)]] == words:
            return places[first][1]
    return begin
