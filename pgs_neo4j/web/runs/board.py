"""The runs of this process: those in the queue, in progress, and just ended."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Literal

from pgs_neo4j.engine.metrics import RunMetrics
from pgs_neo4j.errors import BusyError, IdempotencyError, PGSError
from pgs_neo4j.events import Event, OnEvent, TextStreamed
from pgs_neo4j.model import Answer
from pgs_neo4j.telemetry.logs import log_ids
from pgs_neo4j.text.shown import counted, one_line
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.failures import FAULT, failure_of
from pgs_neo4j.web.runs.answering import Answering
from pgs_neo4j.web.runs.events import EventLog
from pgs_neo4j.web.runs.served_data import (
    ServedAccepted,
    ServedEnd,
    ServedQueued,
    ServedStop,
    answer_counts,
    told_data,
)

logger = logging.getLogger(__name__)

State = Literal["queued", "running", "answered", "failed", "cancelled"]
Work = Callable[[OnEvent], Awaitable[Answer]]
ReadToken = Callable[[], Awaitable[str | None]]
"""Reads the token of the last deletion; None while a deletion is in progress."""

KEEP_S = 900.0
"""Seconds for which the events of a run that ended are kept."""
MOST_ENDED = 200
MOST_WAITING, SHARE = 1000, 4
"""Runs that may wait at once, and which part of them may be of one caller."""
STOP_S = 2.5
STOPPING = "the server is stopping; ask again when it is back"


@dataclass(slots=True, eq=False)
class LiveRun:
    """A run of this process.

    ``key`` is the idempotency key of its request, if any, and ``asked`` the fields that distinguish
    the request from others. ``place`` is the place in the queue that was announced last.
    ``resumed``: it began earlier, here or elsewhere. ``most_cost`` is what it may cost, known for
    callers with a daily limit. ``token`` stands for the last deletion before the run read anything,
    None if it could not be read.
    """

    id: str
    caller: Caller
    graph: str
    session: str
    question: str
    key: str | None = None
    asked: object = None
    state: State = "queued"
    log: EventLog = field(default_factory=EventLog, repr=False)
    most_cost: float = 0.0
    token: str | None = None
    place: int = 0
    began_at: float | None = None
    ended_at: float | None = None
    resumed: bool = False
    task: asyncio.Task[None] | None = field(default=None, repr=False)
    turn: asyncio.Future[None] | None = field(default=None, repr=False)

    @property
    def active(self) -> bool:
        """Whether it waits or runs."""
        return self.ended_at is None

    def hear(self, event: Event) -> None:
        """Take an event of the engine."""
        if isinstance(event, TextStreamed):
            self.log.add_text(event.text)
        else:
            self.log.add(event.kind, told_data(event, self.id))

    def end(self, state: State, name: str, data: Mapping[str, object]) -> None:
        """Close the run with its last event."""
        self.state, self.ended_at = state, monotonic()
        self.log.add(name, {**data, "run": self.id})
        self.log.end()


@dataclass(slots=True)
class RunBoard:
    """Carries out runs, at most ``most`` at once; the others wait.

    Callers take turns, and the runs of each begin in their order: who asks a lot waits longer, and
    keeps nobody else out. A run begins after requests that wait for an answer; they take less
    time than it does.
    """

    most: int
    read_token: ReadToken = field(repr=False)
    live: dict[str, LiveRun] = field(default_factory=dict, repr=False)
    stopping: bool = False
    metrics: RunMetrics = field(default_factory=RunMetrics, repr=False)
    answering: Answering = field(default_factory=Answering, repr=False)
    _waiting: list[LiveRun] = field(default_factory=list, repr=False)
    _running: int = 0
    _turns: dict[tuple[bool, str], int] = field(default_factory=dict, repr=False)

    def counts(self, caller: Caller) -> tuple[int, int]:
        """Return how many runs on graphs of the caller are in progress, and in the queue."""
        waiting = sum(caller.sees(run.graph) for run in self._waiting)
        active = sum(run.active and caller.sees(run.graph) for run in self.live.values())
        return active - waiting, waiting

    def find(self, run_id: str, caller: Caller) -> LiveRun | None:
        """Return a run of this process that the caller may see; None for any other run.

        The database is then asked for another tenant's run as for a missing one: an immediate
        refusal would show by its speed that there is such a run.
        """
        run = self.live.get(run_id)
        if run is None or not caller.sees(run.graph) or caller.own_session(run.session) is None:
            return None
        return run

    async def drop_deleted(self, run: LiveRun) -> None:
        """Drop the events of a run if something was deleted since it began to read.

        They may quote what was deleted. The database knows what is left. Raises DatabaseError.
        """
        if run.began_at is None:
            return  # nothing was read
        token = await self.read_token()
        if token is None or token != run.token:
            run.log.drop()

    def repeated(self, run: LiveRun) -> LiveRun | None:
        """Return the run of this process with the same key, session, and graph, if any.

        Raises IdempotencyError if it is of another request.
        """
        if run.key is None:
            return None
        wanted = (run.graph, run.session, run.key)
        same = (one for one in self.live.values() if (one.graph, one.session, one.key) == wanted)
        former = next(same, None)
        if former is not None and former.asked != run.asked:
            raise IdempotencyError(
                f"the Idempotency-Key was used for run {former.id} with another request; choose "
                "another key, or repeat that request"
            )
        return former

    def held_costs(self, caller: Caller) -> dict[object, float]:
        """Return the most that each of the caller's runs in progress may cost."""
        own = (run for run in self.live.values() if run.active and run.caller.is_same(caller))
        return {run: run.most_cost for run in own}

    def start(self, run: LiveRun, work: Work) -> LiveRun:
        """Accept a run, before the database knows of it. Raises BusyError."""
        self._tidy()
        active = [one for one in self.live.values() if one.active]
        own = sum(one.caller.is_same(run.caller) for one in active)
        most = run.caller.runs_at_once
        if self.stopping:
            raise BusyError(STOPPING)
        if most is not None and own >= most:
            raise BusyError(
                f"{run.caller.name} has {counted(own, 'run')} in progress; wait until one ends"
            )
        if len(self._waiting) >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING:,} runs are waiting; try again later")
        waiting = sum(one.caller.is_same(run.caller) for one in self._waiting)
        if waiting >= max(MOST_WAITING // SHARE, 1):
            raise BusyError(
                f"{run.caller.name} has {counted(waiting, 'run')} waiting, which is the most for "
                "one caller; try again when some of them have ended"
            )
        former = self.live.get(run.id)
        if former is not None and former.active:
            raise BusyError(f"run {run.id} is in progress; follow its events")
        if run.resumed:
            run.log = EventLog.following(former.log if former else None)
        self.live[run.id] = run
        run.log.add("accepted", ServedAccepted(run=run.id, graph=run.graph, question=run.question))
        with log_ids(run=run.id):
            run.task = asyncio.create_task(self._carry_out(run, work))
            run.task.add_done_callback(partial(self._close, run))
        return run

    async def cancel(self, run: LiveRun) -> None:
        """Cancel a run, and return when it has ended. Ended runs stay as they are."""
        if run.task is not None and run.active:
            run.task.cancel()
            await asyncio.wait([run.task])

    async def stop(self) -> None:
        """Cancel all runs, so that they can be resumed, and end all streams."""
        self.stopping = True
        tasks = []
        for run in self.live.values():
            if run.active and run.task is not None:
                run.log.add("stopping", ServedStop(run=run.id))
                run.task.cancel()
                tasks.append(run.task)
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_S)
        for run in self.live.values():
            run.log.end()

    async def _carry_out(self, run: LiveRun, work: Work) -> None:
        try:
            await self._turn(run)
            try:
                await self.answering.settled()
                # Taken before the run counts as begun, since readers of what has begun compare it.
                run.token = await self.read_token()
                run.state, run.began_at = "running", monotonic()
                logger.info("a run began on graph %s", one_line(run.graph))
                answer = await work(self.metrics.listen(run.graph, run.hear))
            finally:
                self._running -= 1
                self._admit()
        except asyncio.CancelledError:
            run.end("cancelled", "cancelled", ServedEnd(run=run.id))
        except PGSError as error:
            logger.warning("run %s failed: %s", run.id, one_line(str(error)))
            run.end("failed", "failed", failure_of(error).model_dump())
        except Exception as error:
            logger.exception("run %s failed unexpectedly", run.id)
            run.end("failed", "failed", FAULT.model_dump())
            raise error from None
        else:
            run.end("answered", "answered", answer_counts(answer))
        finally:
            self._note_end(run)

    def _close(self, run: LiveRun, task: asyncio.Task[None]) -> None:
        """End a run whose task was canceled before its first step, so that nothing of it ran.

        It would count as in progress forever, and hold its caller's money.
        """
        if not task.cancelled():
            # The record of a fault has its text; asyncio would write another, without the run.
            task.exception()
        elif run.active:
            run.end("cancelled", "cancelled", ServedEnd(run=run.id))
            self._note_end(run)

    def _note_end(self, run: LiveRun) -> None:
        seconds = None if run.began_at is None else monotonic() - run.began_at
        self.metrics.end(run.graph, run.state, seconds)
        logger.info("a run ended: %s", run.state)

    async def _turn(self, run: LiveRun) -> None:
        """Return when the run may begin; it then counts as running."""
        if self._running < self.most:
            self._begin(run)
            return
        self._waiting.append(run)
        self._tell_places()
        turn = run.turn = asyncio.get_running_loop().create_future()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._running -= 1
                self._admit()
            raise
        finally:
            if run in self._waiting:
                self._waiting.remove(run)
                self._tell_places()

    def _admit(self) -> None:
        while self._waiting and self._running < self.most:
            run = self._queue()[0]
            self._waiting.remove(run)
            self._begin(run)
            if run.turn is not None and not run.turn.done():
                run.turn.set_result(None)
            self._tell_places()

    def _queue(self) -> list[LiveRun]:
        """Return the runs that wait, the next first.

        Next is the caller with the fewest other runs in progress or before it in the queue. Of
        several such callers, it is the one whose last turn is longest ago.
        """
        waiting = {id(run) for run in self._waiting}
        before = Counter(
            (run.caller.tenant, run.caller.name)
            for run in self.live.values()
            if run.active and id(run) not in waiting
        )
        turns: list[tuple[int, int, LiveRun]] = []
        for run in self._waiting:
            caller = (run.caller.tenant, run.caller.name)
            turns.append((before[caller], self._turns.get(caller, 0), run))
            before[caller] += 1
        return [run for *_, run in sorted(turns, key=lambda turn: turn[:2])]

    def _begin(self, run: LiveRun) -> None:
        """Count a run as running, and note that its caller had a turn."""
        self._running += 1
        self._turns[run.caller.tenant, run.caller.name] = max(self._turns.values(), default=0) + 1

    def _tell_places(self) -> None:
        """Announce its place to each run that waits, if the place has changed."""
        for place, run in enumerate(self._queue(), 1):
            if run.place != place:
                run.place = place
                run.log.add("queued", ServedQueued(place=place))

    def _tidy(self) -> None:
        """Forget runs that ended long ago, or before many others."""
        ended = [run for run in self.live.values() if run.ended_at is not None]
        ended.sort(key=lambda run: run.ended_at or 0.0)
        old = monotonic() - KEEP_S
        for number, run in enumerate(ended):
            if (run.ended_at or 0.0) < old or number < len(ended) - MOST_ENDED:
                del self.live[run.id]
