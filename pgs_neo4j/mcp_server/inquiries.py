"""The questions that agents asked of this process: their progress, their end, and who sees them.

Each has one growing number and one line of progress, which clients show while they wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
from pgs_neo4j.text.shown import counted

if TYPE_CHECKING:
    from pgs_neo4j.mcp_server.desk import Visitor


MOST_ENDED = 100  # inquiries remembered after their end; their runs are in the database
TICK_S = 0.2  # between two looks at the progress
STOP_S = 4.0
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

    ``number`` counts the events that said something. ``value`` grows with each of them, since
    clients require it, and stays below the count of partitions read plus one. ``total`` is None
    until it is known.
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
        """The partitions to read and the synthesis, None before they are chosen."""
        return None if self.routed is None else float(max(self.routed, self.read) + 1)

    def hear(self, event: Event) -> None:
        """Take an event of the engine."""
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
"""Answers a question; takes a listener for its events, and the most that it may cost."""
Report = Callable[[Advance], Awaitable[None]]


@dataclass(slots=True, eq=False)
class Inquiry:
    """A question of an agent; the database knows its run from ``advance.run`` on.

    ``max_cost`` is the most that the agent lets it cost; None leaves that to the settings.
    ``resumed``: its run began earlier.
    """

    run: str
    graph: str
    session: str
    question: str
    max_cost: float | None = None
    resumed: bool = False
    advance: Advance = field(default_factory=Advance)
    task: asyncio.Task[Answer] | None = field(default=None, repr=False)

    @property
    def active(self) -> bool:
        """Whether it is in progress."""
        return self.task is not None and not self.task.done()

    @property
    def answer(self) -> Answer | None:
        """Its answer, None without one."""
        if self.task is None or self.active or self.task.cancelled() or self.task.exception():
            return None
        return self.task.result()

    @property
    def cancelled(self) -> bool:
        """Whether it was canceled."""
        return self.task is not None and self.task.done() and self.task.cancelled()

    @property
    def failure(self) -> BaseException | None:
        """The error that ended it, None without one."""
        if self.task is None or self.active or self.task.cancelled():
            return None
        return self.task.exception()

    @property
    def error(self) -> str:
        """One sentence on why it failed, empty if it did not."""
        failure = self.failure
        if failure is None or isinstance(failure, PGSError):
            return "" if failure is None else str(failure)
        return f"unexpected error in pgs_neo4j ({type(failure).__name__})"


async def launch_here(inquiry: Inquiry, visitor: Visitor, work: Work) -> asyncio.Task[Answer]:
    """Begin a question in this process, bounded by nothing but its own limits."""
    del visitor
    return asyncio.ensure_future(work(inquiry.advance.hear, inquiry.max_cost))


Launch = Callable[[Inquiry, "Visitor", Work], Awaitable[asyncio.Task[Answer]]]
"""Begins a question of a caller. Raises an error of this package if it may not begin."""


@dataclass(slots=True)
class Inquiries:
    """The questions of one process, at most ``most`` in progress. ``close`` ends them all.

    A program with limits of its own sets ``launch``, and ``most`` to None.
    """

    most: int | None = 2
    launch: Launch = launch_here
    _held: dict[str, Inquiry] = field(default_factory=dict, repr=False)

    async def start(self, inquiry: Inquiry, visitor: Visitor, work: Work) -> Inquiry:
        """Begin a question in the background, under the id of its run. Raises BusyError."""
        active = sum(one.active for one in self._held.values())
        if self.most is not None and active >= self.most:
            raise BusyError(
                f"{counted(active, 'question is', 'questions are')} in progress, which is the "
                "most at once; wait for one with the tool result, or stop it with cancel"
            )
        former = self._held.get(inquiry.run)
        if former is not None and former.active:
            raise BusyError(f"run {inquiry.run} is in progress; wait for it with the tool result")
        inquiry.task = await self.launch(inquiry, visitor, work)
        self._tidy()
        self._held.pop(inquiry.run, None)  # the latest stand at the end
        self._held[inquiry.run] = inquiry
        return inquiry

    def find(self, run: str, visitor: Visitor) -> Inquiry | None:
        """Return the question of a run; None for a question of another caller."""
        inquiry = self._held.get(run)
        if inquiry is None or not visitor.sees(inquiry.graph):
            return None
        return None if visitor.own_session(inquiry.session) is None else inquiry

    async def wait(self, inquiry: Inquiry, wait_s: float, report: Report) -> None:
        """Return when a question has ended, or after ``wait_s``. Progress is reported."""
        loop = asyncio.get_running_loop()
        end, reported = loop.time() + wait_s, -1
        while inquiry.task is not None:
            if inquiry.advance.number != reported:
                reported = inquiry.advance.number
                await report(inquiry.advance)
            left = end - loop.time()
            if inquiry.task.done() or left <= 0:
                return
            await asyncio.wait([inquiry.task], timeout=min(TICK_S, left))

    async def cancel(self, inquiry: Inquiry) -> None:
        """Cancel a question, and return when it has ended. Its run can be resumed."""
        if inquiry.task is not None and inquiry.active:
            inquiry.task.cancel()
            await asyncio.wait([inquiry.task], timeout=STOP_S)

    async def close(self) -> None:
        """Cancel all questions; their runs can be resumed."""
        tasks = [one.task for one in self._held.values() if one.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_S)
        for task in tasks:
            if task.done() and not task.cancelled():
                task.exception()  # nobody asks for it any more

    def _tidy(self) -> None:
        ended = [run for run, one in self._held.items() if not one.active]
        for run in ended[: max(len(ended) - MOST_ENDED, 0)]:
            del self._held[run]
