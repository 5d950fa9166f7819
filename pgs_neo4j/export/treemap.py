"""Lays out a squarified treemap: nearly square rectangles that fill a frame.

Bruls, Huizing, van Wijk, "Squarified Treemaps", Data Visualization 2000.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle; ``x`` and ``y`` are its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height


NOTHING = Rect(0.0, 0.0, 0.0, 0.0)


def squarify(sizes: Sequence[float], width: float, height: float) -> tuple[Rect, ...]:
    """Return rectangles with areas proportional to the sizes, in input order.

    Together, the rectangles cover the frame. The largest is in the upper left, and among equal
    sizes the earlier is first, so the result is deterministic. A size that is not finite or not
    above 0 gets a rectangle of area 0.
    """
    finite = {i: float(s) for i, s in enumerate(sizes) if s > 0 and math.isfinite(s)}
    rects = [NOTHING] * len(sizes)
    if not finite or width <= 0 or height <= 0:
        return tuple(rects)
    largest = max(finite.values())
    total = sum(size / largest for size in finite.values())  # Dividing first avoids overflow.
    order = sorted(finite, key=lambda i: (-finite[i], i))
    areas = [finite[i] / largest / total * width * height for i in order]
    free = Rect(0.0, 0.0, width, height)
    begin = 0
    while begin < len(areas):
        end = _find_row_end(areas, begin, min(free.width, free.height))
        row, free = _place_row(areas[begin:end], free, last=end == len(areas))
        for i, rect in zip(order[begin:end], row, strict=True):
            rects[i] = rect
        begin = end
    return tuple(rects)


def _find_row_end(areas: Sequence[float], begin: int, side: float) -> int:
    """Return the end of the row that starts at ``begin``.

    The row ends before the first rectangle that would make the row's worst aspect ratio larger.
    """
    total, worst, end = 0.0, math.inf, begin
    while end < len(areas):
        grown = total + areas[end]
        ratio = _find_worst_ratio(areas[begin], areas[end], grown, side)
        if ratio > worst:
            break
        total, worst, end = grown, ratio, end + 1
    return max(end, begin + 1)


def _find_worst_ratio(largest: float, smallest: float, total: float, side: float) -> float:
    """Return the worst aspect ratio in a row with the area ``total``."""
    thickness = total / side if side > 0 else 0.0
    if thickness <= 0 or smallest <= 0:
        return math.inf
    return max(largest / thickness / thickness, thickness / smallest * thickness)


def _place_row(areas: Sequence[float], free: Rect, *, last: bool) -> tuple[list[Rect], Rect]:
    """Place a row along the shorter side of the free area.

    Returns the rectangles of the row, and the remaining free area.
    """
    upright = free.width >= free.height
    side, depth = (free.height, free.width) if upright else (free.width, free.height)
    total = sum(areas)
    # The last row, and the last cell of a row, fill the remaining space, so that rounding leaves no
    # gap.
    thickness = depth if last else min(total / side if side > 0 else 0.0, depth)
    rects: list[Rect] = []
    offset = 0.0
    for place, area in enumerate(areas):
        length = side * area / total if total > 0 else 0.0
        length = side - offset if place == len(areas) - 1 else min(length, side - offset)
        if upright:
            rects.append(Rect(free.x, free.y + offset, thickness, length))
        else:
            rects.append(Rect(free.x + offset, free.y, length, thickness))
        offset += length
    if upright:
        return rects, Rect(free.x + thickness, free.y, depth - thickness, free.height)
    return rects, Rect(free.x, free.y + thickness, free.width, depth - thickness)
