"""What has to be done to its end, whoever gives up waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Result of cleaning up that is bounded in time; a cancellation is raised when it is done."""
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


def retrieve_exception(done: asyncio.Future[Any]) -> None:
    """Look at an exception that nobody may be left to ask for, lest asyncio warn of it."""
    if not done.cancelled():
        done.exception()
