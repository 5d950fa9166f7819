"""Looks absences up in the graph while sweeps are still running."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import Self

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.model import Report
from pgs_neo4j.text.gist import search_terms
from pgs_neo4j.text.matching import SearchResult, SearchTerms

BATCH = 64  # absences looked for at once: a second or so for a graph of 12,000 nodes

Look = Callable[[Iterable[SearchTerms]], Awaitable[Mapping[SearchTerms, SearchResult]]]
"""``retrieval.lookup.look_up`` with one order and its database."""


class Lookups:
    """Searches for absences in one background task, batch by batch.

    Used as ``async with Lookups(partial(look_up, db, order), log.warn) as lookups``; leaving it
    ends the task. Absences that could not be searched have no result, so they stay unchecked.
    """

    def __init__(self, look: Look, warn: Callable[[str], None]) -> None:
        self._look = look
        self._warn = warn
        self._warned = False
        self._asked: set[SearchTerms] = set()
        self._waiting: list[SearchTerms] = []
        self._found: dict[SearchTerms, SearchResult] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def begin(self, report: Report) -> None:
        """Queue a report's absences for the background task; returns at once.

        Absences that were queued before, or have no words to search for, are left out.
        """
        for absence in report.absences:
            asked = search_terms(absence.text)
            if asked.searchable and asked not in self._asked:
                self._asked.add(asked)
                self._waiting.append(asked)
        if self._waiting and not (self._running() or self._failed()):
            self._task = asyncio.create_task(self._work(), name="lookups")

    async def finish(self, timeout_s: float) -> dict[SearchTerms, SearchResult]:
        """Return the results after at most ``timeout_s``; the rest is abandoned."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=timeout_s)
            if self._failed():
                self._task.result()  # a defect of the package is raised
        await self.close()
        return dict(self._found)

    async def close(self) -> None:
        """Cancel the background task, if any, and wait for its end."""
        self._waiting.clear()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # retrieved: asyncio would warn of it otherwise

    def _running(self) -> bool:
        return self._task is not None and not self._task.done()

    def _failed(self) -> bool:
        task = self._task
        return (
            task is not None
            and task.done()
            and not task.cancelled()
            and task.exception() is not None
        )

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
            try:
                self._found |= await self._look(batch)
            except DatabaseError as error:
                if not self._warned:
                    self._warned = True
                    self._warn(f"absences could not be looked up in the graph: {error}")
