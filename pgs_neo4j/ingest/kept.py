"""Keeps extractions that were paid for until the graph holds them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.ingest.stored import EXTRACTION
from pgs_neo4j.model.documents import GroundedExtraction


@dataclass(slots=True)
class Keeper:
    """Keeps extractions of a graph.

    Those that arrive during one transaction share the next, since each takes a lock and a write to
    the disk.
    """

    db: Database
    graph: str
    _waiting: dict[str, str] = field(default_factory=dict)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def keep(self, key: str, extraction: GroundedExtraction) -> None:
        """Return when the database has an extraction under its key. Raises DatabaseError."""
        self._waiting[key] = EXTRACTION.dump_json(extraction).decode()
        async with self._writing:
            if key not in self._waiting:
                return
            taken, self._waiting = self._waiting, {}
            try:
                await self._write(taken)
            except BaseException:
                self._waiting = taken | self._waiting
                raise

    async def _write(self, data: dict[str, str]) -> None:
        rows = [{"key": key, "data": text} for key, text in data.items()]
        query = queries.get("ingest/documents/keep_extractions")
        await self.db.write(query, graph=self.graph, rows=rows)


async def read_kept(db: Database, graph: str, keys: Iterable[str]) -> dict[str, GroundedExtraction]:
    """Return the extractions that are kept, by key. Raises DatabaseError."""
    wanted = sorted(keys)
    if not wanted:
        return {}
    rows = await db.read(queries.get("ingest/documents/read_extractions"), graph=graph, keys=wanted)
    return {row["key"]: EXTRACTION.validate_json(row["data"]) for row in rows}


async def forget_extractions(db: Database, graph: str, keys: Iterable[str]) -> None:
    """Delete extractions that the graph holds by now. Raises DatabaseError."""
    wanted = sorted(set(keys))
    if wanted:
        await db.write(queries.get("ingest/documents/delete_extractions"), graph=graph, keys=wanted)
