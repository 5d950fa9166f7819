"""The runs of this process: those in the queue, in progress, and just ended."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic

from pgs_neo4j.engine.live_work import LiveBoard
from pgs_neo4j.engine.metrics import RunMetrics
from pgs_neo4j.errors import BusyError, DatabaseError, IdempotencyError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.model import Answer
from pgs_neo4j.model.scope import Scope
from pgs_neo4j.telemetry.logs import log_ids
from pgs_neo4j.text.shown import counted, one_line
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.runs.answering import Answering
from pgs_neo4j.web.runs.events import EventLog
from pgs_neo4j.web.runs.served_data import ServedAccepted, ServedQueued, answer_counts
from pgs_neo4j.web.served_work import End, RunState, carry_out, end_work, hear_event

logger = logging.getLogger(__name__)

Work = Callable[[OnEvent], Awaitable[Answer]]
ReadToken = Callable[[], Awaitable[str | None]]
"""Reads the token that each deletion replaces; None while a deletion is in progress."""

MOST_WAITING, SHARE = 1000, 4
"""Maximum waiting runs, and the reciprocal of the share that one caller may have of them."""


@dataclass(slots=True, eq=False)
class LiveRun:
    """A run of this process.

    ``key`` is the idempotency key of its request, if any, and ``asked`` contains the fields that
    distinguish the request from others. ``place`` is the last announced place in the queue.
    ``resumed`` is true if the run began earlier, here or elsewhere. ``token`` is the deletion token
    from before the run read anything; None if it could not be read.
    """

    id: str
    graph: str
    session: str
    caller: Caller
    question: str
    key: str | None = None
    asked: object = None
    state: RunState = "queued"
    most_cost: float = 0.0
    log: EventLog = field(default_factory=EventLog, repr=False)
    token: str | None = None
    place: int = 0
    began_at: float | None = None
    resumed: bool = False
    turn: asyncio.Future[None] | None = field(default=None, repr=False)
    task: asyncio.Task[None] | None = field(default=None, repr=False)
    begun: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    ended_at: float | None = None

    @property
    def scope(self) -> Scope:
        """The scope of its caller."""
        return self.caller.scope

    @property
    def title(self) -> str:
        """The name of the run in errors and logs."""
        return f"run {self.id}"

    def shown(self) -> Mapping[str, object]:
        """Return the fields that identify the run in its events."""
        return {"run": self.id}

    def close(self) -> None:
        """Record that the run was canceled; ``carry_out`` records every other end."""
        end_work(self, "cancelled", {})


@dataclass(slots=True)
class RunBoard:
    """Carries out runs, at most ``most`` at once; the others wait.

    Callers take turns, and the runs of each caller begin in the order of their arrival. So a caller
    with many runs waits longer, and does not keep others out. A run begins only after pending
    requests are answered, because a request takes less time than a run.
    """

    most: int
    read_token: ReadToken = field(repr=False)
    live: LiveBoard[LiveRun] = field(default_factory=LiveBoard, repr=False)
    metrics: RunMetrics = field(default_factory=RunMetrics, repr=False)
    answering: Answering = field(default_factory=Answering, repr=False)
    _waiting: list[LiveRun] = field(default_factory=list, repr=False)
    _running: int = 0
    _turns: dict[tuple[bool, str], int] = field(default_factory=dict, repr=False)

    def counts(self, caller: Caller) -> tuple[int, int]:
        """Return how many runs on graphs that the caller sees are in progress, and in the queue."""
        waiting = sum(_is_on_visible_graph(run, caller) for run in self._waiting)
        active = sum(_is_on_visible_graph(run, caller) for run in self.live.active())
        return active - waiting, waiting

    async def drop_deleted(self, run: LiveRun) -> None:
        """Drop the events of a run if something was deleted since it began to read.

        The events may quote deleted text; the database still has everything else. Raises
        DatabaseError.
        """
        if run.began_at is None:
            return  # nothing was read
        token = await self.read_token()
        if token is None or token != run.token:
            run.log.drop()

    def repeated(self, run: LiveRun) -> LiveRun | None:
        """Return the run of this process with the same key, session, and graph, if any.

        Raises IdempotencyError if that run has another request.
        """
        if run.key is None:
            return None
        wanted = (run.graph, run.session, run.key)
        runs = self.live.by_id.values()
        former = next((one for one in runs if (one.graph, one.session, one.key) == wanted), None)
        if former is not None and former.asked != run.asked:
            raise IdempotencyError(
                f"the Idempotency-Key was used for run {former.id} with another request; choose "
                "another key, or repeat that request"
            )
        return former

    def start(self, run: LiveRun, work: Work) -> LiveRun:
        """Accept a run before the database has a record of it. Raises BusyError."""
        if run.resumed:
            former = self.live.by_id.get(run.id)
            run.log = EventLog.following(former.log if former else None)
        run.log.add("accepted", ServedAccepted(run=run.id, graph=run.graph, question=run.question))
        with log_ids(run=run.id):
            # Nothing is awaited between this check and ``begin``, so two starts cannot both pass
            # it.
            self._check_limits(run)
            task = self.live.begin(run, partial(carry_out, run, partial(self._answer, run, work)))
            task.add_done_callback(lambda _: self._note_end(run))
        return run

    def _check_limits(self, run: LiveRun) -> None:
        """Raise BusyError if too many runs wait, or too many of the caller are in progress."""
        if self.live.stopping:
            return  # ``begin`` refuses the run
        caller = run.caller
        own = sum(one.caller.is_same(caller) for one in self.live.active())
        if caller.runs_at_once is not None and own >= caller.runs_at_once:
            raise BusyError(
                f"{caller.name} has {counted(own, 'run')} in progress; wait until one ends"
            )
        if len(self._waiting) >= MOST_WAITING:
            raise BusyError(f"{MOST_WAITING:,} runs are waiting; try again later")
        waiting = sum(one.caller.is_same(caller) for one in self._waiting)
        if waiting >= max(MOST_WAITING // SHARE, 1):
            raise BusyError(
                f"{caller.name} has {counted(waiting, 'run')} waiting, which is the most for "
                "one caller; try again when some of them have ended"
            )

    async def _answer(self, run: LiveRun, work: Work) -> End[RunState]:
        await self._turn(run)
        try:
            await self.answering.settled()
            # The token is read before the run counts as begun, because from then on readers compare
            # it. Without a token, readers get no stored events. The work itself reports that the
            # database is unavailable.
            with suppress(DatabaseError):
                run.token = await self.read_token()
            run.state, run.began_at = "running", monotonic()
            logger.info("a run began on graph %s", one_line(run.graph))
            hear = partial(hear_event, run, run=run.id)
            answer = await work(self.metrics.listen(run.graph, hear))
        finally:
            self._running -= 1
            self._admit()
        return "answered", answer_counts(answer)

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
            if run.turn is not None and not run.turn.done():
                self._begin(run)
                run.turn.set_result(None)
            self._tell_places()

    def _queue(self) -> list[LiveRun]:
        """Return the waiting runs in the order in which they will begin.

        The next run belongs to the caller with the fewest other runs in progress or before it in
        the queue. Among several such callers, the one whose last turn is longest ago is next.
        """
        waiting = {id(run) for run in self._waiting}
        before = Counter(
            (run.caller.tenant, run.caller.name)
            for run in self.live.active()
            if id(run) not in waiting
        )
        turns: list[tuple[int, int, LiveRun]] = []
        for run in self._waiting:
            caller = (run.caller.tenant, run.caller.name)
            turns.append((before[caller], self._turns.get(caller, 0), run))
            before[caller] += 1
        return [run for *_, run in sorted(turns, key=lambda turn: turn[:2])]

    def _begin(self, run: LiveRun) -> None:
        """Count a run as running, and record that its caller had a turn."""
        self._running += 1
        self._turns[run.caller.tenant, run.caller.name] = max(self._turns.values(), default=0) + 1

    def _tell_places(self) -> None:
        """Announce to each waiting run its place in the queue, if the place has changed."""
        for place, run in enumerate(self._queue(), 1):
            if run.place != place:
                run.place = place
                run.log.add("queued", ServedQueued(place=place))


def _is_on_visible_graph(run: LiveRun, caller: Caller) -> bool:
    return run.scope == caller.scope and caller.sees(run.graph)
