"""The questions that agents asked of this process: their progress, their end, and who sees them.

Each question has one growing number and one line of progress, which clients show while they wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from pgs_neo4j.engine.live_work import LiveBoard, is_active, wait_for_end
from pgs_neo4j.errors import BusyError, PGSError
from pgs_neo4j.events import (
    CallRetried,
    CallsHeld,
    Event,
    OnEvent,
    PhaseStarted,
    Progressed,
    ReplyGrew,
    Routed,
    RunStarted,
    StepStarted,
    SweepFinished,
)
from pgs_neo4j.model import Answer
from pgs_neo4j.model.scope import NO_SCOPE, Scope
from pgs_neo4j.text.shown import counted

if TYPE_CHECKING:
    from pgs_neo4j.mcp_server.service import AgentCaller


TICK_S = 0.2  # seconds between two checks of the progress
PHASES = {
    "partition": "partitioning the graph",
    "route": "choosing the partitions to read",
    "sweep": "reading partitions",
    "synthesize": "writing the answer",
    "record": "recording the answer",
    "search": "searching",
}


@dataclass(slots=True)
class Advance:
    """The progress of one question; it takes the engine's events.

    ``number`` counts the events that changed ``line``. ``value`` grows with each of these events,
    because clients require it, and stays below the number of partitions read plus one. ``total`` is
    None until it is known.
    """

    run: str = ""
    number: int = 0
    line: str = "accepted"
    read: int = 0
    routed: int | None = None
    _minor: int = 0

    @property
    def value(self) -> float:
        """The partitions read, plus a fraction that grows with each event in between."""
        return self.read + self._minor / (self._minor + 1)

    @property
    def total(self) -> float | None:
        """The number of partitions to read, plus one for the synthesis; None before routing."""
        return None if self.routed is None else float(max(self.routed, self.read) + 1)

    def hear(self, event: Event) -> None:
        """Update the progress with an event of the engine."""
        match event:
            case RunStarted(run, _):
                self.run = run
                self._say(f"run {run} began")
            case Routed(routing):
                self.routed = len(routing.routes)
                self._say(f"{counted(self.routed, 'partition')} to read")
            case SweepFinished(sweep):
                self.read, self._minor = self.read + 1, 0
                self._say(f"P{sweep.partition} {sweep.status}; {self.read} of {self._most()} read")
            case PhaseStarted(phase):
                self._say(PHASES.get(phase, phase))
            case StepStarted(phase, step):
                self._say(f"{PHASES.get(phase, phase)}: {step}")
            case Progressed(_, done, total, what):
                self._say(f"{done:,} of {total:,} {what}" if total else f"{done:,} {what}")
            case ReplyGrew(_, _, int(tokens)) if tokens:
                self._say(f"{counted(tokens, 'token')} of a reply so far")
            case CallRetried(_, _, reason, wait_s) | CallsHeld(reason, wait_s):
                self._say(f"waiting {wait_s:.0f} s: {reason}")

    def _most(self) -> int:
        return max(self.routed or 0, self.read)

    def _say(self, line: str) -> None:
        self.line = line
        self.number += 1
        self._minor += 1


Work = Callable[[OnEvent, float | None], Awaitable[Answer]]
"""Answers a question, given a listener for its events and its maximum cost."""
Report = Callable[[Advance], Awaitable[None]]


@dataclass(slots=True, eq=False)
class LiveQuestion:
    """A question that an agent asked of this process.

    ``id`` is the id of its run, whose record exists once ``advance.run`` is set. ``max_cost`` is
    the maximum cost that the agent allows; None leaves the limit to the settings. ``resumed`` is
    true if the run began earlier. ``accepted`` is true once the question can no longer be refused.
    """

    id: str
    graph: str
    session: str
    question: str
    max_cost: float | None = None
    resumed: bool = False
    scope: Scope = NO_SCOPE
    advance: Advance = field(default_factory=Advance)
    accepted: bool = False
    task: asyncio.Task[Answer] | None = field(default=None, repr=False)
    begun: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    ended_at: float | None = None

    @property
    def title(self) -> str:
        """The name of the question in errors and logs."""
        return f"run {self.id}"

    def close(self) -> None:
        """Record that the question has ended; its task has the answer or the error."""
        self.ended_at = monotonic()

    @property
    def answer(self) -> Answer | None:
        """The answer; None while there is no answer."""
        ended = None if is_active(self) or self.cancelled or self.failure else self.task
        return ended.result() if ended else None

    @property
    def cancelled(self) -> bool:
        """Whether the question was canceled."""
        return self.task is not None and self.task.cancelled()

    @property
    def failure(self) -> BaseException | None:
        """The error that ended the question; None if it did not fail."""
        ended = None if is_active(self) or self.cancelled else self.task
        return ended.exception() if ended else None

    @property
    def error(self) -> str:
        """One sentence that says why the question failed; empty if it did not fail."""
        failure = self.failure
        if isinstance(failure, PGSError):
            return str(failure)
        return f"unexpected error in pgs_neo4j ({type(failure).__name__})" if failure else ""


Launch = Callable[[LiveQuestion, "AgentCaller", Work], Awaitable[Awaitable[Answer]]]
"""Begins a caller's question. Raises an error of this package if the caller must not begin it."""


