"""What the runs and the jobs of a server share: a caller, a limit on the cost, and an event log."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import TypeVar

from pgs_neo4j.engine.live_work import LiveBoard, LiveWork
from pgs_neo4j.errors import PGSError
from pgs_neo4j.events import Event, TextStreamed
from pgs_neo4j.text.shown import one_line
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.failures import FAULT, failure_of
from pgs_neo4j.web.runs.events import EventLog
from pgs_neo4j.web.runs.served_data import told_data

logger = logging.getLogger(__name__)
End = tuple[str, Mapping[str, object]]
"""The final state, which is also the name of the last event, and the data of that event."""


@dataclass(slots=True, eq=False)
class ServedWork(LiveWork):
    """A run or a job. ``most_cost`` is what it may cost, known for callers with a daily limit."""

    caller: Caller
    state: str = field(default="running", kw_only=True)
    most_cost: float = field(default=0.0, kw_only=True)
    log: EventLog = field(default_factory=EventLog, kw_only=True, repr=False)

    def shown(self) -> Mapping[str, object]:
        """Return the fields that identify it in its events."""
        return {"run": self.id}

    def hear(self, event: Event) -> None:
        """Take an event of the engine."""
        if isinstance(event, TextStreamed):
            self.log.add_text(event.text)
        else:
            self.log.add(event.kind, told_data(event, self.id))

    async def carry_out(self, steps: Callable[[], Awaitable[End]]) -> None:
        """Do the work, and note how it ends. Raises a fault again after logging it."""
        try:
            state, data = await steps()
        except PGSError as error:
            logger.warning("%s failed: %s", self.title, one_line(str(error)))
            self.end("failed", failure_of(error).model_dump())
        except Exception as error:
            logger.exception("%s failed unexpectedly", self.title)
            self.end("failed", FAULT.model_dump())
            raise error from None
        else:
            self.end(state, data)

    def end(self, state: str, data: Mapping[str, object]) -> None:
        """Note the end, and log it as the last event."""
        self.state, self.ended_at = state, monotonic()
        self.log.add(state, {**data, **self.shown()})
        self.log.end()

    def close(self) -> None:
        """Note that it was canceled: every other end is noted by ``carry_out``."""
        self.end("cancelled", {})


ServedT = TypeVar("ServedT", bound=ServedWork)


@dataclass(slots=True, kw_only=True)
class ServedBoard(LiveBoard[ServedT]):
    """The runs or the jobs of a server."""

    def held_costs(self, caller: Caller) -> dict[object, float]:
        """Return the most that each piece of a caller's work in progress may cost."""
        return {work: work.most_cost for work in self.active() if work.caller.is_same(caller)}

    async def stop(self) -> list[ServedT]:
        """Cancel all work, whose records stay, and end all streams."""
        for work in self.active():
            work.log.add("stopping", work.shown())
        late = await LiveBoard.stop(self)
        for work in late:
            work.log.end()
        return late
