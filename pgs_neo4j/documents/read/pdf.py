"""Reads PDF: the text, form values, and remarks of each page, and the titles of its outline.

A page with pictures and little text may show many words that cannot be read. These pages are
reported, and so are other parts without text.
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
"""Separates pages."""
FEW_LETTERS = 20
"""Minimum letters and digits that count as text. Fewer are a page number, or a scanner's mark."""
ANY_PICTURE, MOSTLY_PICTURE = 0.02, 0.5
"""Shares of a page that pictures cover. Below the first share, pictures are ornaments. From the
second share on, they may be a scan, unless text covers them."""
MANY_PATHS = 20
"""Minimum number of paths that may be letters drawn as outlines. Fewer paths are frames and
lines."""
MOST_OBJECTS = 20_000
"""Maximum objects of a page to examine."""
SAMPLED = FEWEST_LINES - 1
"""One in this number of lines is checked for columns, so every column has a checked line."""
MOST_FILES = 20
"""Maximum number of attached files to name."""
SCAN, DRAWING, IN_PART = "is a picture", "is drawn without text", "is mostly a picture"
MANY = {
    SCAN: "are pictures",
    DRAWING: "are drawn without text",
    IN_PART: "are mostly pictures",
}
"""The phrases for several pages."""

_HYPHEN = re.compile("[\ufffe\x02](?:\r?\n)?(.?)")
"""PDFium's mark for a word that is divided at a line's end, and the first character of the next
line."""
_WORD = re.compile(r"\S+")
_LINE = re.compile(r"[^\r\n]+")
_MARK = re.compile("[\ufffe\x02]")
_DRAWN_WORD = re.compile("[^\\s\ufffe\x02]+[\ufffe\x02]?")
_WRONG_PASSWORD = 4  # PDFium's error code


def read_pdf(data: bytes) -> tuple[DocumentText, str]:
    """Return the text of a PDF with its pages, and an empty note. Raises InputFileError."""
    try:
        import pypdfium2
    except ImportError as error:
        raise missing_extra(error, "reading PDF") from None
    try:
        with closing(pypdfium2.PdfDocument(data)) as pdf:
            if pdf.get_formtype() != pypdfium2.raw.FORMTYPE_NONE:
                pdf.init_forms()  # PDFium needs this before a page is opened.
            pages = [_read_page(pdf, number) for number in range(len(pdf))]
            bookmarks = [*_read_bookmarks(pdf)]
            unread = [*_describe_unread_pages(pages), *_describe_unread_parts(pdf)]
            title = _read_title(pdf, pages[0].text if pages else "")
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _WRONG_PASSWORD:
            raise InputFileError("it is encrypted; save it without a password") from None
        raise InputFileError("it is broken, or not a PDF; save it again") from None
    texts = [page.text for page in pages]
    if not any(text.strip() for text in texts):
        raise InputFileError("its pages have no text, as if scanned; run text recognition on it")
    starts = [*_page_starts(texts)]
    text = BETWEEN.join(texts)
    outline = tuple(_make_outline(bookmarks, text, starts))
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
    """The text of a page with its form values and remarks, and phrases for its unread parts."""

    text: str
    unread: tuple[str, ...]


def _read_page(pdf: Any, number: int) -> _Page:
    with closing(pdf[number]) as page, closing(page.get_textpage()) as texts:
        drawn = _read_columns(page, texts)
        if drawn is None:
            drawn = _HYPHEN.sub(_join_word, texts.get_text_bounded())
        text = normalize(drawn).strip("\n")
        overlay = read_overlay(page)
        unread = _judge_pictures(page, texts, text)
    # The lines become a list, because no value continues the sentence of another value.
    listed = "\n".join(f"- {line}" for line in overlay.lines)
    parts = filter(None, (text, listed))
    seen = (unread, *(f"has {what}" for what in overlay.unread))
    return _Page("\n\n".join(parts), tuple(filter(None, seen)))


def _join_word(match: re.Match[str]) -> str:
    """Return the first character of the next line, joined to the divided word.

    Before any character except a lower-case letter, the hyphen is a part of the word and stays, as
    in ``Covid-19``.
    """
    return match[1] if match[1].islower() else f"-{match[1]}"


