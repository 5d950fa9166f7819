"""Runs blocking work for asynchronous callers: in a thread, with cancellation, events, and locks.

The locks work across processes, and waiting for a lock can be canceled.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pgs_neo4j.database.local.options import missing_extra
from pgs_neo4j.errors import LocalServerError
from pgs_neo4j.events import Event, OnEvent

try:
    import filelock
except ImportError as error:
    raise missing_extra(error) from error

POLL_S = 0.25

Result = TypeVar("Result")


async def in_thread(work: Callable[[threading.Event], Result]) -> Result:
    """Run ``work`` in a thread and return its result.

    ``work`` gets an event, which is set when the caller is canceled. The caller then waits until
    ``work`` has released its locks and ended its processes.
    """
    cancelled = threading.Event()
    task = asyncio.create_task(asyncio.to_thread(work, cancelled))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # Retrieve it, so that asyncio does not report it as lost.
        raise


def deliver_events(on_event: OnEvent | None) -> OnEvent:
    """Return a callback for other threads that calls ``on_event`` in the event loop's thread."""
    if on_event is None:
        return _ignore_event
    loop = asyncio.get_running_loop()

    def deliver(event: Event) -> None:
        loop.call_soon_threadsafe(on_event, event)

    return deliver


def _ignore_event(event: Event) -> None:
    del event


@contextmanager
def hold_lock(
    path: Path, what: str, cancelled: threading.Event, timeout_s: float = 1800.0
) -> Iterator[None]:
    """Hold a lock file, which the system releases if the process dies.

    ``what`` completes the sentence "another process has been …". Raises LocalServerError if the
    wait takes longer than ``timeout_s`` seconds or ``cancelled`` is set.
    """
    lock = filelock.FileLock(path)
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            lock.acquire(timeout=POLL_S)
            break
        except filelock.Timeout as error:
            if time.monotonic() > deadline:
                raise LocalServerError(
                    f"another process has been {what} for {timeout_s:.0f} s; "
                    "wait for it, or end it and try again"
                ) from error
            raise_if_cancelled(cancelled, what)
        except OSError as error:
            raise LocalServerError(
                f"the lock file {path} cannot be used ({error.strerror}); "
                "check the folder's rights and free space"
            ) from error
    try:
        yield
    finally:
        lock.release()


def raise_if_cancelled(cancelled: threading.Event, what: str) -> None:
    """Raise LocalServerError if the caller has canceled the work."""
    if cancelled.is_set():
        raise LocalServerError(f"interrupted while {what}; run the command again to continue")
