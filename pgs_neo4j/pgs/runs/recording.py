"""Keeps the record of a run open while the run works, and closes it however the run ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.fence import forget_ended
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import DeadlineError, PGSError, QueryError, StoppedError
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.ledger import Ledger, Spent, Total
from pgs_neo4j.llm.calls.queue import deadline_passed
from pgs_neo4j.pgs.runs import runs
from pgs_neo4j.pgs.runs.runs import Handle
from pgs_neo4j.telemetry.logs import log_ids

CLOSE_TIMEOUT_S = 10.0  # maximum time to close a record
# Maximum time to close a record after the deadline of the run. It must be closed even then: a run
# whose record stays open seems to be running, so nobody can resume it at once.
LATE_CLOSE_S = 3.0


@dataclass(slots=True)
class Recording:
    """The open record of a run.

    ``before`` is what a resumed run had spent before. The ``ledger`` of its calls is written to the
    record. Only ``finish`` and ``fail`` end the record, and only the first of them takes effect.
    """

    db: Database
    handle: Handle
    ledger: Ledger
    before: Spent = field(default_factory=Spent)
    ended: bool = False

    @classmethod
    def of(
        cls,
        db: Database,
        handle: Handle,
        calls: Calls,
        before: Spent,
        today: Mapping[str, Spent],
    ) -> Recording:
        """Return the record of a run, and let the ledger record each later call before it is sent.

        ``before`` is what a resumed run has spent so far, and ``today`` is the part of it on the
        current day, with that day as the key.
        """
        ledger = calls.ledger
        ledger.begin(lambda: before + calls.spent(), partial(runs.record_total, db, handle), today)
        return cls(db, handle, ledger, before)

    async def finish(self, properties: Row, sweeps: Sequence[str] = ()) -> None:
        """End the record with an answer.

        ``sweeps`` are the ids of the sweeps that the answer used. Raises RunLostError when another
        process has taken the run over.
        """
        total = self.ledger.total()
        if not await runs.finish(self.db, self.handle, properties, sweeps, total=total):
            raise runs.run_lost_error()
        self.ended = True

    async def fail(self, error: BaseException) -> None:
        """End the record with an error, unless the run has ended already."""
        if self.ended:
            return
        self.ended = True
        properties = {
            "status": _final_status(error),
            "error": str(error) if isinstance(error, PGSError) else type(error).__name__,
        }
        late = isinstance(error, DeadlineError)
        if not await self._close(properties, late=late, total=self.ledger.total()):
            # Neo4j may refuse a value. Then store only the status and the error's type, so that the
            # run does not stay "running".
            status = {"status": properties["status"], "error": type(error).__name__}
            await self._close(status, late=late)

    async def _close(self, properties: Row, *, late: bool, total: Total | None = None) -> bool:
        """Write the end of the run; return False if Neo4j refuses these properties.

        The result is also True if the database cannot be reached.
        """
        # If the database cannot be reached, the run's own error already says so.
        with suppress(PGSError, TimeoutError):
            try:
                async with asyncio.timeout(LATE_CLOSE_S if late else CLOSE_TIMEOUT_S):
                    await runs.finish(self.db, self.handle, properties, total=total)
            except QueryError:
                return False
        return True


class HasRecording(Protocol):
    """An object that has the record of a run."""

    @property
    def recording(self) -> Recording: ...


R = TypeVar("R", bound=HasRecording)


@asynccontextmanager
async def hold_record(
    begin: Callable[[], Awaitable[R]], end: float | None, on_begin: Callable[[str], None]
) -> AsyncIterator[R]:
    """Keep the record that ``begin`` returns open, and close it when the body ends.

    The closed record says how the run ended and what it cost. ``on_begin`` is called with the run's
    id, and log records of the body get that id. Raises DeadlineError at ``end``, by the clock of
    the event loop, shortly after the calls of the run are canceled.
    """
    held: R | None = None
    try:
        async with asyncio.timeout_at(end) as limit:
            held = await begin()
            handle = held.recording.handle
            with log_ids(run=handle.id):
                on_begin(handle.id)
                async with runs.stay_alive(held.recording.db, handle):
                    yield held
    except TimeoutError:
        error = deadline_passed() if limit.expired() else None
        if held is not None:
            await to_the_end(held.recording.fail(error or TimeoutError()))
        if error is None:
            raise
        raise error from None
    except BaseException as error:
        # Shielded, so that even the record of a canceled run is closed before its caller continues.
        if held is not None:
            await to_the_end(held.recording.fail(error))
        raise
    finally:
        if held is not None:
            await to_the_end(_forget_deletions(held.recording.db))


async def _forget_deletions(db: Database) -> None:
    """Delete search terms of finished deletions, which were kept for this run's writes."""
    if db.fence is not None and db.fence.moved:
        with suppress(PGSError, TimeoutError):
            async with asyncio.timeout(LATE_CLOSE_S):
                await forget_ended(db)


def _final_status(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "interrupted"
    return "stopped" if isinstance(error, StoppedError) else "failed"
