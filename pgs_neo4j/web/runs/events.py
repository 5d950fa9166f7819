"""The events of a run: kept for those who listen or come back, and streamed to them.

Of a run that another process carries out, snapshots of its record are streamed.
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
"""Seconds for which pieces of text are joined: at most 20 events a second."""
MOST_ID = 2**53 - 1
"""The largest id; programs in JavaScript know no larger whole numbers."""
MOST_ENTRIES = 5000
"""Events kept of a run; a reader that missed an older one gets a snapshot."""
FINAL = MOST_ID
"""The id of a snapshot that nothing follows; no log has one as high."""
LOOK_S = 3.0
"""Seconds between two looks at the record of a run."""
logger = logging.getLogger(__name__)
Snapshot = Callable[[], Awaitable[Json]]
Drop = Callable[[], Awaitable[None]]
"""Drops the events that may quote what was deleted."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event: ids count up without gaps, from 1 unless the run was resumed."""

    id: int
    name: str
    data: str


class MissedEventsError(Exception):
    """Events that a reader has not seen are no longer kept."""


@dataclass(slots=True)
class EventLog:
    """The events of a run. It grows until it is ended, and any number may read it.

    A reader holds nothing but its place, so a slow one costs nothing. The ids up to ``start`` are
    those of earlier logs of the run, so that a reader of these is known to have missed something.
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
        """The id of the oldest event that is kept; one more than the last without any."""
        return self.last - len(self.entries) + 1

    def add(self, name: str, data: Mapping[str, object]) -> None:
        """Add an event, after the text that is still being joined."""
        self._flush()
        self._append(name, data)

    def add_text(self, text: str) -> None:
        """Add a piece of text, joined with those that come soon."""
        self._text.append(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TEXT_S, self._flush)

    def end(self) -> None:
        """Let readers end when they have read everything."""
        self._flush()
        self.ended = True
        self._wake()

    def drop(self) -> None:
        """Keep none of the events so far; their readers have missed them."""
        self._flush()
        self.entries.clear()

    async def after(self, place: int) -> AsyncIterator[LoggedEvent]:
        """Yield the events after an id, those to come included.

        Raises MissedEventsError if one of them is no longer kept.
        """
        while True:
            grown = self._grown
            while place < self.last:  # without a copy, which would hold events for a slow reader
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
        """Return the log of a run that is resumed, whose ids are above all that it ever had.

        Without the ``former`` log, which an earlier server kept, they begin at the time in
        milliseconds. No run has that many events.
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

    ``stopped`` ends it earlier, when the server stops. So does a database that is away: its reader
    comes back, and hears why.
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
    """Return a snapshot as JSON; None if it cannot be read, which is logged."""
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
    """Ends streams whose reader has gone, which FastAPI would report as faults of the server."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; raises all but that nobody reads the answer any more."""
        try:
            await self.app(scope, receive, send)
        except* anyio.BrokenResourceError:
            pass
