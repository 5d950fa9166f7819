"""Keeps extractions that were paid for until the graph holds them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.ingest.stored import EXTRACTION
from pgs_neo4j.ingest.writer import lost_right
from pgs_neo4j.model.documents import GroundedExtraction

REPLY = "reply:"
"""Begins the keys of replies to chunks that need several."""


@dataclass(slots=True)
class Keeper:
    """Keeps extractions of a graph, and the replies to chunks that need several.

    Those that arrive during one transaction share the next, since each takes a lock and a write to
    the disk. ``holder`` has the right to write the documents, once it was taken. ``documents`` are
    the ids of those that are extracted now, by the keys of their extractions: what is kept goes
    when one of them is deleted, since nothing else tells whose text it is until the graph has it.
    """

    db: Database
    graph: str
    holder: str = ""
    documents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _waiting: dict[str, Row] = field(default_factory=dict)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _replies: frozenset[str] | None = None

    async def keep(self, extractions: Mapping[str, GroundedExtraction]) -> None:
        """Return when the database has extractions under their keys.

        Raises DatabaseError, and LeaseLostError if another writer took over.
        """
        await self._keep(
            {
                key: {
                    "data": EXTRACTION.dump_json(one).decode(),
                    "documents": [*self.documents.get(key, ())],
                }
                for key, one in extractions.items()
            }
        )

    async def keep_text(self, key: str, text: str) -> None:
        """Return when the database has a reply under its key. Raises what ``keep`` raises.

        It may be of any of the documents.
        """
        documents = sorted(set(chain(*self.documents.values())))
        await self._keep({REPLY + key: {"data": text, "documents": documents}})

    async def find(self, key: str) -> str | None:
        """Return a reply that an ingestion which did not end kept. Raises DatabaseError.

        Which keys there are is read once, since there are none but after a crash.
        """
        async with self._reading:
            if self._replies is None:
                query = queries.get("ingest/documents/read_reply_keys")
                rows = await self.db.read(query, graph=self.graph, prefix=REPLY)
                self._replies = frozenset(row["key"] for row in rows)
        if REPLY + key not in self._replies:
            return None
        query = queries.get("ingest/documents/read_extractions")
        rows = await self.db.read(query, graph=self.graph, keys=[REPLY + key])
        return rows[0]["data"] if rows else None

    async def forget_replies(self) -> None:
        """Delete all replies: what they led to is kept or published. Raises DatabaseError."""
        query = queries.get("ingest/documents/delete_replies")
        await self.db.write(query, graph=self.graph, prefix=REPLY)

    async def _keep(self, texts: Mapping[str, Row]) -> None:
        self._waiting |= texts
        async with self._writing:
            if not texts.keys() & self._waiting.keys():
                return
            taken, self._waiting = self._waiting, {}
            try:
                await self._write(taken)
            except BaseException:
                self._waiting = taken | self._waiting
                raise

    async def _write(self, data: dict[str, Row]) -> None:
        rows = [{"key": key, **row} for key, row in data.items()]
        query = queries.get("ingest/documents/keep_extractions")
        if not await self.db.write(query, graph=self.graph, holder=self.holder, rows=rows):
            raise lost_right(self.graph)


async def read_kept(db: Database, graph: str, keys: Iterable[str]) -> dict[str, GroundedExtraction]:
    """Return the extractions that are kept, by key. Raises DatabaseError."""
    wanted = sorted(keys)
    if not wanted:
        return {}
    rows = await db.read(queries.get("ingest/documents/read_extractions"), graph=graph, keys=wanted)
    return {row["key"]: EXTRACTION.validate_json(row["data"]) for row in rows}


async def forget_documents(db: Database, graph: str, documents: Sequence[str]) -> int:
    """Delete what is kept of some documents and not in the graph, and return how much.

    An ingestion that broke off has left it, of files that were new or had changed. Raises
    DatabaseError.
    """
    query = queries.get("ingest/deletion/delete_kept")
    rows = await db.write(query, graph=graph, documents=[*documents])
    return sum(row["deleted"] for row in rows)


async def forget_rest(db: Database, graph: str) -> int:
    """Delete all that is kept of a graph without documents, and return how much.

    Nothing happens to a graph that has some. Raises DatabaseError.
    """
    rows = await db.write(queries.get("ingest/deletion/delete_rest"), graph=graph)
    return sum(row["deleted"] for row in rows)


async def read_kept_documents(db: Database, graph: str) -> list[str]:
    """Return the ids of documents of which something is kept. Raises DatabaseError."""
    rows = await db.read(queries.get("ingest/deletion/read_kept"), graph=graph)
    return [row["document"] for row in rows]


async def forget_extractions(db: Database, graph: str, keys: Iterable[str]) -> int:
    """Delete extractions that the graph holds by now, and return how many. Raises DatabaseError."""
    wanted = sorted(set(keys))
    query = queries.get("ingest/documents/delete_extractions")
    rows = await db.write(query, graph=graph, keys=wanted) if wanted else []
    return sum(row["deleted"] for row in rows)
