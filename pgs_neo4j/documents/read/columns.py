"""Puts columns that were drawn row by row into reading order. Pure.

A PDF says where letters are on a page, not in which order to read them. Most programs draw one
column after the other. But some programs draw the page row by row, and then the text joins halves
of unrelated sentences. Tables are also drawn row by row, and must stay in that order. So only
columns of running text are separated.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median

GAP = 0.75
"""The gap between two words above which they belong to different pieces, as a share of their
height."""
SAME_LINE = 0.5
"""Minimum vertical overlap of two words on the same line, as a share of the lower height."""
FEWEST_LINES = 4
"""Minimum number of lines in a column."""
MOST_PIECES = 3000
"""Number of pieces of lines above which a page keeps the order of drawing. Only dense tables have
so many pieces."""
WORDS_OF_TEXT, LETTERS_OF_TEXT = 3, 8
"""Minimum median of words per line in running text, or of letters per line in scripts without
case."""
FULL, MOSTLY_FULL = 0.7, 0.5
"""A line is full if it has at least this share of the widest line's width, and in running text at
least this share of lines is full."""
CONTINUING = 0.3
"""Minimum share of lines in running text that begin in lower case. Cells of tables rarely do."""
HYPHENS = "-\u2010\u00ad"
"""Characters that may divide a word at the end of a line."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its box in the units of the page, with ``left < right`` and ``bottom < top``."""

    text: str
    left: float
    right: float
    bottom: float
    top: float

    @property
    def height(self) -> float:
        """The height of the box."""
        return self.top - self.bottom


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A line or a part of it between wide gaps, with its words in the order of drawing."""

    words: tuple[Word, ...]
    left: float
    right: float
    middle: float

    @classmethod
    def of(cls, words: Sequence[Word]) -> _Piece:
        """Return the piece that some words form."""
        middle = (min(word.bottom for word in words) + max(word.top for word in words)) / 2
        left, right = min(word.left for word in words), max(word.right for word in words)
        return cls(tuple(words), left, right, middle)

    @property
    def text(self) -> str:
        """The words of the piece, joined with spaces."""
        return " ".join(word.text for word in self.words)


_Columns = list[list[_Piece]]
"""Columns in reading order, each from top to bottom."""


def order_columns(words: Sequence[Word]) -> str | None:
    """Return the text of a page in reading order if its columns are drawn row by row.

    ``words`` are in the order of drawing. Returns None if there are no columns drawn row by row.
    Then the order of drawing is the best guess, and it keeps tables intact.
    """
    pieces = [_Piece.of(line) for line in _divide(words)]
    if not 2 * FEWEST_LINES <= len(pieces) <= MOST_PIECES:
        return None
    bands = _find_bands(pieces)
    if not bands:
        return None
    band_of = {
        piece: number
        for number, columns in enumerate(bands)
        for column in columns
        for piece in column
    }
    blocks: list[str] = []
    for number, drawn in groupby(pieces, key=lambda piece: band_of.get(piece, -1)):
        if number < 0:
            blocks.append("\n".join(_join_drawn([*drawn])))
        elif bands[number]:
            blocks += (join_lines(_sort_lines(column)) for column in bands[number])
            bands[number] = []
    return "\n".join(blocks)


def may_have_columns(line: Sequence[Word], following: Sequence[Word]) -> bool:
    """Return whether a line may belong to columns.

    It may if a wide gap divides the line, or if the next line is beside it. ``following`` has the
    first and the last word of the next line.
    """
    pieces = [_Piece.of(part) for part in _divide(line)]
    if len(pieces) != 1 or not following:
        return len(pieces) > 1
    beside = _Piece.of(following)
    return beside.left > pieces[0].right or beside.right < pieces[0].left


def join_lines(lines: Iterable[str]) -> str:
    """Return lines as one text, and join words that were divided at the end of a line.

    Before a capital or a digit, the hyphen is a part of the word and stays.
    """
    text = ""
    for line in lines:
        if text[-1:] in HYPHENS and text[-2:-1].isalpha() and line[:1].isalnum():
            text = (text[:-1] if line[:1].islower() else text) + line
        else:
            text = f"{text}\n{line}" if text else line
    return text


def _divide(words: Iterable[Word]) -> Iterator[list[Word]]:
    """Yield the words of each piece. A piece is a line or a part of it between wide gaps."""
    line: list[Word] = []
    for word in words:
        if line and not _follows(line[-1], word):
            yield line
            line = []
        line.append(word)
    if line:
        yield line


def _follows(before: Word, word: Word) -> bool:
    """Return whether two words are side by side, for either direction of the script."""
    gap = max(word.left - before.right, before.left - word.right)
    return gap <= GAP * max(before.height, word.height) and _on_one_line(before, word)


def _on_one_line(one: Word, other: Word) -> bool:
    overlap = min(one.top, other.top) - max(one.bottom, other.bottom)
    return overlap > SAME_LINE * min(one.height, other.height)


def _find_bands(pieces: Sequence[_Piece]) -> list[_Columns]:
    """Return the bands of a page with columns, for the gutter with the most pieces beside it.

    A gutter is the space between two columns. A band is a part of the page's height in which the
    same columns are side by side.
    """
    best: list[_Columns] = []
    most = 0
    for gutter in _find_gutters(pieces):
        bands = [*_find_bands_at(gutter, pieces)]
        count = sum(len(column) for band in bands for column in band)
        if count > most:
            best, most = bands, count
    return best


def _find_gutters(pieces: Sequence[_Piece]) -> Iterator[float]:
    """Yield horizontal positions at which enough lines begin or end, from left to right."""
    slack = median(piece.words[0].height for piece in pieces) / 10
    edges = [(piece.left, -slack) for piece in pieces] + [(piece.right, slack) for piece in pieces]
    places: list[float] = []
    for side in (-slack, slack):
        own = sorted(edge for edge, kind in edges if kind == side)
        for first, last in zip(own, own[FEWEST_LINES - 1 :], strict=False):
            if last - first <= 2 * slack:
                places.append((first if side < 0 else last) + side)
    near = None
    for place in sorted(places):
        if near is None or place - near > slack:
            near = place
            yield place


def _find_bands_at(gutter: float, pieces: Sequence[_Piece]) -> Iterator[_Columns]:
    """Yield the columns of each band; a line that crosses the gutter ends the band."""
    drawn = {piece: place for place, piece in enumerate(pieces)}
    band: list[_Piece] = []
    for piece in [*sorted(pieces, key=lambda one: -one.middle), None]:
        if piece is not None and not piece.left < gutter < piece.right:
            band.append(piece)
            continue
        if columns := _find_columns_at(gutter, sorted(band, key=drawn.__getitem__)):
            yield columns
        band = []


def _find_columns_at(gutter: float, band: Sequence[_Piece]) -> _Columns | None:
    """Return a band's columns if they are running text drawn row by row, else None."""
    on_left = [piece.right <= gutter for piece in band]
    left = [piece for piece, side in zip(band, on_left, strict=True) if side]
    right = [piece for piece, side in zip(band, on_left, strict=True) if not side]
    fewer = min(len(left), len(right))
    if fewer < FEWEST_LINES or not _stand_side_by_side(left, right):
        return None
    changes = sum(one != other for one, other in pairwise(on_left))
    if changes < fewer:
        return None
    columns = [*_find_columns_beside(left), *_find_columns_beside(right)]
    if not all(map(_is_running_text, columns)):
        return None
    return columns[::-1] if _runs_to_the_left(band) else columns


