"""Shared by the runs and jobs of a server: their caller, cost limit, event log, and end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Literal, Protocol, TypeVar

from pgs_neo4j.engine.live_work import LiveBoard, LiveWork
from pgs_neo4j.errors import PGSError
from pgs_neo4j.events import Event, TextStreamed
from pgs_neo4j.text.shown import one_line
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.failures import FAULT, failure_of
from pgs_neo4j.web.runs.events import EventLog
from pgs_neo4j.web.runs.served_data import told_data

logger = logging.getLogger(__name__)
RunState = Literal["queued", "running", "answered", "failed", "cancelled"]
JobState = Literal["running", "ended", "failed", "cancelled"]
StateT = TypeVar("StateT", RunState, JobState)
End = tuple[StateT, Mapping[str, object]]
"""The final state, which is also the name of the last event, and the data of that event."""


class ServedWork(LiveWork, Protocol[StateT]):
    """A run or a job. ``most_cost`` is its maximum cost, known for callers with a daily limit."""

    caller: Caller
    state: StateT
    most_cost: float
    log: EventLog

    def shown(self) -> Mapping[str, object]:
        """Return the fields that identify the work in its events."""


ServedT = TypeVar("ServedT", bound=ServedWork[RunState] | ServedWork[JobState])


def hear_event(work: ServedWork[StateT], event: Event, *, run: str = "") -> None:
    """Add an event of the engine to the log; ``run`` is the id of a run, empty for a job."""
    if isinstance(event, TextStreamed):
        work.log.add_text(event.text)
    else:
        work.log.add(event.kind, told_data(event, run))


async def carry_out(work: ServedWork[StateT], steps: Callable[[], Awaitable[End[StateT]]]) -> None:
    """Do work, and record how it ends. Logs an unexpected error, and raises it again."""
    try:
        state, data = await steps()
    except PGSError as error:
        logger.warning("%s failed: %s", work.title, one_line(str(error)))
        end_work(work, "failed", failure_of(error).model_dump())
    except Exception as error:
        logger.exception("%s failed unexpectedly", work.title)
        end_work(work, "failed", FAULT.model_dump())
        raise error from None
    else:
        end_work(work, state, data)


def end_work(work: ServedWork[StateT], state: StateT, data: Mapping[str, object]) -> None:
    """Record the end of work, and add it to the log as the last event."""
    work.state, work.ended_at = state, monotonic()
    work.log.add(state, {**data, **work.shown()})
    work.log.end()


def held_costs(board: LiveBoard[ServedT], caller: Caller) -> dict[object, float]:
    """Return the maximum cost of each piece of a caller's work in progress."""
    return {work: work.most_cost for work in board.active() if work.caller.is_same(caller)}


async def stop_served(board: LiveBoard[ServedT]) -> None:
    """Cancel all work, and end all streams. Records of the work stay."""
    for work in board.active():
        work.log.add("stopping", work.shown())
    for work in await board.stop():
        work.log.end()
