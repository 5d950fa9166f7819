"""Work in the background of a process: runs, jobs, and the questions of agents."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

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


class LiveWork(Protocol):
    """A piece of work. Callers who see its graph and its session see it.

    ``begun`` is set at the latest by its end, so that it can be waited for.
    """

    id: str
    graph: str
    task: asyncio.Task[Any] | None
    begun: asyncio.Event
    ended_at: float | None

    @property
    def session(self) -> str:
        """The stored session that it belongs to."""

    @property
    def title(self) -> str:
        """The name for it in errors and logs."""

    def close(self) -> None:
        """Note its end: its task has ended, which may have been canceled at any point."""


def is_active(work: LiveWork) -> bool:
    """Return whether work has not ended yet; it may still wait for its turn."""
    return work.ended_at is None


async def wait_for_end(work: LiveWork, timeout_s: float | None = None) -> None:
    """Return when work has ended, or after some time. A canceled wait leaves it in progress."""
    if work.task is not None:
        await asyncio.wait([work.task], timeout=timeout_s)


WorkT = TypeVar("WorkT", bound=LiveWork)


@dataclass(slots=True, kw_only=True)
class LiveBoard(Generic[WorkT]):
    """Starts work of one kind, finds it by id, cancels it, forgets it later, and stops it all.

    Work that ended is kept for ``keep_s``, unless ``most_ended`` others ended after it. ``cancel``
    waits up to ``cancel_s`` for its end, and ``stop`` up to ``stop_s``.
    """

    keep_s: float = 900.0
    most_ended: int = 200
    cancel_s: float | None = None
    stop_s: float = 2.5
    advice: str = "follow its events"
    """What to do instead of starting work that is in progress."""
    by_id: dict[str, WorkT] = field(default_factory=dict, repr=False)
    stopping: bool = False

    def begin(
        self, work: WorkT, carry_out: Callable[[], Coroutine[object, object, object]]
    ) -> asyncio.Task[object]:
        """Start work, and return its task. Raises BusyError.

        Nothing is awaited between the checks and the task. So of two starts with one id the second
        is always refused, and all work that can be found can be canceled. Callers with limits of
        their own check them right before, and await nothing in between either.
        """
        self._forget_ended()
        if self.stopping:
            raise BusyError(STOPPING)
        former = self.by_id.get(work.id)
        if former is not None and is_active(former):
            raise BusyError(f"{former.title} is in progress; {self.advice}")
        self.by_id[work.id] = work
        work.task = asyncio.create_task(carry_out())
        work.task.add_done_callback(partial(self._close, work))
        return work.task

    def find(self, id_: str, viewer: Viewer) -> WorkT | None:
        """Return work that is in progress or ended lately; None if the caller must not see it.

        The database is then asked for it, as for work that does not exist: an immediate refusal
        would show by its speed that it exists.
        """
        work = self.by_id.get(id_)
        return work if work is not None and _sees(viewer, work) else None

    def active(self, viewer: Viewer | None = None, graph: str | None = None) -> list[WorkT]:
        """Return the work in progress: all, or what a caller sees, or what is on one graph."""
        active = [one for one in self.by_id.values() if is_active(one)]
        active = [one for one in active if graph in (None, one.graph)]
        return [one for one in active if viewer is None or _sees(viewer, one)]

    async def cancel(self, work: WorkT) -> None:
        """Cancel work, and return when it has ended, or after ``cancel_s``."""
        if work.task is not None and is_active(work):
            work.task.cancel()
            await wait_for_end(work, self.cancel_s)

    async def stop(self) -> list[WorkT]:
        """Cancel all work, and refuse new work. Return what has not ended after ``stop_s``."""
        self.stopping = True
        working = self.active()
        tasks = [work.task for work in working if work.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self.stop_s)
        late = [work for work in working if is_active(work)]
        for work in late:
            logger.warning("%s did not stop in %g s", one_line(work.title), self.stop_s)
        return late

    def _close(self, work: WorkT, task: asyncio.Task[Any]) -> None:
        # A task that is canceled before its first step cannot note its end by itself.
        if is_active(work):
            work.close()
        if not task.cancelled():
            task.exception()  # otherwise asyncio logs it a second time
        work.begun.set()

    def _forget_ended(self) -> None:
        """Forget work that ended long ago, or before many others."""
        ended = [work for work in self.by_id.values() if not is_active(work)]
        ended.sort(key=lambda work: work.ended_at or 0.0)
        old = monotonic() - self.keep_s
        for number, work in enumerate(ended):
            if (work.ended_at or 0.0) < old or number < len(ended) - self.most_ended:
                del self.by_id[work.id]


def _sees(viewer: Viewer, work: LiveWork) -> bool:
    return viewer.sees(work.graph) and viewer.own_session(work.session) is not None
