"""A run on the board, for requests that wait for its answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from pgs_neo4j.engine.live_work import wait_for_end
from pgs_neo4j.errors import StoppedError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.model import Answer
from pgs_neo4j.web.runs.board import LiveRun, RunBoard, Work


class RunCancelledError(StoppedError):
    """The run was cancelled, and can be resumed."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class AwaitedRun:
    """A run with its answer or error. Only waiting requests keep it; the board does not."""

    board: RunBoard
    run: LiveRun
    _ends: list[Answer | Exception] = field(default_factory=list, repr=False)

    async def answer(self, *, cancel: bool = False) -> Answer:
        """Wait for the answer. Raises the error that ended the run, or RunCancelledError.

        With ``cancel``, canceling the wait also cancels the run.
        """
        try:
            await wait_for_end(self.run)
        except asyncio.CancelledError:
            if cancel:
                await self.board.live.cancel(self.run)
            raise
        if not self._ends:
            raise RunCancelledError(
                f"run {self.run.id} was cancelled; POST /api/runs/{self.run.id}/resume resumes it"
            )
        (end,) = self._ends
        if isinstance(end, Exception):
            raise end
        return end

    async def keep_end(self, work: Work, hear: OnEvent) -> Answer:
        """Carry out the run, and keep its answer or error."""
        try:
            answer = await work(hear)
        except Exception as error:
            self._ends.append(error)
            raise
        self._ends.append(answer)
        return answer


def start_awaited(board: RunBoard, run: LiveRun, work: Work) -> AwaitedRun:
    """Start a run whose answer the caller will wait for. Raises BusyError."""
    awaited = AwaitedRun(board, run)
    board.start(run, lambda hear: awaited.keep_end(work, hear))
    return awaited
