"""Lists the runs of a database, the latest first."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.heartbeat import SILENT_S


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """A recorded run in short.

    ``silent``: it is recorded as running, but gave no sign of life lately. ``answered``: its answer
    is stored. Figures are None until the run ends, ``cost`` also without prices.
    """

    id: str
    graph: str
    session: str
    mode: str
    status: str
    question: str
    started_at: str
    finished_at: str | None
    answered: bool
    silent: bool
    nodes_read: int | None
    seconds: float | None
    model: str | None
    cost: float | None
    error: str | None


async def list_runs(
    db: Database, graph: str | None, session: str | None, *, answered: bool, limit: int
) -> list[RunInfo]:
    """Return at most ``limit`` runs; without a graph or session, those of all."""
    rows = await db.read(
        queries.get("runs/read_latest_runs"),
        graph=graph or "",
        session=session or "",
        answered=answered,
        silent_s=SILENT_S,
        limit=limit,
    )
    names = [field.name for field in fields(RunInfo)]
    return [RunInfo(**{name: row["run"].get(name) for name in names}) for row in rows]
