"""Stores paid extractions until the graph contains them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.publish.writer import writing_lost_error
from pgs_neo4j.documents.stored import EXTRACTION
from pgs_neo4j.model.documents import GroundedExtraction

REPLY = "reply:"
"""Prefix of the keys of stored replies. Replies are stored for chunks that need several replies."""


@dataclass(slots=True)
class Keeper:
    """Stores extractions of a graph, and the replies for chunks that need several replies.

    A transaction needs a lock and a write to the disk, so all texts that arrive during one
    transaction share the next transaction. ``holder`` holds the right to write the documents, and
    is empty before this right is taken. A stored extraction names its documents, because until the
    graph has the extraction, nothing else shows whose text it contains. It is deleted together with
    any of these documents.
    """

    db: Database
    graph: str
    holder: str = ""
    _extracting: list[Mapping[str, Sequence[str]]] = field(default_factory=list)
    _waiting: dict[str, Row] = field(default_factory=dict)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _replies: frozenset[str] | None = None

    @contextmanager
    def extracting(self, documents: Mapping[str, Sequence[str]]) -> Iterator[None]:
        """Within the context, store all extractions and replies with the ids of their documents.

        ``documents`` maps extraction keys to the documents' ids. Groups may overlap in time, so
        several contexts can be open.
        """
        self._extracting.append(documents)
        try:
            yield
        finally:
            self._extracting.remove(documents)

    async def keep(self, extractions: Mapping[str, GroundedExtraction]) -> None:
        """Store extractions under their keys, and return when the database has stored them.

        Raises DatabaseError, and LeaseLostError if another writer took over.
        """
        await self._keep(
            {
                key: {
                    "data": EXTRACTION.dump_json(one).decode(),
                    "documents": self._documents_of(key),
                }
                for key, one in extractions.items()
            }
        )

    async def keep_text(self, key: str, text: str) -> None:
        """Store a reply under its key, and return when the database has stored it.

        The stored reply names all documents that are being extracted, because any of them may be
        its source. Raises DatabaseError, and LeaseLostError if another writer took over.
        """
        await self._keep({REPLY + key: {"data": text, "documents": self._all_documents()}})

    async def find(self, key: str) -> str | None:
        """Return a reply that an interrupted ingestion stored, None if there is no such reply.

        The list of keys is read only once, because an ingestion finds earlier replies only after a
        crash. Raises DatabaseError.
        """
        async with self._reading:
            if self._replies is None:
                query = queries.get("documents/extract/read_reply_keys")
                rows = await self.db.read(query, graph=self.graph, prefix=REPLY)
                self._replies = frozenset(row["key"] for row in rows)
        if REPLY + key not in self._replies:
            return None
        query = queries.get("documents/extract/read_extractions")
        rows = await self.db.read(query, graph=self.graph, keys=[REPLY + key])
        if not rows:
            return None
        await self._add_documents({REPLY + key: self._all_documents()})
        return str(rows[0]["data"])

    async def add_documents(self, keys: Iterable[str]) -> None:
        """Add the current documents to the extractions that are already stored under ``keys``.

        An interrupted ingestion may have paid for these extractions for other documents. Raises
        DatabaseError.
        """
        await self._add_documents({key: self._documents_of(key) for key in keys})

    async def forget_replies(self) -> None:
        """Delete all replies, because the extractions made of them are stored or published.

        Raises DatabaseError.
        """
        query = queries.get("documents/extract/delete_replies")
        await self.db.write(query, graph=self.graph, prefix=REPLY)

    async def _add_documents(self, documents: Mapping[str, Sequence[str]]) -> None:
        rows = [{"key": key, "documents": [*ids]} for key, ids in sorted(documents.items()) if ids]
        if not rows:
            return
        find = queries.get("documents/extract/read_lacking_documents")
        lacking = {row["key"] for row in await self.db.read(find, graph=self.graph, rows=rows)}
        if rows := [row for row in rows if row["key"] in lacking]:
            query = queries.get("documents/extract/add_documents")
            await self.db.write(query, graph=self.graph, rows=rows)

    def _documents_of(self, key: str) -> list[str]:
        return sorted({id_ for group in self._extracting for id_ in group.get(key, ())})

    def _all_documents(self) -> list[str]:
        return sorted({id_ for group in self._extracting for ids in group.values() for id_ in ids})

    async def _keep(self, texts: Mapping[str, Row]) -> None:
        self._waiting |= texts
        async with self._writing:
            if not texts.keys() & self._waiting.keys():
                return  # Another call stored these texts while this call waited for the lock.
            taken, self._waiting = self._waiting, {}
            try:
                await self._write(taken)
            except BaseException:
                # The other callers still wait for these texts, and try again.
                self._waiting = taken | self._waiting
                raise

    async def _write(self, data: dict[str, Row]) -> None:
        rows = [{"key": key, **row} for key, row in data.items()]
        query = queries.get("documents/extract/keep_extractions")
        if not await self.db.write(query, graph=self.graph, holder=self.holder, rows=rows):
            raise writing_lost_error(self.graph)


async def read_kept(db: Database, graph: str, keys: Iterable[str]) -> dict[str, GroundedExtraction]:
    """Return the stored extractions among ``keys``, by key. Raises DatabaseError."""
    wanted = sorted(keys)
    if not wanted:
        return {}
    rows = await db.read(
        queries.get("documents/extract/read_extractions"), graph=graph, keys=wanted
    )
    return {row["key"]: EXTRACTION.validate_json(row["data"]) for row in rows}


async def forget_documents(db: Database, graph: str, documents: Sequence[str]) -> int:
    """Delete the stored extractions and replies of some documents, and return their number.

    These are stored outside the graph. An interrupted ingestion leaves them behind for new or
    changed files. Raises DatabaseError.
    """
    query = queries.get("documents/extract/delete_kept")
    rows = await db.write(query, graph=graph, documents=[*documents])
    return sum(row["deleted"] for row in rows)


async def forget_all(db: Database, graph: str) -> int:
    """Delete all extractions and replies stored for a graph without documents; return the count.

    If the graph has documents, nothing is deleted. Raises DatabaseError.
    """
    rows = await db.write(queries.get("documents/extract/delete_rest"), graph=graph)
    return sum(row["deleted"] for row in rows)


async def read_kept_documents(db: Database, graph: str) -> list[str]:
    """Return the ids of the documents with stored extractions or replies. Raises DatabaseError."""
    rows = await db.read(queries.get("documents/extract/read_kept"), graph=graph)
    return [row["document"] for row in rows]


async def forget_extractions(db: Database, graph: str, keys: Iterable[str]) -> int:
    """Delete stored extractions that the graph now contains, and return the count.

    Raises DatabaseError.
    """
    wanted = sorted(set(keys))
    query = queries.get("documents/extract/delete_extractions")
    rows = await db.write(query, graph=graph, keys=wanted) if wanted else []
    return sum(row["deleted"] for row in rows)
