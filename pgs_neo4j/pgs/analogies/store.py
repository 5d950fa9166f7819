"""Keeps skeletons in the database, beside the reply cache, which may be trimmed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.pgs.analogies.order import AnalogyOrder, AnalogyTools

BATCH = 5_000


async def find_skeletons(db: Database, graph: str, keys: Iterable[str]) -> dict[str, str]:
    """Return the stored skeletons by key. Raises DatabaseError."""
    return {row["key"]: row["text"] for row in await _read(db, graph, sorted(set(keys)))}


async def adopt_skeletons(db: Database, graph: str, keys: Iterable[str]) -> dict[str, str]:
    """Return the stored skeletons by key, and record that a graph uses them.

    Raises DatabaseError.
    """
    rows = await _read(db, graph, sorted(set(keys)))
    names = ("key", "text", "model")
    others = [{name: row[name] for name in names} for row in rows if not row["known"]]
    await _write(db, graph, others)
    return {row["key"]: row["text"] for row in rows}


async def keep_skeletons(
    order: AnalogyOrder, tools: AnalogyTools, skeletons: Mapping[str, str]
) -> None:
    """Store skeletons by key. Raises DatabaseError."""
    model = tools.llm.name
    rows = [{"key": key, "text": text, "model": model} for key, text in skeletons.items()]
    await _write(tools.db, order.graph, rows)


async def forget_analogies(db: Database, graph: str) -> None:
    """Delete the analogies of a graph, and the skeletons that no other graph uses.

    Raises DatabaseError.
    """
    await db.batch(queries.get("pgs/analogies/delete_analogies"), graph=graph)
    await clear_links(db, graph)


async def clear_links(db: Database, graph: str) -> None:
    """Delete the analogies of a graph that are not of its current making.

    Raises DatabaseError.
    """
    await db.batch(queries.get("pgs/analogies/delete_links"), graph=graph)


async def _read(db: Database, graph: str, keys: list[str]) -> list[Row]:
    rows: list[Row] = []
    for first in range(0, len(keys), BATCH):
        part = keys[first : first + BATCH]
        rows += await db.read(queries.get("pgs/analogies/read_skeletons"), keys=part, graph=graph)
    return rows


async def _write(db: Database, graph: str, rows: list[Row]) -> None:
    for first in range(0, len(rows), BATCH):
        part = rows[first : first + BATCH]
        await db.write(queries.get("pgs/analogies/write_skeletons"), rows=part, graph=graph)
