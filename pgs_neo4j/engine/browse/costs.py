"""What was spent, by day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCost:
    """What a task of a graph cost on a day (UTC), with the same session and models.

    ``task`` is run, search, plan, ingest, partition, or analogies. Only runs have a session. A run
    that went on after midnight counts on both days. ``cache_read_tokens`` of the input came from a
    provider's prompt cache, and ``cache_write_tokens`` were stored there. ``unpriced`` counts what
    called a model without prices; ``cost`` leaves it out.
    """

    day: str
    graph: str
    session: str
    model: str | None
    runs: int
    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    task: str = "run"


async def read_costs(db: Database, days: int) -> list[DayCost]:
    """Return the costs of the last ``days`` days, today included, the latest first."""
    since = datetime.now(UTC).date() - timedelta(days=days - 1)
    rows = await db.read(queries.get("engine/browse/read_costs"), since=since.isoformat())
    return [DayCost(**row) for row in rows]