def _find_columns_beside(side: list[_Piece]) -> _Columns:
    """Return the columns on one side of a gutter; further gutters may divide this side."""
    bands = _find_bands(side)
    whole = len(bands) == 1 and sum(map(len, bands[0])) == len(side)
    return bands[0] if whole else [sorted(side, key=lambda piece: -piece.middle)]


def _stand_side_by_side(left: Sequence[_Piece], right: Sequence[_Piece]) -> bool:
    """Return whether the overlap of two columns is more than half the height of the shorter one."""
    tops = [max(piece.middle for piece in side) for side in (left, right)]
    ends = [min(piece.middle for piece in side) for side in (left, right)]
    lower = min(top - end for top, end in zip(tops, ends, strict=True))
    return min(tops) - max(ends) > lower / 2


def _is_running_text(column: Sequence[_Piece]) -> bool:
    """Return whether a column's lines are full and continue each other, unlike table cells."""
    lines = [*_sort_lines(column)]
    if len(lines) < FEWEST_LINES:
        return False
    widths = [piece.right - piece.left for piece in column]
    full = sum(width >= FULL * max(widths) for width in widths)
    has_case = any(letter.isupper() or letter.islower() for line in lines for letter in line)
    if has_case:
        long = median(len(line.split()) for line in lines) >= WORDS_OF_TEXT
        continuing = sum(line[:1].islower() for line in lines[1:])
        continues = continuing >= CONTINUING * (len(lines) - 1)
    else:
        long = median(len(line) for line in lines) >= LETTERS_OF_TEXT
        continues = True
    return full >= MOSTLY_FULL * len(widths) and long and continues


def _sort_lines(column: Sequence[_Piece]) -> list[str]:
    """Return the lines of a column from top to bottom."""
    return [*_join_drawn(sorted(column, key=lambda piece: -piece.middle))]


def _join_drawn(pieces: Sequence[_Piece]) -> Iterator[str]:
    """Yield the text of lines; consecutive pieces on the same line are joined."""
    line, last = "", None
    for piece in pieces:
        word = piece.words[0]
        if last is not None and _on_one_line(last, word):
            line = f"{line} {piece.text}"
        else:
            if line:
                yield line
            line = piece.text
        last = word
    if line:
        yield line


def _runs_to_the_left(pieces: Iterable[_Piece]) -> bool:
    """Return whether most letters belong to a right-to-left script, such as Arabic."""
    letters = [
        unicodedata.bidirectional(letter)
        for piece in pieces
        for letter in piece.text
        if letter.isalpha()
    ]
    return 2 * sum(kind in ("R", "AL") for kind in letters) > len(letters)
