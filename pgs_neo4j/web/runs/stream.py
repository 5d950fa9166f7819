"""The events of a run as a stream of server-sent events."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import anyio
from fastapi.sse import ServerSentEvent
from starlette.types import ASGIApp, Receive, Scope, Send

from pgs_neo4j.errors import PGSError
from pgs_neo4j.text.json_data import Json, json_text
from pgs_neo4j.text.shown import one_line
from pgs_neo4j.web.runs.log import MOST_ID, EventLog, MissedEventsError

FINAL = MOST_ID
"""The id of a snapshot that nothing follows; no log has one as high."""

logger = logging.getLogger(__name__)

Snapshot = Callable[[], Awaitable[Json]]
Drop = Callable[[], Awaitable[None]]
"""Drops the events that may quote what was deleted."""


def has_heard_all(log: EventLog | None, last_id: int | None) -> bool:
    """Return whether a reader has had the last event of what has ended; ``log`` is None elsewhere.

    Readers by the standard of HTML come back after every end, until they are answered with 204.
    """
    return last_id == (FINAL if log is None else log.last)


async def stream_events(
    log: EventLog | None, last_id: int | None, snapshot: Snapshot, drop: Drop | None = None
) -> AsyncIterator[ServerSentEvent]:
    """Yield the events after ``last_id`` without gap or repeat, those to come included.

    Where events are no longer kept, the run was resumed, or the server was restarted (no ``log``),
    a ``snapshot`` of what the database has takes their place. Without the database, the stream
    ends: its reader comes back with the last id, and hears why. ``drop`` is called first.
    """
    try:
        if drop is not None:
            await drop()
    except PGSError as error:
        _note_end(error)
        return
    place = last_id or 0
    if last_id is None and log is not None:
        place = log.start
    if log is None or place > log.last:
        place = log.last if log else 0
        text = await snapshot_text(snapshot)
        if text is None:
            return
        yield _event("snapshot", text, place)
    while log is not None:
        try:
            async for entry in log.after(place):
                place = entry.id
                yield _event(entry.name, entry.data, entry.id)
            return
        except MissedEventsError:
            place = log.last
            text = await snapshot_text(snapshot)
            if text is None:
                return
            yield _event("snapshot", text, place)


async def snapshot_text(snapshot: Snapshot) -> str | None:
    """Return a snapshot as JSON; None if it cannot be read, which the log of the server tells."""
    try:
        return json_text(await snapshot())
    except PGSError as error:
        _note_end(error)
        return None


@dataclass(frozen=True, slots=True)
class CutStreams:
    """Ends streams whose reader has gone, which FastAPI would report as faults of the server."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; raises all but that nobody reads the answer any more."""
        try:
            await self.app(scope, receive, send)
        except* anyio.BrokenResourceError:
            pass


def _note_end(error: PGSError) -> None:
    logger.warning("a stream ended: %s", one_line(str(error)))


def _event(name: str, data: str, number: int) -> ServerSentEvent:
    return ServerSentEvent(raw_data=data, event=name, id=str(number))
