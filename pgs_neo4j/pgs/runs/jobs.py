"""Records jobs in the database: their times, outcomes, and figures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal
from uuid import uuid4

from pydantic import TypeAdapter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.fence import forget_ended
from pgs_neo4j.database.holder import Holder, keep_beating
from pgs_neo4j.database.stored_data import FIX, SHOWN, check_fields, parse_stored
from pgs_neo4j.errors import BusyError, LeaseLostError, PGSError, UsageError
from pgs_neo4j.telemetry.logs import log_ids

_OBJECT = TypeAdapter(dict[str, Any])

Outcome = Literal[
    "running",
    "unchanged",
    "left",
    "refreshed",
    "seeded",
    "repartitioned",
    "ingested",
    "partial",
    "busy",
    "failed",
    "interrupted",
    "killed",
]
KEPT = 200  # maximum number of records per graph
SIGN_S = 15.0  # time between two signs of life
SILENT_S = 90.0  # a job without a sign of life for this time counts as killed
CLOSE_S = 10.0  # maximum time to close a record or to give a sign of life


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The record of one job.

    Times are ISO 8601 in UTC by the server's clock. ``outcome`` is ``left`` if the drift was within
    the allowed limit, and ``killed`` if the process ended without a report. ``silent`` is set if a
    running job has given no sign of life lately. ``drift`` is a share from 0 to 1, None if it was
    not measured. ``holder`` names the process. An ingestion is ``partial`` if a document failed or
    a limit ended it, and ``failed`` if every document failed. ``options`` are the data needed to
    continue an ingestion; they are empty if it cannot be continued.
    """

    id: str
    graph: str
    kind: str = "repartition"
    outcome: Outcome = "running"
    started_at: str
    finished_at: str | None = None
    drift: float | None = None
    generation: str | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    holder: str = ""
    silent: bool = False
    options: dict[str, Any] = field(default_factory=dict)


async def begin(
    db: Database, graph: str, kind: str = "repartition", options: Mapping[str, Any] | None = None
) -> Job:
    """Create the record of a job that starts, and return it.

    Also marks jobs whose process is gone, and deletes old records.
    """
    job = Job(
        id=f"j{uuid4().hex[:12]}",
        graph=graph,
        kind=kind,
        started_at="",
        holder=str(Holder.of_this_process()),
        options=dict(options or {}),
    )
    rows = await db.write(
        queries.get("pgs/runs/merge_jobs"),
        id=job.id,
        graph=graph,
        kind=kind,
        holder=job.holder,
        options=json.dumps(job.options, sort_keys=True),
    )
    await tidy(db, graph)
    return replace(job, started_at=rows[0]["started_at"])


async def tidy(db: Database, graph: str) -> None:
    """Mark jobs whose process is gone, and delete old records.

    Also deletes the search terms of finished deletions that no run needs any more.
    """
    await db.write(queries.get("pgs/runs/set_killed_jobs"), graph=graph, silent_s=SILENT_S)
    await db.write(queries.get("pgs/runs/delete_jobs"), graph=graph, keep=KEPT)
    await forget_ended(db)


@asynccontextmanager
async def stay_alive(db: Database, job: Job) -> AsyncIterator[None]:
    """Give signs of life while the body runs, and add the job's id to its log records.

    A sign that cannot be written is skipped.
    """
    with log_ids(job=job.id):
        async with keep_beating(partial(_send_sign, db, job), first_s=SIGN_S, close_s=CLOSE_S):
            yield


def failed_job(job: Job, error: BaseException, seconds: float) -> Job:
    """Return the record of a job that ended with an error after ``seconds``."""
    stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
    busy = isinstance(error, BusyError) and not isinstance(error, LeaseLostError)
    outcome: Outcome = "interrupted" if stopped else "busy" if busy else "failed"
    message = str(error) if isinstance(error, PGSError) else type(error).__name__
    return replace(
        job,
        outcome=outcome,
        error=None if stopped else message,
        figures={"seconds": round(seconds, 3)},
    )


async def close(db: Database, job: Job) -> Job:
    """Store how a job ended, within ``CLOSE_S`` seconds, and return its record.

    If the database cannot be reached, the record has no ``finished_at``, and the job is later
    marked as ``killed``.
    """
    properties = {
        "outcome": job.outcome,
        "drift": job.drift,
        "figures": json.dumps(job.figures, sort_keys=True),
        "error": job.error,
    }
    with suppress(PGSError, TimeoutError):
        async with asyncio.timeout(CLOSE_S):
            rows = await db.write(
                queries.get("pgs/runs/set_job_results"),
                id=job.id,
                properties=properties,
                generation=job.generation,
            )
            if rows:
                job = replace(job, finished_at=rows[0]["finished_at"])
            await tidy(db, job.graph)
    return job


async def list_jobs(
    db: Database,
    graph: str | None = None,
    limit: int = 20,
    *,
    graphs: Collection[str] | None = None,
) -> list[Job]:
    """Return job records of one graph, of some ``graphs``, or of all graphs, newest first."""
    chosen = graphs if graph is None else [graph]
    if chosen is not None and not chosen:
        return []
    rows = await db.read(
        queries.get("pgs/runs/read_jobs"),
        graphs=sorted(chosen or ()),
        silent_s=SILENT_S,
        limit=limit,
        suffix=db.scope.suffix,
    )
    return [_parse_job({**row["job"], "graph": row["graph"]}) for row in rows]


async def get(db: Database, job: str) -> Job:
    """Return the record of a job. Raises UsageError for an unknown id."""
    rows = await db.read(queries.get("pgs/runs/job_by_id"), id=job, silent_s=SILENT_S)
    if not rows:
        raise UsageError(f"there is no job {job[:80]}; 'pgs jobs list' shows those on record")
    return _parse_job({**rows[0]["job"], "graph": rows[0]["graph"]})


async def _send_sign(db: Database, job: Job) -> float:
    with suppress(PGSError, TimeoutError):
        async with asyncio.timeout(CLOSE_S):
            await db.write(queries.get("pgs/runs/set_job_signs"), id=job.id)
    return SIGN_S


def _parse_job(stored: dict[str, Any]) -> Job:
    what = f"the record of job {str(stored['id'])[:SHOWN]}"
    parsed = {
        name: parse_stored(_OBJECT, stored[name], f"{what}, {name}", FIX) if stored[name] else {}
        for name in ("figures", "options")
    }
    return check_fields(Job, {**stored, **parsed}, what, FIX)
