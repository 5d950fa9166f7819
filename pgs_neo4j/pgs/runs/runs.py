"""Stores runs: their requests, holders, and outcomes.

A run belongs to one holder at a time, and each write checks that its process is the holder. So a
process that was considered dead cannot record anything when it wakes up. A request with a known
idempotency key finds the run that it began.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict, cast

from pydantic import TypeAdapter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.holder import SILENT_S, Holder, keep_beating
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.database.stored_data import FIX, SHOWN, parse_stored
from pgs_neo4j.errors import (
    BusyError,
    IdempotencyError,
    PGSError,
    RunLostError,
    TextDeletedError,
    UsageError,
    unknown_run,
)
from pgs_neo4j.llm.calls.ledger import Spent, Total, current_day
from pgs_neo4j.llm.calls.spending import run_day_id, run_days
from pgs_neo4j.model import Usage
from pgs_neo4j.pgs.runs import keys

_OBJECT = TypeAdapter(dict[str, Any])
SIGN_S = 10.0  # time between two signs of life
SIGN_TIMEOUT_S = 5.0  # maximum time to give a sign of life
END_S = 0.2  # maximum time to finish the last sign of life when the run ends
SHORTEST_PREFIX = 4  # minimum length of a prefix that identifies a run by its id, as in git
CANDIDATES = 5  # maximum number of ids that an error lists
MAX_KEY = 200  # maximum characters of an idempotency key


class RunRow(TypedDict):
    """A row of ``run_by_id``; ``generation`` is None if its partitions are gone."""

    run: dict[str, Any]
    session: str
    graph: str
    generation: str | None
    current: bool
    silent: bool


@dataclass(frozen=True, slots=True)
class Handle:
    """A run, and the holder that may write its record."""

    id: str
    holder: str


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as stored: its ``properties``, and its graph, session, and generation.

    ``generation`` is None if its partitions are gone. ``current`` means that its generation is the
    graph's current one. ``silent`` means that the run is recorded as running, but has given no sign
    of life lately.
    """

    id: str
    graph: str
    session: str
    generation: str | None
    current: bool
    silent: bool
    properties: dict[str, Any]

    @property
    def status(self) -> str:
        """The state of the run.

        It is one of running, complete, partial, stopped, failed, interrupted, and abandoned.
        """
        return str(self.properties["status"])

    @property
    def request(self) -> dict[str, Any]:
        """The original request, as JSON data. Raises StoredDataError."""
        what = f"run {self.id[:SHOWN]}, request"
        return parse_stored(_OBJECT, self.properties.get("request"), what, FIX)


@dataclass(frozen=True, slots=True)
class RunningRun:
    """A run without a recorded end, and the partitions that it has claimed.

    ``ended`` means that its process is gone, or that it has given no sign of life lately.
    ``generation`` is None if its partitions are gone. ``updated_at`` is the time when a run of its
    session last began or ended.
    """

    id: str
    generation: str | None
    claimed: frozenset[int]
    updated_at: str
    ended: bool


async def begin(
    db: Database,
    handle: Handle,
    session_uid: str,
    generation: str,
    properties: Row,
    idempotency: str = "",
    *,
    total: Total,
) -> str | None:
    """Record the beginning of a run; its generation is not deleted before the run ends.

    ``total`` is what was spent for the run before it had a record. Returns the id of the run, or
    the id of an earlier run if the idempotency key was used before, or None if the generation, the
    session, or the graph was removed.
    """
    await db.write(queries.get("pgs/runs/set_abandoned_runs"), session=session_uid)
    rows = await db.write(
        queries.get("pgs/runs/create_runs"),
        session=session_uid,
        id=handle.id,
        generation=generation,
        idempotency=idempotency,
        properties={**properties, **total_properties(total), "holder": handle.holder},
        days=run_days(handle.id, {current_day(): Spent(), **total.days}),
    )
    return str(rows[0]["id"]) if rows else None


async def find_id_by_key(db: Database, graph: str, session: str, key: str) -> str | None:
    """Return the id of the session's run with an idempotency key, or None."""
    rows = await db.read(
        queries.get("pgs/runs/run_by_key"),
        idempotency=keys.idempotency_uid(db.scope, graph, session, key),
    )
    return str(rows[0]["id"]) if rows else None


