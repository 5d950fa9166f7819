"""Reads much in portions: a few statements in flight, results used in order, memory bounded."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

IN_FLIGHT = 2  # the database works on one portion while we work on another
MOST_NODES = 20_000
MOST_CHARACTERS = 4_000_000
Result = TypeVar("Result")
Other = TypeVar("Other")


def portions(
    sizes: NDArray[np.int64], most_nodes: int = MOST_NODES, most_size: int = MOST_CHARACTERS
) -> Iterator[slice]:
    """Consecutive slices of at most so many entries and so much in total.

    A single entry that is larger gets a slice of its own.
    """
    total = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(total[start - 1]) if start else 0
        fitting = int(np.searchsorted(total, before + most_size, side="right"))
        stop = min(max(fitting, start + 1), start + most_nodes)
        yield slice(start, stop)
        start = stop


async def in_order(
    reads: Iterable[Coroutine[Any, Any, Result]],
    use: Callable[[Result], Awaitable[None]],
    ahead: int = IN_FLIGHT,
) -> None:
    """Use each result in the order of ``reads`` while up to ``ahead`` of them are under way.

    The first failure cancels the rest and is raised.
    """
    waiting: deque[asyncio.Task[Result]] = deque()
    try:
        for read in reads:
            waiting.append(asyncio.create_task(read))
            if len(waiting) >= ahead:
                await use(await waiting[0])
                waiting.popleft()
        while waiting:
            await use(await waiting[0])
            waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def together(
    first: Coroutine[Any, Any, Result], second: Coroutine[Any, Any, Other]
) -> tuple[Result, Other]:
    """Both results, awaited side by side; a failure cancels the other one and is raised."""
    tasks = asyncio.create_task(first), asyncio.create_task(second)
    try:
        one, two = await asyncio.gather(*tasks)
        return one, two
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