def _new_board() -> LiveBoard[LiveQuestion]:
    return LiveBoard(
        keep_s=inf,
        most_ended=100,  # more is not needed, because their runs are in the database
        cancel_s=4.0,
        stop_s=4.0,
        advice="wait for it with the tool result",
    )


@dataclass(slots=True)
class QuestionBoard:
    """The questions of one process, at most ``most`` in progress.

    A program that has its own limits sets ``launch``, and sets ``most`` to None.
    """

    most: int | None = 2
    launch: Launch | None = None
    live: LiveBoard[LiveQuestion] = field(default_factory=_new_board, repr=False)

    async def start(self, asked: LiveQuestion, caller: AgentCaller, work: Work) -> LiveQuestion:
        """Begin a question in the background, unless it is canceled first.

        Raises BusyError, and the errors that ``launch`` raises. Canceling this call before the
        question is accepted cancels the question.
        """
        former = self.live.by_id.get(asked.id)
        # Nothing is awaited between this check and ``begin``, so two starts cannot both pass it.
        self._check_limit()
        task = self.live.begin(asked, partial(self._carry_out, asked, caller, work))
        task.add_done_callback(lambda _: self._forget_refused(asked, former))
        try:
            await asked.begun.wait()
        except asyncio.CancelledError:
            task.cancel()
            raise
        if asked.failure is not None and not asked.accepted:
            raise asked.failure
        return asked

    def _check_limit(self) -> None:
        """Raise BusyError if ``most`` questions are in progress."""
        if self.live.stopping:
            return  # ``begin`` refuses the question
        active = len(self.live.active())
        if self.most is not None and active >= self.most:
            raise BusyError(
                f"{counted(active, 'question is', 'questions are')} in progress, which is the "
                "most at once; wait for one with the tool result, or stop it with cancel"
            )

    async def wait(self, asked: LiveQuestion, wait_s: float, report: Report) -> None:
        """Wait until a question ends, at most ``wait_s`` seconds, and report its progress."""
        loop = asyncio.get_running_loop()
        end, reported = loop.time() + wait_s, -1
        while True:
            if asked.advance.number != reported:
                reported = asked.advance.number
                await report(asked.advance)
            left = end - loop.time()
            if not is_active(asked) or left <= 0:
                return
            await wait_for_end(asked, min(TICK_S, left))

    async def _carry_out(self, asked: LiveQuestion, caller: AgentCaller, work: Work) -> Answer:
        if self.launch is None:
            answering = work(asked.advance.hear, asked.max_cost)
        else:
            answering = await self.launch(asked, caller, work)
        asked.accepted = True
        asked.begun.set()
        return await answering

    def _forget_refused(self, asked: LiveQuestion, former: LiveQuestion | None) -> None:
        """Remove a question that was refused, and restore the former question with the same id."""
        if not asked.accepted:
            del self.live.by_id[asked.id]
            if former is not None:
                self.live.by_id[former.id] = former
