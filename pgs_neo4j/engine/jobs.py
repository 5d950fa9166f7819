"""``pgs.jobs``: repartitions as jobs, each recorded from its start to its end."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pgs_neo4j.database import lease
from pgs_neo4j.database.lease import LeaseHolder
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import ConfigError, PGSError, UnknownGraphError, UsageError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.pgs.runs import jobs
from pgs_neo4j.pgs.runs.jobs import Job, Outcome

if TYPE_CHECKING:
    from pgs_neo4j.engine.facade import PGS
    from pgs_neo4j.model import Drift, Generation
    from pgs_neo4j.pgs.partitioning.result import Partitioning

OUTCOMES_BY_ORIGIN: dict[str, Outcome] = {
    "cold": "repartitioned",
    "seeded": "seeded",
    "refreshed": "refreshed",
}
"""The outcome of a job, by the origin of the generation that it made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder:
    """The order for a repartition job.

    ``if_changed`` skips an unchanged graph. ``max_drift`` (0 to 1) skips a graph unless more than
    this share of it has changed. ``keep`` is the number of generations to keep; None means the
    configured number.
    """

    if_changed: bool = False
    max_drift: float | None = None
    keep: int | None = None

    def __post_init__(self) -> None:
        if self.max_drift is not None and not 0.0 <= self.max_drift <= 1.0:
            raise ConfigError(f"max_drift is {self.max_drift}; it is a share, from 0 to 1")
        if self.keep is not None and self.keep < 1:
            raise ConfigError(f"keep is {self.keep}; use 1 or more, since the current one stays")


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A failed job, its error, and its record if it was started."""

    graph: str | None
    error: PGSError
    job: Job | None = None


EndedJob = Job | FailedJob
OnBegin = Callable[[Job], None]


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
        """Return the newest records of one graph, or of all graphs, the latest first.

        Without ``graph``, only records of the graphs in ``graphs`` are returned; None means all
        graphs. Records outlive their graph, and a failed ingestion leaves a record without a graph.
        Raises UnknownGraphError for a graph that neither exists nor has a record.
        """
        if graph is None:
            return await self._list_all(limit, graphs)
        try:
            pgs = await self._pgs.open_view(graph)
            return await jobs.list_jobs(pgs.db, (await pgs.graphs.get(graph)).name, limit)
        except UnknownGraphError:
            # An ingestion in which every document failed makes no graph, but leaves a record.
            if found := await jobs.list_jobs(self._pgs.db, graph, limit):
                return found
            raise

    async def _list_all(self, limit: int, graphs: Collection[str] | None) -> list[Job]:
        if not self._pgs.is_restricted:
            return await jobs.list_jobs(self._pgs.db, None, limit, graphs=graphs)
        found = []
        for stored in await self._pgs.graphs():
            if graphs is None or stored.name in graphs:
                found += await self(stored.name, limit=limit)
        return sorted(found, key=lambda job: job.started_at, reverse=True)[:limit]

    async def get(self, job: str) -> Job:
        """Return one record. Raises UsageError when no record has that id."""
        if self._pgs.is_restricted:
            for stored in await self._pgs.graphs():
                with suppress(UsageError):
                    return await jobs.get((await self._pgs.open_view(stored.name)).db, job)
        return await jobs.get(self._pgs.db, job)

    async def release(self, graph: str | None = None) -> LeaseHolder | None:
        """Take a graph's lease away from its holder, and return that holder.

        Returns None if the lease was free. Use it for a holder that will never release the lease.
        A job that still runs ends with LeaseLostError and can write nothing more; its unfinished
        generation is discarded. Raises UnknownGraphError.
        """
        pgs = await self._pgs.open_view(graph)
        return await lease.take_away(pgs.db, (await pgs.graphs.get(graph)).name)

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

        ``if_changed`` skips an unchanged graph. ``max_drift`` (0 to 1) skips a graph unless more
        than this share of it has changed. ``keep`` overrides ``keep_generations``. Raises BusyError
        while another job partitions the graph, ConfigError, and the errors of
        ``pgs.partitions.build``. An error is also stored in the record, and the current generation
        stays.
        """
        return await repartition(
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
        """Run a job, and return how it ended.

        A PGSError becomes a FailedJob; a cancellation is raised. ``on_begin`` gets the record when
        the job begins. A job that fails earlier has no record.
        """
        return await attempt(self._pgs, graph, order, on_event, on_begin)

    async def attempt_all(
        self,
        order: JobOrder,
        on_event: OnEvent | None = None,
        on_end: Callable[[EndedJob], None] | None = None,
    ) -> list[EndedJob]:
        """Run a job for each stored graph, by name. A failed job does not stop the others."""
        return await repartition_all(self._pgs, order, on_event, on_end)


async def repartition(
    pgs: PGS,
    graph: str | None = None,
    *,
    if_changed: bool = False,
    max_drift: float | None = None,
    keep: int | None = None,
    on_event: OnEvent | None = None,
) -> Job:
    """Repartition a graph as a job; return its record.

    Raises BusyError while another job holds the lease, ConfigError, and the errors of
    ``pgs.partitions.build``. An error is also recorded, and the current generation stays.
    """
    order = JobOrder(if_changed=if_changed, max_drift=max_drift, keep=keep)
    ended = await attempt(pgs, graph, order, on_event)
    if isinstance(ended, FailedJob):
        raise ended.error
    return ended


async def repartition_all(
    pgs: PGS,
    order: JobOrder,
    on_event: OnEvent | None = None,
    on_end: Callable[[EndedJob], None] | None = None,
) -> list[EndedJob]:
    """Repartition all stored graphs, by name. A failed job does not stop the others."""
    jobs_ended = []
    for stored in await pgs.graphs():
        ended = await attempt(pgs, stored.name, order, on_event)
        jobs_ended.append(ended)
        if on_end is not None:
            on_end(ended)
    return jobs_ended


async def attempt(
    pgs: PGS,
    graph: str | None,
    order: JobOrder,
    on_event: OnEvent | None = None,
    on_begin: OnBegin | None = None,
) -> EndedJob:
    """Run a job and return how it ended.

    A PGSError becomes a FailedJob; a cancellation is raised. ``on_begin`` gets the record of the
    job before the work begins.
    """
    try:
        pgs = await pgs.open_view(graph)
        graph = (await pgs.graphs.get(graph)).name
        await ensure_schema(pgs.db)
        job = await jobs.begin(pgs.db, graph)
    except PGSError as error:
        return FailedJob(graph, error)
    if on_begin is not None:
        on_begin(job)
    began = perf_counter()
    try:
        async with jobs.stay_alive(pgs.db, job):
            done = await _partition_graph(pgs, job, order, on_event)
    except BaseException as error:
        job = jobs.failed_job(job, error, perf_counter() - began)
        # Shield this step, so that even an interrupted job is closed before its caller continues.
        job = await to_the_end(jobs.close(pgs.db, job))
        if isinstance(error, PGSError):
            return FailedJob(graph, error, job)
        raise
    return await to_the_end(jobs.close(pgs.db, done))


async def _partition_graph(pgs: PGS, job: Job, order: JobOrder, on_event: OnEvent | None) -> Job:
    drift = None
    if order.max_drift is not None:
        began = perf_counter()
        drift = await pgs.partitions.check(job.graph, on_event=on_event)
        if drift is not None and _is_tolerable(drift, order.max_drift):
            await pgs.partitions.clean_up(job.graph)
            return replace(
                job,
                outcome="left",
                drift=drift.fraction,
                generation=(await pgs.graphs.get(job.graph)).generation,
                figures={"seconds": round(perf_counter() - began, 3), "changes": asdict(drift)},
            )
    partitioning = await pgs.partitions.build(
        job.graph,
        force=not order.if_changed and order.max_drift is None,
        on_event=on_event,
        keep_generations=order.keep,
    )
    return _record_result(job, partitioning, partitioning.drift or drift)


def _is_tolerable(drift: Drift, most: float) -> bool:
    # Changed settings are not drift: a user who changes them wants other partitions.
    return drift.changed and not drift.settings_changed and drift.fraction <= most


def _record_result(job: Job, partitioning: Partitioning, drift: Drift | None) -> Job:
    figures = {
        **_list_figures(partitioning.generation),
        "seconds": round(partitioning.seconds, 3),
        "steps": {name: round(took, 3) for name, took in partitioning.steps.items()},
    }
    if drift is not None:
        figures["changes"] = asdict(drift)
    return replace(
        job,
        outcome="unchanged"
        if partitioning.reused
        else OUTCOMES_BY_ORIGIN[partitioning.generation.origin],
        drift=None if drift is None else drift.fraction,
        generation=partitioning.generation.id,
        figures=figures,
    )


def _list_figures(generation: Generation) -> dict[str, Any]:
    return {
        "nodes": generation.node_count,
        "relationships": generation.relationship_count,
        "partitions": generation.partition_count,
        "modularity": round(generation.modularity, 6),
        "raw_modularity": round(generation.raw_modularity, 6),
        "conductance": round(generation.conductance, 6),
        "largest_fraction": round(generation.largest_fraction, 6),
        "pooled_nodes": generation.pooled_nodes,
        "pools": generation.pools,
        "split": generation.split,
        "merged": generation.merged,
        "levels": list(generation.levels),
        "documents_together": generation.documents_together,
        "issues": dict(generation.issues),
    }
