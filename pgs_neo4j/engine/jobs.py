"""``pgs.jobs``: repartitions that are recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgs_neo4j.database import lease
from pgs_neo4j.database.lease import LeaseHolder
from pgs_neo4j.engine import repartition
from pgs_neo4j.engine.repartition import EndedJob, JobOrder, OnBegin
from pgs_neo4j.errors import UnknownGraphError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.pgs.runs import jobs as records
from pgs_neo4j.pgs.runs.jobs import Job

if TYPE_CHECKING:
    from pgs_neo4j.engine.facade import PGS


@dataclass(frozen=True, slots=True)
class Jobs:
    """Repartition jobs. Called, it lists their records: ``await pgs.jobs("papers")``."""

    _pgs: PGS

    async def __call__(
        self,
        graph: str | None = None,
        *,
        limit: int = 20,
        graphs: Collection[str] | None = None,
    ) -> list[Job]:
        """Return the newest records of one or all graphs, the latest first.

        A graph may be gone, or never have been made. Raises UnknownGraphError without any record.

        Without a graph, ``graphs`` are those to list, None for all.
        """
        if graph is None:
            return await records.list_jobs(self._pgs.db, None, limit, graphs=graphs)
        try:
            return await records.list_jobs(self._pgs.db, (await self._pgs.graph(graph)).name, limit)
        except UnknownGraphError:
            # An ingestion of which every document failed makes no graph, but leaves its record.
            if found := await records.list_jobs(self._pgs.db, graph, limit):
                return found
            raise

    async def get(self, job: str) -> Job:
        """Return one record. Raises UsageError when no record has that id."""
        return await records.get(self._pgs.db, job)

    async def release(self, graph: str | None = None) -> LeaseHolder | None:
        """Take a graph's lease away from its holder; None if it was free.

        Use it for a holder that will never release the lease. A job that still runs ends with
        LeaseLostError and can write nothing more; its unfinished generation is discarded. Returns
        the former holder. Raises UnknownGraphError.
        """
        stored = await self._pgs.graph(graph)
        return await lease.take_away(self._pgs.db, stored.name)

    async def run(
        self,
        graph: str | None = None,
        *,
        if_changed: bool = False,
        max_drift: float | None = None,
        keep: int | None = None,
        on_event: OnEvent | None = None,
    ) -> Job:
        """Repartition a graph as a job; return its record.

        ``if_changed`` skips an unchanged graph. ``max_drift`` (0 to 1) also skips a graph if the
        share that changed is no larger. ``keep`` overrides ``keep_generations``. Raises BusyError
        while another job partitions the graph, ConfigError, and what ``pgs.partition`` raises. The
        error is also stored in the record, and the current generation stays.
        """
        return await repartition.repartition(
            self._pgs,
            graph,
            if_changed=if_changed,
            max_drift=max_drift,
            keep=keep,
            on_event=on_event,
        )

    async def attempt(
        self,
        graph: str | None,
        order: JobOrder,
        on_event: OnEvent | None = None,
        on_begin: OnBegin | None = None,
    ) -> EndedJob:
        """Run a job; returns its end. Raises only a cancellation.

        ``on_begin`` gets the record when the job begins. A job that fails before has none.
        """
        return await repartition.attempt(self._pgs, graph, order, on_event, on_begin)

    async def attempt_all(
        self,
        order: JobOrder,
        on_event: OnEvent | None = None,
        on_end: Callable[[EndedJob], None] | None = None,
    ) -> list[EndedJob]:
        """Run a job per stored graph, by name; failures stop no other."""
        return await repartition.repartition_all(self._pgs, order, on_event, on_end)
