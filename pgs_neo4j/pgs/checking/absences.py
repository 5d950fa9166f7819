"""The absences of all reports: grouped, looked up while sweeps run, and judged.

``Lookups`` searches the graph in the background. All else here is pure, and ``text.gist`` compares
texts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.model import (
    AbsenceStatus,
    CheckedAbsence,
    Report,
    Sighting,
    Stated,
    Sweep,
)
from pgs_neo4j.pgs.checking.comparing import sorted_reports
from pgs_neo4j.text.gist import Rarity, gist, grouped, search_terms
from pgs_neo4j.text.matching import Hit, SearchResult, SearchTerms

MOST_SIGHTINGS = 5
BATCH = 64  # absences looked for at once: a second or so for a graph of 12,000 nodes
Look = Callable[[Iterable[SearchTerms]], Awaitable[Mapping[SearchTerms, SearchResult]]]
"""``search.lookup.look_up`` with one order and its database."""


@dataclass(frozen=True, slots=True)
class AbsenceGroup:
    """Absences that say the same, by partition.

    The first one represents all.
    """

    reported: tuple[Stated, ...]

    @property
    def text(self) -> str:
        """The absence in the words of the first partition that reports it."""
        return self.reported[0].text

    @property
    def partitions(self) -> int:
        """Return how many partitions report it."""
        return len({stated.partition for stated in self.reported})


def group_absences(sweeps: Sequence[Sweep]) -> tuple[AbsenceGroup, ...]:
    """Return the absences of all reports, the most frequently reported first.

    Ties are ordered by partition and place; the order of ``sweeps`` does not matter.
    """
    stated = [
        Stated(report.partition, place, absence.text, run)
        for run, report in sorted_reports(sweeps)
        for place, absence in enumerate(report.absences)
    ]
    # Without words that count, only identical texts say the same.
    gists = [gist(bullet.text) or frozenset({bullet.text.casefold()}) for bullet in stated]
    groups = [
        AbsenceGroup(tuple(stated[place] for place in places))
        for places in grouped(gists, Rarity.of(gists))
    ]
    return tuple(sorted(groups, key=lambda group: -group.partitions))


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


def check_absences(
    groups: Sequence[AbsenceGroup],
    hits: Mapping[SearchTerms, SearchResult],
    read: Mapping[int, frozenset[int]],
) -> tuple[CheckedAbsence, ...]:
    """Check each group by finding the nodes that contain its words.

    The results are in the order of ``groups``. ``read`` are the ranks read of each partition. An
    absence is contradicted when a node that was read contains its words, even if the node's own
    partition reports it. If more nodes might contain the words than could be searched, or some
    words are in a script that cannot be divided into words, a sighting still counts; without one,
    the absence stays unchecked.
    """
    return tuple(_check_group(group, hits, read) for group in groups)


def _check_group(
    group: AbsenceGroup,
    hits: Mapping[SearchTerms, SearchResult],
    read: Mapping[int, frozenset[int]],
) -> CheckedAbsence:
    searches = [search_terms(stated.text) for stated in group.reported]
    # If time ran out for the first, use the result for another that says the same.
    search = next((search for search in searches if search in hits), searches[0])
    result = hits.get(search, SearchResult())
    sightings = [_sighting(hit, read) for hit in result.hits]
    sightings.sort(key=lambda sighting: not sighting.read)
    return CheckedAbsence(
        text=group.text,
        reported=group.reported,
        status=_status(search, result, sightings),
        terms=search.terms,
        searched=result.searched,
        method=result.method,
        count=result.count,
        sightings=tuple(sightings[:MOST_SIGHTINGS]),
        texts=result.texts,
    )


def _status(
    search: SearchTerms, result: SearchResult, sightings: Sequence[Sighting]
) -> AbsenceStatus:
    if sightings:
        read = sightings[0].read
        return AbsenceStatus.CONTRADICTED if read else AbsenceStatus.ELSEWHERE
    proves = search.segmented and result.complete
    if result.searched and proves and result.texts != 0:
        return AbsenceStatus.CONFIRMED
    return AbsenceStatus.UNCHECKED


def _sighting(hit: Hit, read: Mapping[int, frozenset[int]]) -> Sighting:
    return Sighting(
        partition=hit.partition,
        rank=hit.rank,
        node=hit.key,
        title=hit.title,
        read=hit.rank in read.get(hit.partition, frozenset()),
        element_id=hit.element_id,
    )
