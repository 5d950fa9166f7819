"""Work in the background of a process: runs, jobs, and questions from agents."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

from pgs_neo4j.errors import BusyError
from pgs_neo4j.model.scope import Scope
from pgs_neo4j.text.shown import one_line

logger = logging.getLogger(__name__)
STOPPING = "the server is stopping; ask again when it is back"


class Viewer(Protocol):
    """A caller, who may see all graphs of its scope or some, and all sessions or its own."""

    @property
    def scope(self) -> Scope:
        """The scope of the caller."""

    def sees(self, graph: str) -> bool:
        """Return whether the caller may see a graph."""

    def own_session(self, stored: str) -> str | None:
        """Return the caller's own name for a stored session; None if another caller owns it."""


class LiveWork(Protocol):
    """A piece of work. Callers of its scope who see its graph and its session see it.

    ``begun`` is set when the work begins, or at the latest when it ends, so that waiting for it
    never blocks forever.
    """

    id: str
    graph: str
    task: asyncio.Task[Any] | None
    begun: asyncio.Event
    ended_at: float | None

    @property
    def session(self) -> str:
        """The stored session that the work belongs to."""

    @property
    def scope(self) -> Scope:
        """The scope of the work's graph."""

    @property
    def title(self) -> str:
        """The name of the work in errors and logs."""

    def close(self) -> None:
        """Record that the task has ended. It may have been canceled at any point."""


def is_active(work: LiveWork) -> bool:
    """Return whether work has not ended yet; the work may still wait for its turn."""
    return work.ended_at is None


async def wait_for_end(work: LiveWork, timeout_s: float | None = None) -> None:
    """Wait until work ends, at most ``timeout_s``. Canceling the wait does not cancel the work."""
    if work.task is not None:
        await asyncio.wait([work.task], timeout=timeout_s)


WorkT = TypeVar("WorkT", bound=LiveWork)


@dataclass(slots=True, kw_only=True)
class LiveBoard(Generic[WorkT]):
    """Starts work of one kind, finds it by id, cancels it, forgets it later, and stops it all.

    Finished work can be found for ``keep_s``, or until ``most_ended`` other pieces of work have
    ended after it. ``cancel`` waits at most ``cancel_s`` for the work to end, and ``stop`` waits at
    most ``stop_s``.
    """

    keep_s: float = 900.0
    most_ended: int = 200
    cancel_s: float | None = None
    stop_s: float = 2.5
    advice: str = "follow its events"
    """What the error for work that is already in progress advises."""
    by_id: dict[str, WorkT] = field(default_factory=dict, repr=False)
    stopping: bool = False

    def begin(
        self, work: WorkT, carry_out: Callable[[], Coroutine[object, object, object]]
    ) -> asyncio.Task[object]:
        """Start work, and return its task. Raises BusyError.

        Nothing is awaited between the checks and the creation of the task. So the second of two
        starts with the same id is always refused, and all work on the board can be canceled.
        Callers with their own limits must check them right before this call, also without awaiting
        in between.
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

        For hidden work, callers must query the database, as they do for work that does not exist.
        An immediate refusal would reveal by its speed that the work exists.
        """
        work = self.by_id.get(id_)
        return work if work is not None and _sees(viewer, work) else None

    def active(self, viewer: Viewer | None = None, graph: str | None = None) -> list[WorkT]:
        """Return work in progress; if given, only what ``viewer`` sees and only on ``graph``."""
        active = [one for one in self.by_id.values() if is_active(one)]
        active = [one for one in active if graph in (None, one.graph)]
        return [one for one in active if viewer is None or _sees(viewer, one)]

    async def cancel(self, work: WorkT) -> None:
        """Cancel work, and wait at most ``cancel_s`` until it has ended."""
        if work.task is not None and is_active(work):
            work.task.cancel()
            await wait_for_end(work, self.cancel_s)

    async def stop(self) -> list[WorkT]:
        """Cancel all work, refuse new work, and return work that has not ended after ``stop_s``."""
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
        # A task that is canceled before its first step cannot record its own end.
        if is_active(work):
            work.close()
        if not task.cancelled():
            task.exception()  # otherwise asyncio logs the error a second time
        work.begun.set()

    def _forget_ended(self) -> None:
        """Forget work that ended more than ``keep_s`` ago, and all but the last ``most_ended``."""
        ended = [work for work in self.by_id.values() if not is_active(work)]
        ended.sort(key=lambda work: work.ended_at or 0.0)
        old = monotonic() - self.keep_s
        for number, work in enumerate(ended):
            if (work.ended_at or 0.0) < old or number < len(ended) - self.most_ended:
                del self.by_id[work.id]


def _sees(viewer: Viewer, work: LiveWork) -> bool:
    return (
        viewer.scope == work.scope
        and viewer.sees(work.graph)
        and viewer.own_session(work.session) is not None
    )
