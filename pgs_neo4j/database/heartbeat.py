"""Gives signs of life during work, and ends it if they fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import PGSError

SILENT_S = 35.0  # without a sign of life from a run: its process is gone

Beat = Callable[[], Awaitable[float]]
"""Gives one sign of life, and returns the seconds until the next one.

A PGSError that it raises ends the work.
"""


@asynccontextmanager
async def keep_beating(beat: Beat, *, first_s: float, close_s: float) -> AsyncIterator[None]:
    """Call ``beat`` while the body runs, first after ``first_s`` seconds.

    When it raises a PGSError, the body is canceled and that error is raised. The body's own errors
    and a cancellation from outside are raised unchanged. At the end, a running beat has ``close_s``
    seconds to finish.
    """
    ended = asyncio.Event()
    try:
        # A timeout that never ends by itself is a scope that another task can cancel, without
        # mistaking a cancellation from outside for its own.
        async with asyncio.timeout(None) as scope:
            beating = asyncio.create_task(_beat_until(ended, beat, first_s, scope))
            try:
                yield
            finally:
                # Asked to end, not canceled: canceling a statement would close the connection.
                ended.set()
    except TimeoutError:
        error = beating.result() if scope.expired() and beating.done() else None
        if error is None:
            raise
        raise error from None
    finally:
        await to_the_end(_end(beating, close_s))


async def _beat_until(
    ended: asyncio.Event, beat: Beat, first_s: float, scope: asyncio.Timeout
) -> PGSError | None:
    """Beat until the body ends; return the error that ended it."""
    pause = first_s
    while not await _is_set_within(ended, pause):
        try:
            pause = await beat()
        except PGSError as error:
            if ended.is_set():
                return None
            scope.reschedule(asyncio.get_running_loop().time())
            return error
    return None


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def _end(beating: asyncio.Task[PGSError | None], close_s: float) -> None:
    await asyncio.wait({beating}, timeout=close_s)
    beating.cancel()
