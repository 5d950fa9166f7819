"""Runs blocking work for asynchronous callers, with cancellation and events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from pgs_neo4j.events import Event, OnEvent

Result = TypeVar("Result")


async def in_thread(work: Callable[[threading.Event], Result]) -> Result:
    """Run ``work`` in a thread; a cancellation sets its event.

    A cancelled caller returns only after the work has released its locks and processes.
    """
    cancelled = threading.Event()
    task = asyncio.create_task(asyncio.to_thread(work, cancelled))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # Retrieved here, or asyncio would report it as lost.
        raise


def deliver_events(on_event: OnEvent | None) -> OnEvent:
    """Return a callback for other threads.

    It calls ``on_event`` in the loop's thread.
    """
    if on_event is None:
        return _drop
    loop = asyncio.get_running_loop()

    def deliver(event: Event) -> None:
        loop.call_soon_threadsafe(on_event, event)

    return deliver


def _drop(event: Event) -> None:
    del event
