"""One repartition as a job: recorded from its beginning to its end, whatever that is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import BusyError, ConfigError, LeaseLostError, PGSError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.runs import jobs
from pgs_neo4j.runs.jobs import Job, Outcome

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS
    from pgs_neo4j.model import Drift, Generation
    from pgs_neo4j.partitioning.result import Partitioning

MADE: dict[str, Outcome] = {
    "cold": "repartitioned",
    "seeded": "seeded",
    "refreshed": "refreshed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder:
    """What a job is to do.

    ``if_changed`` leaves an unchanged graph as it is; ``max_drift`` implies it, and also leaves
    a graph of which no larger share changed (0 to 1). ``keep`` is the number of generations
    kept, None for the configured one.
    """

    if_changed: bool = False
    max_drift: float | None = None
    keep: int | None = None

    def __post_init__(self) -> None:
        if self.max_drift is not None and not 0.0 <= self.max_drift <= 1.0:
            raise ConfigError(f"max_drift is {self.max_drift}; it is a share, from 0 to 1")
        if self.keep is not None and self.keep < 1:
            raise ConfigError(f"keep is {self.keep}; at least the current generation stays, so 1")


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that failed, and why; without a record when not even that could be begun."""

    graph: str | None
    error: PGSError
    job: Job | None = None


EndedJob = Job | FailedJob


async def repartition(
    pgs: PGS,
    graph: str | None = None,
    *,
    if_changed: bool = False,
    max_drift: float | None = None,
    keep: int | None = None,
    on_event: OnEvent | None = None,
) -> Job:
    """Partition a graph anew as a job, and its record.

    Raises BusyError when somebody else is at it, ConfigError, and what ``PGS.partition``
    raises; the record says so too, and the current generation stays.
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
    """All stored graphs by name, one after another; one that fails does not stop the rest."""
    found = []
    for stored in await pgs.graphs():
        ended = await attempt(pgs, stored.name, order, on_event)
        found.append(ended)
        if on_end is not None:
            on_end(ended)
    return found


async def attempt(
    pgs: PGS, graph: str | None, order: JobOrder, on_event: OnEvent | None = None
) -> EndedJob:
    """Do it, and tell how it ended; only a cancellation is raised."""
    try:
        graph = (await pgs.graph(graph)).name
        await ensure_schema(pgs.db)
        job = await jobs.begin(pgs.db, graph)
    except PGSError as error:
        return FailedJob(graph, error)
    began = perf_counter()
    try:
        async with jobs.stay_alive(pgs.db, job):
            done = await _work(pgs, job, order, on_event)
    except BaseException as error:
        job = _broken(job, error, perf_counter() - began)
        # Shielded: an interrupted job, too, is closed before its caller goes on.
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
    found = await pgs.partition(
        job.graph,
        force=not order.if_changed and order.max_drift is None,
        on_event=on_event,
        keep_generations=order.keep,
    )
    return _finished(job, found, found.drift or drift)


def _bearable(drift: Drift, most: float) -> bool:
    # Changed settings are no drift: whoever changes them wants other partitions.
    return drift.changed and not drift.settings_changed and drift.fraction <= most


def _finished(job: Job, found: Partitioning, drift: Drift | None) -> Job:
    figures = {
        **_figures(found.generation),
        "seconds": round(found.seconds, 3),
        "steps": {name: round(took, 3) for name, took in found.steps.items()},
    }
    if drift is not None:
        figures["changes"] = asdict(drift)
    return replace(
        job,
        outcome="unchanged" if found.reused else MADE[found.generation.origin],
        drift=None if drift is None else drift.fraction,
        generation=found.generation.id,
        figures=figures,
    )


def _figures(made: Generation) -> dict[str, Any]:
    return {
        "nodes": made.node_count,
        "relationships": made.relationship_count,
        "partitions": made.partition_count,
        "modularity": round(made.modularity, 6),
        "raw_modularity": round(made.raw_modularity, 6),
        "conductance": round(made.conductance, 6),
        "largest_fraction": round(made.largest_fraction, 6),
        "pooled_nodes": made.pooled_nodes,
        "pools": made.pools,
        "split": made.split,
        "merged": made.merged,
        "levels": list(made.levels),
        "issues": dict(made.issues),
    }


def _broken(job: Job, error: BaseException, seconds: float) -> Job:
    stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
    busy = isinstance(error, BusyError) and not isinstance(error, LeaseLostError)
    outcome: Outcome = "interrupted" if stopped else "busy" if busy else "failed"
    said = str(error) if isinstance(error, PGSError) else type(error).__name__
    return replace(
        job,
        outcome=outcome,
        error=None if stopped else said,
        figures={"seconds": round(seconds, 3)},
    )
