"""Keeps the events of runs, and streams them to readers, also after a reconnection.

For a run in another process, snapshots of its record are streamed.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import time

import anyio
from fastapi.sse import ServerSentEvent
from starlette.types import ASGIApp, Receive, Scope, Send

from pgs_neo4j.errors import PGSError
from pgs_neo4j.text.json_data import Json, json_text
from pgs_neo4j.text.shown import one_line

TEXT_S = 0.05
"""Seconds for which pieces of text are joined, so at most 20 text events are sent per second."""
MOST_ID = 2**53 - 1
"""The largest id, because JavaScript cannot represent all larger whole numbers exactly."""
MOST_ENTRIES = 5000
"""Maximum events to keep for each run. A reader that has missed older events gets a snapshot."""
FINAL = MOST_ID
"""The id of the last snapshot of a run. No log reaches this id."""
LOOK_S = 3.0
"""Seconds between two reads of the record of a run."""
logger = logging.getLogger(__name__)
Snapshot = Callable[[], Awaitable[Json]]
Drop = Callable[[], Awaitable[None]]
"""Drops events that may quote deleted text."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event. Ids increase by 1, from 1 unless the run was resumed."""

    id: int
    name: str
    data: str


class MissedEventsError(Exception):
    """Events that the reader has not received are no longer kept."""


@dataclass(slots=True)
class EventLog:
    """The events of a run, for any number of readers. It grows until ``end`` is called.

    A reader is only a place in the log, so slow readers cost nothing. Ids up to ``start`` belong to
    earlier logs of the run, so a reader with an id below ``start`` has missed events.
    """

    start: int = 0
    entries: list[LoggedEvent] = field(default_factory=list, repr=False)
    last: int = field(init=False)
    ended: bool = False
    _grown: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    _text: list[str] = field(default_factory=list, repr=False)
    _timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.last = self.start

    @property
    def first(self) -> int:
        """The id of the oldest event that is kept; ``last + 1`` if there are none."""
        return self.last - len(self.entries) + 1

    def add(self, name: str, data: Mapping[str, object]) -> None:
        """Add an event, after any text that is waiting to be joined."""
        self._flush()
        self._append(name, data)

    def add_text(self, text: str) -> None:
        """Add a piece of text, which is joined with pieces that follow soon."""
        self._text.append(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TEXT_S, self._flush)

    def end(self) -> None:
        """End the log; readers stop when they have read everything."""
        self._flush()
        self.ended = True
        self._wake()

    def drop(self) -> None:
        """Drop all events so far; readers that have not received them get MissedEventsError."""
        self._flush()
        self.entries.clear()

    async def after(self, place: int) -> AsyncIterator[LoggedEvent]:
        """Yield the events after an id, and wait for new events until the log ends.

        Raises MissedEventsError if one of them is no longer kept.
        """
        while True:
            grown = self._grown
            while place < self.last:  # without a copy, which a slow reader would keep alive
                if place + 1 < self.first:
                    raise MissedEventsError
                entry = self.entries[place + 1 - self.first]
                place = entry.id
                yield entry
            if self.ended:
                return
            await grown.wait()

    @classmethod
    def following(cls, former: EventLog | None) -> EventLog:
        """Return the log of a resumed run, with ids above all earlier ids of the run.

        If the ``former`` log is unknown, because an earlier server kept it, ids begin at the
        current time in milliseconds. No run has that many events.
        """
        return cls(int(time() * 1000) if former is None else former.last)

    def _append(self, name: str, data: Mapping[str, object]) -> None:
        if self.ended:
            return
        self.last += 1
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
        self.entries.append(LoggedEvent(self.last, name, text))
        if len(self.entries) > MOST_ENTRIES:
            del self.entries[: MOST_ENTRIES // 10]
        self._wake()

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._text:
            text = "".join(self._text)
            self._text.clear()
            self._append("text_streamed", {"text": text})

    def _wake(self) -> None:
        self._grown.set()
        self._grown = asyncio.Event()


def has_received_all(log: EventLog | None, last_id: int | None) -> bool:
    """Return whether a reader has received the last event of an ended run or job.

    ``log`` is None if this process has no log of it. By the HTML standard, an EventSource
    reconnects whenever a stream ends, until it gets status 204.
    """
    return last_id == (FINAL if log is None else log.last)


async def stream_events(
    log: EventLog | None, last_id: int | None, snapshot: Snapshot, drop: Drop | None = None
) -> AsyncIterator[ServerSentEvent]:
    """Yield the events after ``last_id``, and new ones until the log ends, without gaps or repeats.

    A ``snapshot`` from the database replaces missing events: if they are no longer kept, if the run
    was resumed, or if the server was restarted (no ``log``). If the database is not available, the
    stream ends; its reader reconnects with the last id, and gets the error then. ``drop`` is called
    first.
    """
    try:
        if drop is not None:
            await drop()
    except PGSError as error:
        _log_end(error)
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


async def stream_snapshots(
    snapshot: Snapshot, stopped: asyncio.Event
) -> AsyncIterator[ServerSentEvent]:
    """Yield a ``snapshot`` whenever the record of a run has changed, until the run has ended.

    The stream also ends when the server stops (``stopped``), or when the database is not available.
    In the second case, the reader reconnects and gets the error then.
    """
    former = ""
    while not stopped.is_set():
        text = await snapshot_text(snapshot)
        if text is None:
            return
        ended = json.loads(text)["state"] != "running"
        if text != former:
            yield ServerSentEvent(raw_data=text, event="snapshot", id=str(FINAL if ended else 0))
        if ended:
            return
        former = text
        with suppress(TimeoutError):
            await asyncio.wait_for(stopped.wait(), LOOK_S)


async def snapshot_text(snapshot: Snapshot) -> str | None:
    """Return a snapshot as JSON; if it cannot be read, log the error and return None."""
    try:
        return json_text(await snapshot())
    except PGSError as error:
        _log_end(error)
        return None


def _log_end(error: PGSError) -> None:
    logger.warning("a stream ended: %s", one_line(str(error)))


def _event(name: str, data: str, number: int) -> ServerSentEvent:
    return ServerSentEvent(raw_data=data, event=name, id=str(number))


@dataclass(frozen=True, slots=True)
class CutStreams:
    """Ends streams whose reader has disconnected, without an error that FastAPI would log."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and suppress the error that the reader has disconnected."""
        try:
            await self.app(scope, receive, send)
        except* anyio.BrokenResourceError:
            pass