async def find(db: Database, prefix: str) -> str:
    """Return the id of the only run whose id begins with ``prefix``.

    A complete id is returned without asking the database. Raises UnknownRunError if no id begins
    with it, and UsageError, which lists the ids, if several do.
    """
    if keys.is_run_id(prefix):
        return prefix
    if len(prefix) < SHORTEST_PREFIX:
        raise UsageError(
            f"the id of a run needs at least {SHORTEST_PREFIX} characters to be found; "
            "'pgs runs' lists the runs"
        )
    rows = await db.read(
        queries.get("pgs/runs/run_by_prefix"),
        prefix=prefix,
        limit=CANDIDATES + 1,
        suffix=db.scope.suffix,
    )
    ids = [str(row["id"]) for row in rows]
    if not ids:
        raise unknown_run(prefix)
    if len(ids) == 1 or prefix in ids:
        return prefix if prefix in ids else ids[0]
    more = ", …" if len(ids) > CANDIDATES else ""
    raise UsageError(
        f"several runs begin with {prefix[:60]!r}: {', '.join(ids[:CANDIDATES])}{more}; "
        "type more of the id"
    )


async def read(db: Database, run: str) -> StoredRun:
    """Return a stored run. Raises UnknownRunError."""
    rows = await db.read(queries.get("pgs/runs/run_by_id"), run=run, silent_s=SILENT_S)
    if not rows:
        raise unknown_run(run)
    row = cast("RunRow", rows[0])
    return StoredRun(
        id=run,
        graph=row["graph"],
        session=row["session"],
        generation=row["generation"],
        current=row["current"],
        silent=bool(row["silent"]),
        properties=row["run"],
    )


def check_key(key: str | None) -> None:
    """Raise UsageError for an idempotency key that is blank, overlong, or not printable."""
    if key is not None and not (key.strip() and len(key) <= MAX_KEY and key.isprintable()):
        raise UsageError(f"an idempotency key has 1 to {MAX_KEY} printable characters")


async def find_run_by_key(
    db: Database, graph: str, session: str, key: str | None, request: dict[str, Any]
) -> StoredRun | None:
    """Return the session's run with an idempotency key; None without a key or without a run.

    Raises IdempotencyError if that run was made by another request.
    """
    former = await find_id_by_key(db, graph, session, key) if key else None
    if former is None:
        return None
    stored = await read(db, former)
    if stored.request != request:
        raise IdempotencyError(
            f"the idempotency key was used for run {former} with another request; choose another "
            "key, or repeat that request"
        )
    return stored


async def read_running(db: Database, session_uid: str) -> list[RunningRun]:
    """Return the session's runs without a recorded end."""
    rows = await db.read(
        queries.get("pgs/runs/read_running_runs"), session=session_uid, silent_s=SILENT_S
    )
    return [
        RunningRun(
            row["id"],
            row["generation"],
            frozenset(row["claimed"]),
            row["updated_at"],
            ended=row["silent"] or _has_ended(row["holder"]),
        )
        for row in rows
    ]


async def find_dead_runs(db: Database, session_uid: str) -> list[str]:
    """Return the ids of the session's runs that have no recorded end and are not running."""
    return [run.id for run in await read_running(db, session_uid) if run.ended]


def is_running(stored: StoredRun) -> bool:
    """Return whether a run has no recorded end, and its process may still be alive."""
    holder = str(stored.properties["holder"])
    return stored.status == "running" and not stored.silent and not _has_ended(holder)


async def take_over(db: Database, stored: StoredRun) -> tuple[Handle, Spent, Mapping[str, Spent]]:
    """Become the holder of a run whose process has ended.

    Returns the handle, what the run has spent in total, and what it has spent today, by day. Raises
    BusyError if the run is still running, or if another process has just resumed it.
    """
    former = str(stored.properties["holder"])
    if is_running(stored):
        wait = "wait until it ends, or stop it first"
        raise BusyError(f"run {stored.id} is still running ({former}); {wait}")
    handle = Handle(stored.id, str(Holder.unique()))
    today = current_day()
    rows = await db.write(
        queries.get("pgs/runs/set_run_holders"),
        run=stored.id,
        former=former,
        holder=handle.holder,
        today=run_day_id(stored.id, today),
    )
    if not rows:
        raise BusyError(f"another process has just resumed run {stored.id}; wait until it ends")
    spent = rows[0]["today"]
    return (
        handle,
        _parse_spent(rows[0]["spent"]),
        {today: _parse_spent(spent) if spent else Spent()},
    )


