"""Reading in portions: sizes that are kept, order, and what happens on failure."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from pgs_neo4j.database.portions import Recent, in_order, portions


def test_portions_cover_everything_once_and_keep_both_bounds_if_an_entry_does() -> None:
    sizes = np.random.default_rng(1).integers(0, 900, 5000)
    slices = list(portions(sizes, most_nodes=70, most_size=10_000))
    places = np.concatenate([np.arange(part.start, part.stop) for part in slices])
    assert places.tolist() == list(range(5000))
    assert all(part.stop - part.start <= 70 for part in slices)
    assert all(sizes[part].sum() <= 10_000 for part in slices)
    slices = list(portions(np.array([5, 5000, 5, 5]), most_nodes=10, most_size=100))
    assert [(part.start, part.stop) for part in slices] == [(0, 1), (1, 2), (2, 4)]
    slices = list(portions(np.ones(5, dtype=np.int64), most_nodes=2, most_size=100))
    assert [(part.start, part.stop) for part in slices] == [(0, 2), (2, 4), (4, 5)]
    assert list(portions(np.zeros(0, dtype=np.int64))) == []


async def test_results_come_in_order_with_few_under_way() -> None:
    under_way, most, seen = 0, 0, []

    async def read(number: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.002 * (number % 3))
        under_way -= 1
        return number

    async def use(number: int) -> None:
        seen.append(number)

    await in_order((read(number) for number in range(20)), use, ahead=3)
    assert seen == list(range(20))
    assert most == 3


async def test_the_first_failure_ends_the_others() -> None:
    cancelled = []

    async def read(number: int) -> int:
        if number == 1:
            raise ValueError("one")
        try:
            await asyncio.sleep(60 if number else 0)
        except asyncio.CancelledError:
            cancelled.append(number)
            raise
        return number

    async def use(number: int) -> None:
        assert number == 0

    with pytest.raises(ValueError, match="one"):
        await in_order((read(number) for number in range(9)), use, ahead=3)
    assert cancelled == [2]


def test_the_value_that_was_used_longest_ago_is_forgotten() -> None:
    recent: Recent[int] = Recent(2)
    recent.keep("a", 1)
    recent.keep("b", 2)
    assert recent.find("a") == 1
    recent.keep("c", 3)
    recent.keep("c", 4)
    assert recent.find("b") is None
    assert recent.find("a") == 1
    assert recent.find("c") == 4
