"""Runs model calls in a sliding window, the longest first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def run_all(
    items: Sequence[Item],
    work: Callable[[Item], Awaitable[Result]],
    *,
    limit: int,
    length: Callable[[Item], float],
) -> list[Result]:
    """Results in the order of ``items``; at most ``limit`` at work, the longest begun first.

    A slot is refilled the moment it falls free. The first exception cancels the rest and is
    raised as it is; a failed sweep is a value and no exception.
    """
    queue = iter(sorted(range(len(items)), key=lambda i: (-length(items[i]), i)))
    results: dict[int, Result] = {}

    async def worker() -> None:
        for place in queue:
            results[place] = await work(items[place])

    tasks = [asyncio.create_task(worker()) for _ in range(min(limit, len(items)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [results[place] for place in range(len(items))]
