"""The lease of a graph: one job at a time may build a generation of it.

A lease runs out unless its holder renews it, so a dead holder blocks nobody for long. Whoever
takes it over gives up what the holder before was building, in the same transaction: a holder
that wakes up late finds its generation abandoned and can no longer write. Expiry is judged by
the server's clock alone.
"""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import (
    BusyError,
    DatabaseError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    LeaseLostError,
    PGSError,
)

RENEWALS = 3  # within the time of a lease, so that two of them may fail
FIRST_POLL_S, LONGEST_POLL_S = 0.2, 2.0
RETRY_S = 1.0  # after a renewal that failed
RELEASE_S = 5.0


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease that is held. ``fence`` grows by one with each new holder of the graph."""

    graph: str
    holder: str
    fence: int


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lease; times are ISO 8601 in UTC by the server's clock."""

    holder: str
    fence: int
    acquired_at: str
    expires_at: str


@asynccontextmanager
async def held(
    db: Database,
    graph: str,
    *,
    seconds: float,
    wait_s: float = 0.0,
    on_wait: Callable[[str], None] | None = None,
) -> AsyncIterator[Lease]:
    """Hold the lease of a graph, renewed all the while, and give it back at the end.

    Waits up to ``wait_s`` for another holder, telling ``on_wait`` once who that is; then raises
    BusyError. When the lease is lost the body is cancelled and LeaseLostError is raised, or
    DatabaseUnavailableError where it could not be renewed; the body's own errors and a
    cancellation from outside come out as they are. Needs the schema in
    place. Raises DatabaseError when there is no graph of that name.
    """
    lease = await _acquired(db, graph, _name(), seconds, wait_s, on_wait)
    lost: list[PGSError] = []
    ended = asyncio.Event()
    try:
        # A timeout that never ends by itself is a scope that can be cancelled from another
        # task without taking a cancellation from outside for its own.
        async with asyncio.timeout(None) as scope:
            beat = asyncio.create_task(_keep(db, lease, seconds, scope, lost, ended))
            try:
                yield lease
            finally:
                # Told, not cancelled: in the middle of a statement that would cost the connection.
                ended.set()
    except TimeoutError:
        if not scope.expired():
            raise
        raise lost[0] from None
    finally:
        await to_the_end(_end(db, lease, beat, release=not lost))


async def holder(db: Database, graph: str) -> Holder | None:
    """Who holds the lease of a graph now; None when it is free or has run out."""
    rows = await db.read(queries.get("database/read_leases"), graph=graph)
    return Holder(**rows[0]) if rows else None


def given_up(graph: str) -> LeaseLostError:
    """What is raised when a generation cannot be written any more."""
    return LeaseLostError(
        f"the generation of graph {graph} that was being built was given up meanwhile: its lease "
        "ran out and somebody else took over, or the graph was removed; the generation before "
        "stays, so look at 'pgs jobs list' and try again"
    )


async def unreleased(db: Database, graph: str) -> bool:
    """Whether a holder has not given the lease back: it is at work, or it died."""
    return bool(await db.read(queries.get("database/read_unreleased"), graph=graph))


def _name() -> str:
    """Unique for each acquisition, and tells an operator where to look."""
    return f"{platform.node()[:100] or 'unknown host'}, pid {os.getpid()}, {secrets.token_hex(4)}"


async def _acquired(
    db: Database,
    graph: str,
    name: str,
    seconds: float,
    wait_s: float,
    on_wait: Callable[[str], None] | None,
) -> Lease:
    deadline = monotonic() + wait_s
    pause = FIRST_POLL_S
    told = False
    while True:
        found = await _try(db, graph, name, seconds)
        if isinstance(found, Lease):
            return found
        left = deadline - monotonic()
        if left <= 0:
            raise BusyError(
                f"{_busy(graph, found)}; try again when that job has ended, or after "
                f"{_clock(found.expires_at)}, when its lease runs out unless it is renewed"
            )
        if not told and on_wait is not None:
            on_wait(f"{_busy(graph, found)}; waiting for up to {left:.0f} s")
        told = True
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 1.6, LONGEST_POLL_S)


async def _try(db: Database, graph: str, name: str, seconds: float) -> Lease | Holder:
    """Ours now, or who holds it."""
    try:
        rows = await db.write(
            queries.get("database/merge_leases"), graph=graph, holder=name, seconds=float(seconds)
        )
    except (asyncio.CancelledError, DatabaseTimeoutError, DatabaseUnavailableError):
        # It may be ours without our having heard of it.
        await to_the_end(_release(db, graph, name))
        raise
    if not rows:
        raise DatabaseError(f"graph {graph} was removed meanwhile; add it again to go on")
    row = rows[0]
    if row["taken"]:
        return Lease(graph, name, row["fence"])
    return Holder(row["holder"], row["fence"], row["acquired_at"], row["expires_at"])


async def _keep(
    db: Database,
    lease: Lease,
    seconds: float,
    scope: asyncio.Timeout,
    lost: list[PGSError],
    ended: asyncio.Event,
) -> None:
    """Renew until the body ended; when that fails before, say why and end the body."""
    error = await _renewed_until_lost(db, lease, seconds, ended)
    if error is not None and not ended.is_set():
        lost.append(error)
        scope.reschedule(asyncio.get_running_loop().time())


async def _renewed_until_lost(
    db: Database, lease: Lease, seconds: float, ended: asyncio.Event
) -> PGSError | None:
    interval = seconds / RENEWALS
    known = monotonic()
    pause = interval
    while not await happens(ended, pause):
        asked = monotonic()
        left = known + seconds - asked
        try:
            # One whole try even when the time is over: a process that was stopped, with or
            # without its clock, asks the database whether somebody has taken over.
            async with asyncio.timeout(min(interval, left) if left > 0 else interval):
                rows = await db.write(
                    queries.get("database/set_lease_expiries"),
                    graph=lease.graph,
                    holder=lease.holder,
                    fence=lease.fence,
                    seconds=float(seconds),
                )
        except (PGSError, TimeoutError):
            if monotonic() - known >= seconds:
                return DatabaseUnavailableError(
                    f"Neo4j at {db.uri} could not be reached for {seconds:.0f} s, in which the "
                    f"lease of graph {lease.graph} ran out; run the job again when it can"
                )
            pause = min(RETRY_S, interval / 4)
            continue
        if not rows:
            return LeaseLostError(
                f"somebody else took over the lease of graph {lease.graph} while this job stood "
                "still; what it was building is given up, so see 'pgs jobs list'"
            )
        known, pause = asked, interval
    return None


async def happens(event: asyncio.Event, within_s: float) -> bool:
    """Whether an event is set before the time is over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await event.wait()
    return event.is_set()


async def _end(db: Database, lease: Lease, beat: asyncio.Task[None], *, release: bool) -> None:
    await asyncio.wait({beat}, timeout=RELEASE_S)
    beat.cancel()
    if release:
        await _release(db, lease.graph, lease.holder)


async def _release(db: Database, graph: str, name: str) -> None:
    with suppress(PGSError, TimeoutError):
        async with asyncio.timeout(RELEASE_S):
            await db.write(queries.get("database/set_free_leases"), graph=graph, holder=name)


def _busy(graph: str, found: Holder) -> str:
    return (
        f"graph {graph} is being partitioned by another job ({found.holder}) "
        f"since {_clock(found.acquired_at)}"
    )


def _clock(at: str) -> str:
    return f"{at[:19].replace('T', ' ')} UTC"
