"""Groups the absences of all reports, looks them up in the graph, and judges them.

``Lookups`` searches the graph in the background while sweeps run. Everything else here is pure.
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
BATCH = 64  # absences in one search, which takes about a second for a graph of 12,000 nodes
Look = Callable[[Iterable[SearchTerms]], Awaitable[Mapping[SearchTerms, SearchResult]]]
"""The type of ``search.lookup.look_up``, bound to a database and an order."""


@dataclass(frozen=True, slots=True)
class AbsenceGroup:
    """Absences that say the same, by partition. The first absence represents the group."""

    reported: tuple[Stated, ...]

    @property
    def text(self) -> str:
        """The absence in the words of the first partition that reports it."""
        return self.reported[0].text

    @property
    def partitions(self) -> int:
        """The number of partitions that report the absence."""
        return len({stated.partition for stated in self.reported})


def group_absences(sweeps: Sequence[Sweep]) -> tuple[AbsenceGroup, ...]:
    """Group the absences of all reports. The most frequently reported groups come first.

    Ties are ordered by partition and place, so the order of ``sweeps`` does not matter.
    """
    stated = [
        Stated(report.partition, place, absence.text, run)
        for run, report in sorted_reports(sweeps)
        for place, absence in enumerate(report.absences)
    ]
    # A text without content words joins only identical texts.
    gists = [gist(bullet.text) or frozenset({bullet.text.casefold()}) for bullet in stated]
    groups = [
        AbsenceGroup(tuple(stated[place] for place in places))
        for places in grouped(gists, Rarity.of(gists))
    ]
    return tuple(sorted(groups, key=lambda group: -group.partitions))


class Lookups:
    """Searches for absences in one background task, batch by batch.

    Use it as ``async with Lookups(partial(look_up, db, order), log.warn) as lookups``. The end of
    the block ends the task. Absences that could not be searched have no result and stay unchecked.
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
        """Queue a report's absences for the background task, and return at once.

        Absences that were queued before, or have no words to search for, are left out.
        """
        for absence in report.absences:
            terms = search_terms(absence.text)
            if terms.searchable and terms not in self._asked:
                self._asked.add(terms)
                self._waiting.append(terms)
        if self._waiting and not (self._is_running() or self._has_failed()):
            self._task = asyncio.create_task(self._search_batches(), name="lookups")

    async def finish(self, timeout_s: float) -> dict[SearchTerms, SearchResult]:
        """Return all results, after at most ``timeout_s``. Unfinished searches are abandoned."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=timeout_s)
            if self._has_failed():
                self._task.result()  # raises the error, which is a bug in this package
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
                task.exception()  # retrieve the exception, so that asyncio does not warn about it

    def _is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def _has_failed(self) -> bool:
        task = self._task
        return (
            task is not None
            and task.done()
            and not task.cancelled()
            and task.exception() is not None
        )

    async def _search_batches(self) -> None:
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

    The results are in the order of ``groups``. ``read`` has the ranks that were read, by partition.
    An absence is contradicted if a node that was read contains its words, even if the node's own
    partition reports it. A search may be incomplete: too many nodes might contain the words, or
    words are in a script that cannot be divided into words. A sighting counts even then, but
    without a sighting the absence stays unchecked.
    """
    return tuple(_check_group(group, hits, read) for group in groups)


def _check_group(
    group: AbsenceGroup,
    hits: Mapping[SearchTerms, SearchResult],
    read: Mapping[int, frozenset[int]],
) -> CheckedAbsence:
    searches = [search_terms(stated.text) for stated in group.reported]
    # If the search for the first absence did not finish, use the result for another in the group.
    search = next((search for search in searches if search in hits), searches[0])
    result = hits.get(search, SearchResult())
    sightings = [_make_sighting(hit, read) for hit in result.hits]
    sightings.sort(key=lambda sighting: not sighting.read)
    return CheckedAbsence(
        text=group.text,
        reported=group.reported,
        status=_judge_status(search, result, sightings),
        terms=search.terms,
        searched=result.searched,
        method=result.method,
        count=result.count,
        sightings=tuple(sightings[:MOST_SIGHTINGS]),
        texts=result.texts,
    )


def _judge_status(
    search: SearchTerms, result: SearchResult, sightings: Sequence[Sighting]
) -> AbsenceStatus:
    if sightings:
        read = sightings[0].read
        return AbsenceStatus.CONTRADICTED if read else AbsenceStatus.ELSEWHERE
    proves = search.segmented and result.complete
    if result.searched and proves and result.texts != 0:
        return AbsenceStatus.CONFIRMED
    return AbsenceStatus.UNCHECKED


def _make_sighting(hit: Hit, read: Mapping[int, frozenset[int]]) -> Sighting:
    return Sighting(
        partition=hit.partition,
        rank=hit.rank,
        node=hit.key,
        title=hit.title,
        read=hit.rank in read.get(hit.partition, frozenset()),
        element_id=hit.element_id,
    )
