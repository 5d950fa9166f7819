"""Leases graphs: only the holder may build a generation.

A lease expires unless its holder renews it, so a dead holder blocks other jobs only briefly. A job
that takes over a lease also abandons the generation that the previous holder was building, in the
same transaction. A holder that wakes up late finds its generation abandoned and can no longer
write. Only the server's clock decides when a lease expires.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import TypedDict, cast

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.holder import Holder, keep_beating
from pgs_neo4j.database.tasks import poll_pauses, to_the_end
from pgs_neo4j.errors import (
    BusyError,
    DatabaseError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    LeaseLostError,
    PGSError,
)

LONGEST_S = 3600.0  # A lease that expires later than that was set by a wrong clock.
RENEWALS = 3  # Renewals within the duration of a lease, so that two may fail.
FIRST_POLL_S = 0.2
RETRY_S = 1.0  # Pause after a failed renewal.
RELEASE_S = 5.0


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease of this process; each holder of a graph increments ``fence``."""

    graph: str
    holder: str
    fence: int


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """The holder of a lease. Times are ISO 8601 in UTC, from the server's clock."""

    holder: str
    fence: int
    acquired_at: str
    expires_at: str


class LeaseRow(TypedDict):
    """A row of ``database/merge_leases``. ``taken`` is true if this process got the lease."""

    taken: bool
    holder: str
    fence: int
    acquired_at: str
    expires_at: str
    abandoned: int


@asynccontextmanager
async def hold_lease(
    db: Database,
    graph: str,
    *,
    seconds: float,
    wait_s: float = 0.0,
    on_wait: Callable[[str], None] | None = None,
) -> AsyncIterator[Lease]:
    """Hold and renew the lease of a graph while the body runs.

    If another process holds the lease, reports that process to ``on_wait`` once, waits up to
    ``wait_s`` seconds, and then raises BusyError. The lease is released at the end. If the lease is
    lost, the body is canceled, and LeaseLostError is raised, or DatabaseUnavailableError if the
    server could not be reached for a renewal. The body's own errors and a cancellation from outside
    pass unchanged. The schema must exist. Raises DatabaseError when there is no graph of that name.
    """
    # Leases contain no text, and a deletion must not prevent a renewal or a release.
    db = db.unfenced()
    lease = await _acquire(db, graph, str(Holder.unique()), seconds, wait_s, on_wait)
    renewal = _Renewal(db, lease, seconds, renewed_at=monotonic())
    try:
        async with keep_beating(renewal.beat, first_s=seconds / RENEWALS, close_s=RELEASE_S):
            yield lease
    finally:
        if not renewal.lost:
            await to_the_end(_release(db, lease.graph, lease.holder))


async def take_away(db: Database, graph: str) -> LeaseHolder | None:
    """Take the lease away from its holder and return that holder; None if the lease was free.

    Afterwards, this holder can write nothing, and its unfinished generation is abandoned.
    """
    rows = await db.write(queries.get("database/release_leases"), graph=graph)
    if not rows:
        return None
    row = rows[0]
    return LeaseHolder(row["holder"], row["fence"], row["acquired_at"], row["expires_at"])


def generation_lost(graph: str) -> LeaseLostError:
    """Return the error for a generation that was abandoned during its build."""
    return LeaseLostError(
        f"the new generation of graph {graph} was abandoned, and the current one stays: another "
        "job took over after the lease expired, or the graph was removed; look at 'pgs jobs list' "
        "and try again"
    )


async def is_unreleased(db: Database, graph: str) -> bool:
    """Return whether the lease still has a holder, alive or dead."""
    return bool(await db.read(queries.get("database/read_unreleased"), graph=graph))


