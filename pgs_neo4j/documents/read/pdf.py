"""Reads PDF: the text, form values, and remarks of each page, and the titles of its outline.

A page with little text but pictures may hold any number of words that nobody reads. Such pages are
named, as is what else has no text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from pgs_neo4j.documents.read.columns import (
    FEWEST_LINES,
    Word,
    may_have_columns,
    order_columns,
)
from pgs_neo4j.documents.read.pdf_annotations import read_overlay
from pgs_neo4j.documents.read.text import missing_extra, normalize
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import DocumentText, OutlineEntry

MOST_TITLES = 5000
LONGEST_TITLE = 200
BETWEEN = "\n\n"
"""Stands between pages."""
FEW_LETTERS = 20
"""Fewer letters and digits than this are no text of a page: its number, or a mark of a scanner."""
ANY_PICTURE, MOSTLY_PICTURE = 0.02, 0.5
"""Shares of a page. A smaller picture than the first is an ornament; without text over it, one that
is larger than the second may be a scan beside which some text stands."""
MANY_PATHS = 20
"""Paths that may be letters drawn as outlines; fewer are frames and rules."""
MOST_OBJECTS = 20_000
"""Objects of a page that are looked at."""
SAMPLED = FEWEST_LINES - 1
"""Of so many lines, one is looked at for columns, so that no column is missed."""
MOST_FILES = 20
"""Attached files that are named."""
SCAN, DRAWING, IN_PART = "is a picture", "is drawn without text", "is mostly a picture"
MANY = {
    SCAN: "are pictures",
    DRAWING: "are drawn without text",
    IN_PART: "are mostly pictures",
}
"""What is said of several pages instead."""

_HYPHEN = re.compile("[\ufffe\x02](?:\r?\n)?(.?)")
"""PDFium's mark of a word divided at the line's end, and how the next line begins."""
_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\r\n]+")
_MARK = re.compile("[\ufffe\x02]")
_DRAWN_WORD = re.compile("[^\\s\ufffe\x02]+[\ufffe\x02]?")
_WRONG_PASSWORD = 4  # PDFium's number


def read_pdf(data: bytes) -> tuple[DocumentText, str]:
    """Return the text of a PDF with its pages. Raises InputFileError."""
    try:
        import pypdfium2
    except ImportError as error:
        raise missing_extra(error, "reading PDF") from None
    try:
        with closing(pypdfium2.PdfDocument(data)) as pdf:
            if pdf.get_formtype() != pypdfium2.raw.FORMTYPE_NONE:
                pdf.init_forms()  # before a page is opened
            pages = [_read_page(pdf, number) for number in range(len(pdf))]
            bookmarks = [*_bookmarks(pdf)]
            unread = [*_unread_pages(pages), *_unread_parts(pdf)]
            title = _title(pdf, pages[0].text if pages else "")
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _WRONG_PASSWORD:
            raise InputFileError("it is encrypted; save it without a password") from None
        raise InputFileError("it is broken, or not a PDF; save it again") from None
    texts = [page.text for page in pages]
    if not any(text.strip() for text in texts):
        raise InputFileError("its pages have no text, as if scanned; run text recognition on it")
    starts = [*_starts(texts)]
    text = BETWEEN.join(texts)
    outline = tuple(_outline(bookmarks, text, starts))
    found = DocumentText(
        text=text,
        page_starts=tuple(starts),
        outline=outline,
        unread=tuple(unread),
        title=title,
    )
    return found, ""


@dataclass(frozen=True, slots=True)
class _Page:
    """The text of a page with what lies over it, and what is ``unread`` of it."""

    text: str
    unread: tuple[str, ...]


def _read_page(pdf: Any, number: int) -> _Page:
    with closing(pdf[number]) as page, closing(page.get_textpage()) as texts:
        drawn = _order(page, texts)
        if drawn is None:
            drawn = _HYPHEN.sub(_join_word, texts.get_text_bounded())
        text = normalize(drawn).strip("\n")
        overlay = read_overlay(page)
        unread = _judge_pictures(page, texts, text)
    # As a list, since no value continues the sentence of another one.
    listed = "\n".join(f"- {line}" for line in overlay.lines)
    parts = filter(None, (text, listed))
    seen = (unread, *(f"has {what}" for what in overlay.unread))
    return _Page("\n\n".join(parts), tuple(filter(None, seen)))


def _join_word(match: re.Match[str]) -> str:
    """Return the end of a line and the beginning of the next one without the hyphen in between.

    The hyphen stays before anything but a small letter, as in ``Covid-19``: it is the word's own.
    """
    return match[1] if match[1].islower() else f"-{match[1]}"


def _order(page: Any, texts: Any) -> str | None:
    """Return the text of a page whose columns are drawn row by row, None for any other page.

    To ask where a word stands takes longer than to read it. So most pages are only sampled.
    """
    found = [*_LINE.finditer(texts.get_text_range())]
    lines = [[*_DRAWN_WORD.finditer(line[0])] for line in found]
    starts = [line.start() for line in found]
    boxes = _Boxes(texts, page.get_bbox())
    for place in range(0, len(lines), SAMPLED):
        line = [*boxes.words(lines[place], starts[place])]
        after = lines[place + 1 : place + 2]
        ends = [(one[0], one[-1]) for one in after if one]
        following = [*boxes.words(ends[0], starts[place + 1])] if ends else []
        if line and may_have_columns(line, following):
            every = zip(lines, starts, strict=True)
            return order_columns([word for one, at in every for word in boxes.words(one, at)])
    return None


class _Boxes:
    """Where the words of a page stand. It asks for two letters of each word, not for all."""

    def __init__(self, texts: Any, bounds: tuple[float, float, float, float]) -> None:
        from pypdfium2 import raw

        self._chars, self._bounds = texts.raw, bounds
        self._index_of, self._read_box = (
            raw.FPDFText_GetCharIndexFromTextIndex,
            raw.FPDFText_GetLooseCharBox,
        )
        self._first, self._last = raw.FS_RECTF(), raw.FS_RECTF()

    def words(self, matches: Iterable[re.Match[str]], start: int) -> Iterator[Word]:
        """Yield words that stand within the page, from places after ``start`` in its text."""
        chars, first, last = self._chars, self._first, self._last
        left, bottom, right, top = self._bounds
        for match in matches:
            begin = self._index_of(chars, start + match.start())
            end = self._index_of(chars, start + match.end() - 1)
            if not (self._read_box(chars, begin, first) and self._read_box(chars, end, last)):
                continue
            word = Word(
                text=_MARK.sub("-", match[0]),
                left=min(first.left, last.left),
                right=max(first.right, last.right),
                bottom=min(first.bottom, last.bottom),
                top=max(first.top, last.top),
            )
            across, up = (word.left + word.right) / 2, (word.bottom + word.top) / 2
            if word.height > 0 and left <= across <= right and bottom <= up <= top:
                yield word


def _judge_pictures(page: Any, texts: Any, text: str) -> str:
    """Return what to say of a page whose words may be in its pictures, empty if there is nothing.

    Text over a scan, as text recognition writes it, stands in for the picture below.
    """
    from pypdfium2 import raw

    wanted = [raw.FPDF_PAGEOBJ_IMAGE, *([] if text else [raw.FPDF_PAGEOBJ_PATH])]
    objects = page.get_objects(filter=wanted)
    left, bottom, right, top = page.get_bbox()
    pictures: list[tuple[float, float, float, float]] = []
    covered, paths = 0.0, 0
    whole = max((right - left) * (top - bottom), 1.0)
    for one, _ in zip(objects, range(MOST_OBJECTS), strict=False):
        if one.type == raw.FPDF_PAGEOBJ_PATH:
            paths += 1
            continue
        a, b, c, d = _bounds(one)
        box = max(a, left), max(b, bottom), min(c, right), min(d, top)
        area = max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
        if area > 0:
            pictures.append(box)
            covered += area / whole
    if _count_letters(text) < FEW_LETTERS:
        if covered >= ANY_PICTURE:
            return SCAN
        return DRAWING if paths >= MANY_PATHS else ""
    if covered < MOSTLY_PICTURE:
        return ""
    over = sum(
        _count_letters(texts.get_text_bounded(left=a, bottom=b, right=c, top=d))
        for a, b, c, d in pictures
    )
    return IN_PART if over < FEW_LETTERS else ""


def _bounds(one: Any) -> tuple[float, float, float, float]:
    """Return the box of an object on its page, also of one within a form that is placed there."""
    left, bottom, right, top = one.get_bounds()
    form = one.container
    while form is not None:
        matrix = form.get_matrix()
        corners = [matrix.on_point(x, y) for x in (left, right) for y in (bottom, top)]
        left, right = min(x for x, _ in corners), max(x for x, _ in corners)
        bottom, top = min(y for _, y in corners), max(y for _, y in corners)
        form = form.container
    return left, bottom, right, top


def _count_letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _unread_pages(pages: Sequence[_Page]) -> Iterator[str]:
    """Yield what is not read, each with the pages it is on: ``pages 2 to 4 are pictures``."""
    by_kind: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(pages, start=1):
        for what in page.unread:
            by_kind[what].append(number)
    for what, numbers in by_kind.items():
        if len(numbers) == 1:
            yield f"page {numbers[0]} {what}"
        else:
            yield f"pages {list_pages(numbers)} {MANY.get(what, what.replace('has ', 'have ', 1))}"


def list_pages(numbers: Sequence[int]) -> str:
    """Return page numbers, which ascend, with stretches of them shortened: ``2, 5 to 9``."""
    stretches: list[list[int]] = []
    for number in numbers:
        if stretches and number == stretches[-1][-1] + 1:
            stretches[-1].append(number)
        else:
            stretches.append([number])
    parts: list[str] = []
    for stretch in stretches:
        if len(stretch) > 2:
            parts.append(f"{stretch[0]} to {stretch[-1]}")
        else:
            parts += map(str, stretch)
    return ", ".join(parts)


def _unread_parts(pdf: Any) -> Iterator[str]:
    """Yield what is not read and is on no page."""
    from pypdfium2 import raw

    if pdf.get_formtype() == raw.FORMTYPE_XFA_FULL:
        yield "the fields of its XFA form"
    count = pdf.count_attachments()
    for place in range(min(count, MOST_FILES)):
        name = " ".join(normalize(pdf.get_attachment(place).get_name()).split())[:LONGEST_TITLE]
        yield f"the attached file {name}" if name else "an attached file"
    if count > MOST_FILES:
        yield f"{count - MOST_FILES:,} more attached files"


def _title(pdf: Any, page: str) -> str:
    """Return the title in the properties of a PDF if its first page has it, else nothing.

    Programs also write names of files and templates there, which no page has.
    """
    title = " ".join(normalize(pdf.get_metadata_value("Title")).split())[:LONGEST_TITLE]
    return title if title.casefold() in " ".join(page.split()).casefold() else ""


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
