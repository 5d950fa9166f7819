"""Names the process that holds a lease, a run, or a job, and renews its sign of life."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import PGSError

MAX_MACHINE = 100
PLACE = (Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid"))
_FORM = re.compile(
    r"(?P<machine>.+), pid (?P<pid>[0-9]{1,10})(?: at (?P<place>[0-9a-f]{8}))?"
    r"(?:, (?P<token>[0-9a-f]{8}))?",
    re.DOTALL,
)

SILENT_S = 35.0  # Without a sign of life for this long, a run's process counts as gone.

Beat = Callable[[], Awaitable[float]]
"""Writes one sign of life and returns the seconds until the next one.

If it raises a PGSError, the work is canceled.
"""


@dataclass(frozen=True, slots=True)
class Holder:
    """One process on one machine; ``token`` distinguishes its leases, runs, and jobs.

    A process id is unique only within one boot of a machine and one container. ``place`` identifies
    the boot and the container, and is empty if they are unknown. The database stores the holder as
    text, such as ``worker, pid 4711 at 5e6f7a8b, 0a1b2c3d``.
    """

    machine: str
    pid: int
    token: str = ""
    place: str = ""

    @classmethod
    def of_this_process(cls) -> Holder:
        """Return this process, without a token."""
        return cls(this_machine(), os.getpid(), place=this_place())

    @classmethod
    def unique(cls) -> Holder:
        """Return this process with a token that no other holder has."""
        return cls(this_machine(), os.getpid(), secrets.token_hex(4), this_place())

    @classmethod
    def parse(cls, text: str) -> Holder | None:
        """Return the holder that a text names; None for any other text."""
        match = _FORM.fullmatch(text)
        if match is None:
            return None
        place = match["place"] or ""
        return cls(match["machine"], int(match["pid"]), match["token"] or "", place)

    def __str__(self) -> str:
        place = f" at {self.place}" if self.place else ""
        token = f", {self.token}" if self.token else ""
        return f"{self.machine}, pid {self.pid}{place}{token}"

    def has_ended(self) -> bool:
        """Return whether the holder was a process on this machine and place that has ended.

        Returns False for a process elsewhere, which is not visible from here, even if its host has
        the same name.
        """
        if (self.machine, self.place) != (this_machine(), this_place()):
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError):
            return False
        return False

    def is_this_process(self) -> bool:
        """Return whether the holder is the current process; False if the place is unknown."""
        own = (os.getpid(), this_machine(), this_place())
        return bool(self.place) and (self.pid, self.machine, self.place) == own


def this_machine() -> str:
    """Return the name of this machine, at most 100 characters."""
    return platform.node()[:MAX_MACHINE] or "unknown host"


@cache
def this_place() -> str:
    """Return a digest of this boot and this container; empty if they are unknown."""
    marks: list[str] = []
    with suppress(OSError):
        marks = [PLACE[0].read_text(encoding="ascii").strip(), str(PLACE[1].readlink())]
    return sha256("\n".join(marks).encode()).hexdigest()[:8] if marks else ""


@asynccontextmanager
async def keep_beating(beat: Beat, *, first_s: float, close_s: float) -> AsyncIterator[None]:
    """Call ``beat`` while the body runs, first after ``first_s`` seconds.

    If ``beat`` raises a PGSError, the body is canceled and that error is raised. The body's own
    errors and a cancellation from outside pass unchanged. At the end, a running ``beat`` has
    ``close_s`` seconds to finish.
    """
    ended = asyncio.Event()
    try:
        # A timeout without a deadline is a scope that another task can end. Unlike a bare
        # cancellation, it cannot be confused with a cancellation from outside.
        async with asyncio.timeout(None) as scope:
            beating = asyncio.create_task(_beat_until(ended, beat, first_s, scope))
            try:
                yield
            finally:
                # The event asks the task to end. Canceling the task instead would cancel its
                # statement, and that would close the connection.
                ended.set()
    except TimeoutError:
        error = beating.result() if scope.expired() and beating.done() else None
        if error is None:
            raise
        raise error from None
    finally:
        await to_the_end(_end_beats(beating, close_s))


async def _beat_until(
    ended: asyncio.Event, beat: Beat, first_s: float, scope: asyncio.Timeout
) -> PGSError | None:
    """Call ``beat`` until the body ends. If ``beat`` fails, end the body and return the error."""
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


async def _end_beats(beating: asyncio.Task[PGSError | None], close_s: float) -> None:
    await asyncio.wait({beating}, timeout=close_s)
    beating.cancel()
