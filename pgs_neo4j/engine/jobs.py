"""``pgs.jobs``: repartitions as jobs, each recorded from its start to its end."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pgs_neo4j.database import lease
from pgs_neo4j.database.lease import LeaseHolder
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import ConfigError, PGSError, UnknownGraphError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.pgs.runs import jobs
from pgs_neo4j.pgs.runs.jobs import Job, Outcome

if TYPE_CHECKING:
    from pgs_neo4j.engine.facade import PGS
    from pgs_neo4j.model import Drift, Generation
    from pgs_neo4j.pgs.partitioning.result import Partitioning

MADE: dict[str, Outcome] = {
    "cold": "repartitioned",
    "seeded": "seeded",
    "refreshed": "refreshed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder:
    """The order of a job.

    ``if_changed`` skips an unchanged graph. ``max_drift`` (0 to 1) implies it, and also skips a
    graph if the share that changed is no larger. ``keep`` is the number of generations to keep,
    None for the configured one.
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
        """Return the newest records of one or all graphs, the latest first.

        A graph may be gone, or never have been made. Raises UnknownGraphError without any record.

        Without a graph, ``graphs`` are the graphs to list, None for all.
        """
        if graph is None:
            return await jobs.list_jobs(self._pgs.db, None, limit, graphs=graphs)
        try:
            return await jobs.list_jobs(self._pgs.db, (await self._pgs.graph(graph)).name, limit)
        except UnknownGraphError:
            # An ingestion of which every document failed makes no graph, but leaves its record.
            if found := await jobs.list_jobs(self._pgs.db, graph, limit):
                return found
            raise

    async def get(self, job: str) -> Job:
        """Return one record. Raises UsageError when no record has that id."""
        return await jobs.get(self._pgs.db, job)

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
        """Run a job; returns its end. Raises only a cancellation.

        ``on_begin`` gets the record when the job begins. A job that fails earlier has none.
        """
        return await attempt(self._pgs, graph, order, on_event, on_begin)

    async def attempt_all(
        self,
        order: JobOrder,
        on_event: OnEvent | None = None,
        on_end: Callable[[EndedJob], None] | None = None,
    ) -> list[EndedJob]:
        """Run a job per stored graph, by name; failures stop no other."""
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

    Raises BusyError while another job holds the lock, ConfigError, and what ``PGS.partition``
    raises; the error is also recorded, and the current generation stays.
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
    """Repartition all stored graphs by name; a failure stops no other."""
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
    """Run a job and return how it ended; raises only a cancellation.

    ``on_begin`` gets its record before the work begins.
    """
    try:
        graph = (await pgs.graph(graph)).name
        await ensure_schema(pgs.db)
        job = await jobs.begin(pgs.db, graph)
    except PGSError as error:
        return FailedJob(graph, error)
    if on_begin is not None:
        on_begin(job)
    began = perf_counter()
    try:
        async with jobs.stay_alive(pgs.db, job):
            done = await _work(pgs, job, order, on_event)
    except BaseException as error:
        job = jobs.failed_job(job, error, perf_counter() - began)
        # Shielded: even an interrupted job is closed before its caller continues.
        job = await to_the_end(jobs.close(pgs.db, job))
        if isinstance(error, PGSError):
            return FailedJob(graph, error, job)
        raise
    return await to_the_end(jobs.close(pgs.db, done))


async def _work(pgs: PGS, job: Job, order: JobOrder, on_event: OnEvent | None) -> Job:
    drift = None
    if order.max_drift is not None:
        began = perf_counter()
        drift = await pgs.check(job.graph, on_event=on_event)
        if drift is not None and _bearable(drift, order.max_drift):
            await pgs.clean_up(job.graph)
            return replace(
                job,
                outcome="left",
                drift=drift.fraction,
                generation=(await pgs.graph(job.graph)).generation,
                figures={"seconds": round(perf_counter() - began, 3), "changes": asdict(drift)},
            )
    partitioning = await pgs.partition(
        job.graph,
        force=not order.if_changed and order.max_drift is None,
        on_event=on_event,
        keep_generations=order.keep,
    )
    return _finished(job, partitioning, partitioning.drift or drift)


def _bearable(drift: Drift, most: float) -> bool:
    # Changed settings are not drift: a user who changes them wants other partitions.
    return drift.changed and not drift.settings_changed and drift.fraction <= most


def _finished(job: Job, partitioning: Partitioning, drift: Drift | None) -> Job:
    figures = {
        **_figures(partitioning.generation),
        "seconds": round(partitioning.seconds, 3),
        "steps": {name: round(took, 3) for name, took in partitioning.steps.items()},
    }
    if drift is not None:
        figures["changes"] = asdict(drift)
    return replace(
        job,
        outcome="unchanged" if partitioning.reused else MADE[partitioning.generation.origin],
        drift=None if drift is None else drift.fraction,
        generation=partitioning.generation.id,
        figures=figures,
    )


def _figures(generation: Generation) -> dict[str, Any]:
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
