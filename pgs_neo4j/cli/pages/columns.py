"""Lays cells out in columns, so that words stay whole where they can. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len, chop_cells

# A name such as `email.header` that is longer than a line is broken after its marks.
_PIECE = re.compile(r"[^\s._/:,;-]*[._/:,;-]*")
SHORT = 16  # columns that a short cell keeps to itself, if there is room


def column_widths(cells: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return a width per column of ``cells``, given column by column; all fit into ``room``.

    The longest piece of a word comes first, then cells of up to SHORT columns on one line, then
    whole words. What is left goes to the columns with longer texts.
    """
    least = [
        max((cell_len(piece) for text in texts for piece in _PIECE.findall(text)), default=1) or 1
        for texts in cells
    ]
    most = [max((cell_len(text) for text in texts), default=1) or 1 for texts in cells]
    words = [
        max((cell_len(word) for text in texts for word in text.split()), default=1)
        for texts in cells
    ]
    widths = _level(least, max(room, len(cells)))
    whole = [max(low, min(high, SHORT)) for low, high in zip(least, most, strict=True)]
    for wanted in (whole, words, most):
        widths = _widen(widths, wanted, room - sum(widths))
    return widths


def wrap_cell(text: str, width: int) -> str:
    """Return a text in lines of at most ``width`` columns."""
    lines = [""]
    for word in text.split():
        gap = " " if lines[-1] else ""
        if cell_len(lines[-1]) + len(gap) + cell_len(word) <= width:
            lines[-1] += gap + word
            continue
        lines.append("")
        for piece in _PIECE.findall(word):
            if cell_len(lines[-1]) + cell_len(piece) <= width:
                lines[-1] += piece
            else:
                lines += chop_cells(piece, width)
    return "\n".join(line for line in lines if line)


def _widen(widths: Sequence[int], wanted: Sequence[int], spare: int) -> list[int]:
    """Share ``spare`` columns among those that are narrower than wanted."""
    lacking = [max(0, most - width) for most, width in zip(wanted, widths, strict=True)]
    total = sum(lacking)
    if total <= spare:
        return [width + less for width, less in zip(widths, lacking, strict=True)]
    return [w + max(0, spare) * less // total for w, less in zip(widths, lacking, strict=True)]


def _level(widths: Sequence[int], room: int) -> list[int]:
    """Cut the widest to one level until all fit into ``room``."""
    level = max(widths, default=1)
    while level > 1 and sum(min(width, level) for width in widths) > room:
        level -= 1
    return [min(width, level) for width in widths]
