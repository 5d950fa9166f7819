"""Runs work to its end even if its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Await cleanup of bounded duration; a cancellation is raised afterwards."""
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
    """Retrieve an exception that has no other reader, or asyncio would warn."""
    if not done.cancelled():
        done.exception()
