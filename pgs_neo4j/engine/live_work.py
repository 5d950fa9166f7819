"""Work in the background of a process: runs, jobs, and the questions of agents."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pgs_neo4j.errors import BusyError
from pgs_neo4j.text.shown import one_line

logger = logging.getLogger(__name__)
STOPPING = "the server is stopping; ask again when it is back"


class Viewer(Protocol):
    """A caller, who may see all graphs or some, and all sessions or its own."""

    def sees(self, graph: str) -> bool:
        """Return whether the caller may see a graph."""

    def own_session(self, stored: str) -> str | None:
        """Return the caller's name of a stored session; None for a session of another caller."""


@dataclass(slots=True, eq=False)
class LiveWork:
    """A piece of work. Callers who see its graph and its session see it.

    ``begun`` is set at the latest by its end, so that it can be waited for.
    """

    id: str
    graph: str
    session: str
    task: asyncio.Task[Any] | None = field(default=None, kw_only=True, repr=False)
    begun: asyncio.Event = field(default_factory=asyncio.Event, kw_only=True, repr=False)
    ended_at: float | None = field(default=None, kw_only=True)

    @property
    def title(self) -> str:
        """The name for it in errors and logs."""
        return f"run {self.id}"

    @property
    def active(self) -> bool:
        """Whether it has not ended yet; it may still wait for its turn."""
        return self.ended_at is None

    def is_visible_to(self, viewer: Viewer) -> bool:
        """Return whether a caller may see it."""
        return viewer.sees(self.graph) and viewer.own_session(self.session) is not None

    def close(self) -> None:
        """Note that its task has ended, which may have been canceled at any point."""
        self.ended_at = monotonic()

    async def wait(self, timeout_s: float | None = None) -> None:
        """Return when it has ended, or after some time. A canceled wait leaves it in progress."""
        if self.task is not None:
            await asyncio.wait([self.task], timeout=timeout_s)


WorkT = TypeVar("WorkT", bound=LiveWork)


@dataclass(slots=True, kw_only=True)
class LiveBoard(Generic[WorkT]):
    """Starts work of one kind, finds it by id, cancels it, forgets it later, and stops it all.

    Work that ended is kept for ``keep_s``, unless ``most_ended`` others ended after it. ``cancel``
    waits up to ``cancel_s`` for its end, and ``stop`` up to ``stop_s``.
    """

    keep_s: ClassVar[float] = 900.0
    most_ended: ClassVar[int] = 200
    cancel_s: ClassVar[float | None] = None
    stop_s: ClassVar[float] = 2.5
    advice: ClassVar[str] = "follow its events"
    """What to do instead of starting work that is in progress."""

    live: dict[str, WorkT] = field(default_factory=dict, repr=False)
    stopping: bool = False

    def begin(
        self, work: WorkT, carry_out: Callable[[], Coroutine[Any, Any, object]]
    ) -> asyncio.Task[Any]:
        """Start work, and return its task. Raises BusyError.

        Nothing is awaited between the checks and the task. So of two starts with one id the second
        is always refused, and all work that can be found can be canceled.
        """
        self._forget_ended()
        if self.stopping:
            raise BusyError(STOPPING)
        self.check_limits(work)
        former = self.live.get(work.id)
        if former is not None and former.active:
            raise BusyError(f"{former.title} is in progress; {self.advice}")
        self.live[work.id] = work
        work.task = asyncio.create_task(carry_out())
        work.task.add_done_callback(partial(self._close, work))
        return work.task

    def check_limits(self, work: WorkT) -> None:
        """Raise BusyError if too much is in progress to begin this; a kind overrides it."""

    def find(self, id_: str, viewer: Viewer) -> WorkT | None:
        """Return work that is in progress or ended lately; None if the caller must not see it.

        The database is then asked for it, as for work that does not exist: an immediate refusal
        would show by its speed that it exists.
        """
        work = self.live.get(id_)
        return work if work is not None and work.is_visible_to(viewer) else None

    def active(self, viewer: Viewer | None = None, graph: str | None = None) -> list[WorkT]:
        """Return the work in progress: all, or what a caller sees, or what is on one graph."""
        active = [one for one in self.live.values() if one.active and graph in (None, one.graph)]
        return [one for one in active if viewer is None or one.is_visible_to(viewer)]

    async def cancel(self, work: WorkT) -> None:
        """Cancel work, and return when it has ended, or after ``cancel_s``."""
        if work.task is not None and work.active:
            work.task.cancel()
            await work.wait(self.cancel_s)

    async def stop(self) -> list[WorkT]:
        """Cancel all work, and refuse new work. Return what has not ended after ``stop_s``."""
        self.stopping = True
        working = self.active()
        tasks = [work.task for work in working if work.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self.stop_s)
        late = [work for work in working if work.active]
        for work in late:
            logger.warning("%s did not stop in %g s", one_line(work.title), self.stop_s)
        return late

    def _close(self, work: WorkT, task: asyncio.Task[Any]) -> None:
        # A task that is canceled before its first step cannot note its end by itself.
        if work.active:
            work.close()
        if not task.cancelled():
            task.exception()  # otherwise asyncio logs it a second time
        work.begun.set()

    def _forget_ended(self) -> None:
        """Forget work that ended long ago, or before many others."""
        ended = [work for work in self.live.values() if not work.active]
        ended.sort(key=lambda work: work.ended_at or 0.0)
        old = monotonic() - self.keep_s
        for number, work in enumerate(ended):
            if (work.ended_at or 0.0) < old or number < len(ended) - self.most_ended:
                del self.live[work.id]
