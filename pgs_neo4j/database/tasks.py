"""Runs work concurrently, finishes cleanup despite cancellation, and paces polls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Iterator
from typing import TypeVar, overload

Result = TypeVar("Result")
Other = TypeVar("Other")

GROWTH, LONGEST_S = 1.6, 2.0


async def to_the_end(work: Coroutine[object, None, Result]) -> Result:
    """Await cleanup of limited duration. If canceled, finish the cleanup first and then raise."""
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        retrieve_exception(task)
        raise asyncio.CancelledError
    return task.result()


def retrieve_exception(done: asyncio.Future[Result]) -> None:
    """Retrieve an unread exception, so that asyncio does not warn about it."""
    if not done.cancelled():
        done.exception()


@overload
async def together(
    first: Awaitable[Result], second: Awaitable[Other], /
) -> tuple[Result, Other]: ...


@overload
async def together(*works: Awaitable[Result]) -> tuple[Result, ...]: ...


async def together(*works: Awaitable[object]) -> tuple[object, ...]:
    """Await all works concurrently and return their results in order.

    The first exception cancels the other works and is raised unchanged.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return tuple(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def poll_pauses(first_s: float) -> Iterator[float]:
    """Yield the pauses between polls without end, in seconds.

    The pauses grow from ``first_s`` to ``LONGEST_S``.
    """
    pause = first_s
    while True:
        yield pause
        pause = min(pause * GROWTH, LONGEST_S)