def _read_columns(page: Any, texts: Any) -> str | None:
    """Return the text of a page whose columns are drawn row by row, None for any other page.

    Finding the position of a word takes longer than reading the word. So on most pages, only some
    lines are checked.
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
    """Finds the boxes of a page's words by the first and the last letter of each word."""

    def __init__(self, texts: Any, bounds: tuple[float, float, float, float]) -> None:
        from pypdfium2 import raw

        self._chars, self._bounds = texts.raw, bounds
        self._index_of, self._read_box = (
            raw.FPDFText_GetCharIndexFromTextIndex,
            raw.FPDFText_GetLooseCharBox,
        )
        self._first, self._last = raw.FS_RECTF(), raw.FS_RECTF()

    def words(self, matches: Iterable[re.Match[str]], start: int) -> Iterator[Word]:
        """Yield the matched words that are inside the page.

        The positions of ``matches`` are relative to ``start`` in the page's text.
        """
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
    """Return a phrase for a page with possible words in its pictures, empty for other pages.

    A scan that is covered by text gets no phrase, because text recognition has already written its
    words.
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
    """Return the box of an object on its page, even if the object is inside a form XObject."""
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


def _describe_unread_pages(pages: Sequence[_Page]) -> Iterator[str]:
    """Yield a phrase for each kind of unread part with its pages: ``pages 2 to 4 are pictures``."""
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
    """Return ascending page numbers as text, with ranges shortened: ``2, 5 to 9``."""
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


def _describe_unread_parts(pdf: Any) -> Iterator[str]:
    """Yield phrases for the unread parts that do not belong to a page."""
    from pypdfium2 import raw

    if pdf.get_formtype() == raw.FORMTYPE_XFA_FULL:
        yield "the fields of its XFA form"
    count = pdf.count_attachments()
    for place in range(min(count, MOST_FILES)):
        name = " ".join(normalize(pdf.get_attachment(place).get_name()).split())[:LONGEST_TITLE]
        yield f"the attached file {name}" if name else "an attached file"
    if count > MOST_FILES:
        yield f"{count - MOST_FILES:,} more attached files"


def _read_title(pdf: Any, page: str) -> str:
    """Return the title in the properties of a PDF if its first page shows this title, otherwise "".

    Some programs write the name of a file or template there, which no page shows.
    """
    title = " ".join(normalize(pdf.get_metadata_value("Title")).split())[:LONGEST_TITLE]
    return title if title.casefold() in " ".join(page.split()).casefold() else ""


def _page_starts(pages: Iterable[str]) -> Iterator[int]:
    at = 0
    for page in pages:
        yield at
        at += len(page) + len(BETWEEN)


def _read_bookmarks(pdf: Any) -> Iterator[tuple[int, str, int]]:
    """Yield the level, title, and page index of each bookmark that leads to a page."""
    for bookmark, _ in zip(pdf.get_toc(), range(MOST_TITLES), strict=False):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        title = " ".join(normalize(bookmark.get_title()).split())[:LONGEST_TITLE]
        if title and index is not None and 0 <= index < len(pdf):
            yield bookmark.level + 1, title, index


def _make_outline(
    bookmarks: Iterable[tuple[int, str, int]], text: str, starts: list[int]
) -> Iterator[OutlineEntry]:
    """Yield the bookmarks with the positions of their titles on the page, in order of position.

    If the page does not show a title, the position is the beginning of the page.
    """
    entries: list[OutlineEntry] = []
    last = 0
    for level, title, index in bookmarks:
        begin = max(starts[index], last)
        end = starts[index + 1] if index + 1 < len(starts) else len(text)
        last = _find_words(title, text, begin, end)
        entries.append(OutlineEntry(last, level, title))
    yield from sorted(entries, key=lambda entry: entry.start)


def _find_words(title: str, text: str, begin: int, end: int) -> int:
    """Return the position of a title's words in ``text[begin:end]``, by default ``begin``."""
    words = title.casefold().split()
    places = [(word[0].casefold(), word.start()) for word in _WORD.finditer(text, begin, end)]
    for first in range(len(places) - len(words) + 1):
        if [word for word, _ in places[first : first + len(words)]] == words:
            return places[first][1]
    return begin
