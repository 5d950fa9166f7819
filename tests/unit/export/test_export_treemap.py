"""A treemap fills its frame with areas in proportion, the same each time."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.export.treemap import NOTHING, Rect, squarify

SIZES = st.lists(st.integers(0, 10**7), max_size=60)
SIDES = st.integers(20, 2000)


def overlap(one: Rect, other: Rect) -> float:
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return max(across, 0.0) * max(down, 0.0)


@given(SIZES, SIDES, SIDES)
def test_rectangles_are_proportional_and_cover_the_frame_without_overlap(
    sizes: list[int], width: int, height: int
) -> None:
    rects = squarify(sizes, width, height)
    assert len(rects) == len(sizes)
    frame = width * height
    total = sum(sizes)
    for size, rect in zip(sizes, rects, strict=True):
        assert min(rect.x, rect.y, rect.width, rect.height) >= -1e-9
        assert rect.x + rect.width <= width * (1 + 1e-9)
        assert rect.y + rect.height <= height * (1 + 1e-9)
        assert rect.area == pytest.approx(frame * size / total if total else 0.0, abs=frame * 1e-9)
    assert sum(rect.area for rect in rects) == pytest.approx(frame if total else 0.0)
    assert sum(overlap(one, other) for one, other in combinations(rects, 2)) <= frame * 1e-7


def test_the_example_of_the_paper() -> None:
    rects = squarify([6, 6, 4, 3, 2, 2, 1], 6, 4)
    assert rects[0] == Rect(0.0, 0.0, 3.0, 2.0)
    assert rects[1] == Rect(0.0, 2.0, 3.0, 2.0)
    assert rects[2].width == pytest.approx(12 / 7)
    assert rects[3].width == pytest.approx(9 / 7)


def test_ties_go_by_place_and_the_order_is_that_of_the_input() -> None:
    small, *large = squarify([1, 8, 8], 10, 10)
    assert small.area < large[0].area
    assert (large[0].x, large[0].y) == (0.0, 0.0)
    assert large[1].y > 0


@pytest.mark.parametrize("sizes", [[], [0, 0], [-1], [math.nan], [math.inf]])
def test_what_has_no_size_gets_no_area(sizes: list[float]) -> None:
    assert squarify(sizes, 10, 10) == tuple(NOTHING for _ in sizes)


@pytest.mark.parametrize("frame", [(0, 10), (10, 0), (-5, 10)])
def test_a_frame_without_area_holds_nothing(frame: tuple[int, int]) -> None:
    assert squarify([1, 2], *frame) == (NOTHING, NOTHING)


def test_sizes_far_apart_stay_in_the_frame() -> None:
    rects = squarify([1e300, 1e-300, 5e-324, 1e308, 1], 100, 100)
    assert sum(rect.area for rect in rects) == pytest.approx(1e4)
    assert all(math.isfinite(rect.area) for rect in rects)