async def record_total(db: Database, handle: Handle, total: Total) -> None:
    """Record what a run has spent.

    Raises RunLostError when another process has taken the run over.
    """
    await write_as_holder(
        db,
        handle,
        queries.get("pgs/runs/set_run_totals"),
        spent=total_properties(total),
        days=run_days(handle.id, total.days),
    )


def total_properties(total: Total) -> Row:
    """Return a total as properties of a run."""
    usage = total.spent.usage
    return {
        "tally": total.number,
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached": usage.cached,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cost": total.spent.cost,
    }


def _parse_spent(stored: Row) -> Spent:
    usage = Usage(
        calls=stored["calls"],
        input_tokens=stored["input_tokens"],
        output_tokens=stored["output_tokens"],
        cache_read_tokens=stored.get("cache_read_tokens") or 0,
        cache_write_tokens=stored.get("cache_write_tokens") or 0,
    )
    return Spent(usage, stored["cost"] if usage.calls else 0.0)


async def store_routing(db: Database, handle: Handle, routing: str) -> None:
    """Store the routing of a run, as JSON.

    Raises RunLostError when another process has taken the run over.
    """
    await write_as_holder(db, handle, queries.get("pgs/runs/set_run_routings"), routing=routing)


async def finish(
    db: Database,
    handle: Handle,
    properties: Row,
    synthesized: Sequence[str] = (),
    *,
    total: Total | None = None,
) -> bool:
    """Close a run with its status, its figures, and the ``total`` that it has spent, if given.

    ``synthesized`` are the ids of the sweeps that its answer used. Returns False if another process
    has taken the run over.
    """
    figures = total_properties(total) if total else {}
    rows = await db.write(
        queries.get("pgs/runs/set_run_results"),
        run=handle.id,
        holder=handle.holder,
        properties={**properties, **figures},
        sweeps=list(synthesized),
        days=run_days(handle.id, total.days) if total else [],
    )
    return bool(rows)


@asynccontextmanager
async def stay_alive(db: Database, handle: Handle) -> AsyncIterator[None]:
    """Give signs of life while the body runs.

    When another process has taken the run over, the body is canceled and RunLostError is raised.
    Errors of the body are raised unchanged.
    """
    async with keep_beating(partial(_beat, db, handle), first_s=SIGN_S, close_s=END_S):
        yield


async def _beat(db: Database, handle: Handle) -> float:
    if not await _send_sign(db, handle):
        raise run_lost_error()
    return SIGN_S


async def write_as_holder(
    db: Database, handle: Handle, query: Query, **params: object
) -> list[Row]:
    """Execute a statement that writes only for the holder of a run, and return its rows.

    Raises RunLostError when the run was removed, or another process has taken it over.
    """
    rows = await db.write(query, run=handle.id, holder=handle.holder, **params)
    if not rows:
        raise run_lost_error()
    return rows


def run_lost_error() -> RunLostError:
    """Return the error for a run that can no longer be recorded."""
    return RunLostError(
        "the run can no longer be recorded, because it or its partitions were removed, or another "
        "process resumed it; ask again"
    )


async def _send_sign(db: Database, handle: Handle) -> bool:
    """Return whether this process still holds the run; true if the database does not answer."""
    try:
        async with asyncio.timeout(SIGN_TIMEOUT_S):
            return bool(
                await db.write(
                    queries.get("pgs/runs/set_run_signs"), run=handle.id, holder=handle.holder
                )
            )
    except TextDeletedError:
        return False
    except (PGSError, TimeoutError):
        return True  # if the database is really gone, the next statement of the run fails anyway


def _has_ended(holder: str) -> bool:
    """Return whether a holder is a process of this machine that has ended."""
    process = Holder.parse(holder)
    return process is not None and process.has_ended()
