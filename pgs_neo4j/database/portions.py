"""Reads large data with limited memory: in ordered portions, with a small cache of recent ones."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

IN_FLIGHT = 2  # The database works on one portion while this process works on another.
MOST_NODES = 20_000
MOST_CHARACTERS = 4_000_000

Result = TypeVar("Result")
T = TypeVar("T")


def portions(
    sizes: NDArray[np.int64], most_nodes: int = MOST_NODES, most_size: int = MOST_CHARACTERS
) -> Iterator[slice]:
    """Yield consecutive slices with limited numbers of entries and total sizes.

    ``sizes`` has the shape ``(n,)``. A slice has at most ``most_nodes`` entries and a total size of
    at most ``most_size``. A larger entry is a slice by itself.
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
    reads: Iterable[Coroutine[object, None, Result]],
    use: Callable[[Result], Awaitable[None]],
    ahead: int = IN_FLIGHT,
) -> None:
    """Pass the results of reads to ``use`` in order, with up to ``ahead`` reads in flight.

    Raises the first failure and cancels the remaining reads.
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


@dataclass(frozen=True, slots=True)
class Recent(Generic[T]):
    """The most recently used values, at most ``most``, by key."""

    most: int
    values: dict[str, T] = field(default_factory=dict)

    def find(self, key: str) -> T | None:
        """Return a value; None if it is not cached."""
        value = self.values.pop(key, None)
        if value is not None:
            self.values[key] = value  # Moves to the end, as the value used last.
        return value

    def keep(self, key: str, value: T) -> None:
        """Store a value, and drop the least recently used values above the limit."""
        self.values.pop(key, None)
        self.values[key] = value
        for oldest in list(self.values)[: -self.most]:
            del self.values[oldest]