async def _acquire(
    db: Database,
    graph: str,
    holder: str,
    seconds: float,
    wait_s: float,
    on_wait: Callable[[str], None] | None,
) -> Lease:
    deadline = monotonic() + wait_s
    pauses = poll_pauses(FIRST_POLL_S)
    reported = False
    while True:
        taken = await _try_to_take(db, graph, holder, seconds)
        if isinstance(taken, Lease):
            return taken
        left = deadline - monotonic()
        if left <= 0:
            raise BusyError(
                f"{_describe_holder(graph, taken)}; try again when that job has ended, or after "
                f"{_format_time(taken.expires_at)}, when its lease expires unless it is renewed; "
                f"'pgs jobs release {graph}' ends its lease now"
            )
        if not reported and on_wait is not None:
            on_wait(f"{_describe_holder(graph, taken)}; waiting for up to {left:.0f} s")
        reported = True
        await asyncio.sleep(min(next(pauses), left))


async def _try_to_take(
    db: Database, graph: str, holder: str, seconds: float
) -> Lease | LeaseHolder:
    """Return the lease, or its current holder."""
    try:
        rows = await db.write(
            queries.get("database/merge_leases"),
            graph=graph,
            holder=holder,
            seconds=float(seconds),
            longest=LONGEST_S,
        )
    except (asyncio.CancelledError, DatabaseTimeoutError, DatabaseUnavailableError):
        # The server may have granted the lease even though its answer was lost.
        await to_the_end(_release(db, graph, holder))
        raise
    if not rows:
        raise DatabaseError(
            f"graph {graph} was removed while its lease was awaited; add the graph again"
        )
    row = cast(LeaseRow, rows[0])
    if row["taken"]:
        return Lease(graph, holder, row["fence"])
    return LeaseHolder(row["holder"], row["fence"], row["acquired_at"], row["expires_at"])


@dataclass(slots=True)
class _Renewal:
    """Renews one lease. Only ``beat`` changes the state. ``renewed_at`` is monotonic time."""

    db: Database
    lease: Lease
    seconds: float
    renewed_at: float
    lost: bool = False

    async def beat(self) -> float:
        """Renew the lease; return the seconds until the next renewal.

        Raises LeaseLostError and DatabaseUnavailableError once the lease is lost.
        """
        interval, asked_at = self.seconds / RENEWALS, monotonic()
        left = self.renewed_at + self.seconds - asked_at
        try:
            # There is one full attempt even after the lease has expired. A process that was
            # suspended must ask the database whether another job has taken over, since the clock of
            # this process may also have been suspended.
            async with asyncio.timeout(min(interval, left) if left > 0 else interval):
                renewed = await self._renew()
        except (PGSError, TimeoutError):
            if monotonic() - self.renewed_at < self.seconds:
                return min(RETRY_S, interval / 4)
            self.lost = True
            raise DatabaseUnavailableError(
                f"Neo4j at {self.db.uri} could not be reached for {self.seconds:.0f} s, so the "
                f"lease of graph {self.lease.graph} expired; run the job again when Neo4j answers"
            ) from None
        if not renewed:
            self.lost = True
            raise LeaseLostError(
                f"another job took over the lease of graph {self.lease.graph}, or someone released "
                "it, so the new generation was discarded; see 'pgs jobs list'"
            )
        self.renewed_at = asked_at
        return interval

    async def _renew(self) -> bool:
        rows = await self.db.write(
            queries.get("database/set_lease_expiries"),
            graph=self.lease.graph,
            holder=self.lease.holder,
            fence=self.lease.fence,
            seconds=float(self.seconds),
        )
        return bool(rows)


async def _release(db: Database, graph: str, holder: str) -> None:
    with suppress(PGSError, TimeoutError):
        async with asyncio.timeout(RELEASE_S):
            await db.write(queries.get("database/set_free_leases"), graph=graph, holder=holder)


def _describe_holder(graph: str, holder: LeaseHolder) -> str:
    return (
        f"graph {graph} is being partitioned by another job ({holder.holder}) "
        f"since {_format_time(holder.acquired_at)}"
    )


def _format_time(at: str) -> str:
    return f"{at[:19].replace('T', ' ')} UTC"
