"""Deletes documents group by group, and proves that the database no longer has their text.

A deletion stores its search terms until its search has ended. These are hashes of the documents'
ids and of runs of words, never text. If the process is killed after the documents are deleted, the
next deletion continues the search.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.fence import MOST_FREED, forget_ended, raise_fence
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.batches import GROUP_BYTES, GROUP_DOCUMENTS, batches
from pgs_neo4j.documents.deletion.scan import (
    DESCRIBED,
    KEYS,
    REMADE,
    HeldText,
    Removed,
    Scan,
    drop_live_texts,
    find_quoting,
    forget,
    remove_remade,
    scan_database,
    scan_remade,
)
from pgs_neo4j.documents.extract.kept import forget_all, forget_documents, forget_extractions
from pgs_neo4j.documents.publish.publication import NewDocument, Publication, assemble, publish
from pgs_neo4j.documents.publish.writer import Writer, writing_lost_error
from pgs_neo4j.documents.stored import StoredDocument, read_chunk_ids, read_chunks, read_some_chunks
from pgs_neo4j.errors import DatabaseMemoryError
from pgs_neo4j.events import OnEvent, StepStarted, ignore
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.ingest import Deletion, QuotingRun, TextHolder
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.traces import Traces

PART_CHUNKS = 1000
"""Chunks of a large document that one publication deletes."""
PART_S = 300.0
"""Maximum seconds of a transaction, for each ``PART_CHUNKS`` chunks."""
MOST_HOLDERS = 1000
"""Maximum number of holders of deleted text that a deletion names. Further holders are only
counted."""
PORTION = 1_000_000
"""Maximum bytes of hashed runs to store in one node. The hash of a run has eight bytes."""


async def delete_documents(
    db: Database,
    writer: Writer,
    documents: Sequence[StoredDocument],
    *,
    unfinished: Sequence[str] = (),
    forget_rest: bool = False,
    forget_answers: bool = False,
    on_event: OnEvent = ignore,
) -> Deletion:
    """Delete documents and everything that only they contain, and report what still has their text.

    Stored replies and descriptions with their text are deleted first, so that an interrupted
    deletion leaves none of these behind. ``forget_answers`` also removes texts of answers that
    quote a deleted document. If an earlier deletion was interrupted, its search for remaining text
    is also finished. ``unfinished`` has the ids of documents whose first ingestion was interrupted;
    the stored replies of these documents are deleted. ``forget_rest`` deletes all other stored
    replies if no document is left. Raises DatabaseError, and LeaseLostError if another writer took
    over.
    """
    began, traces = perf_counter(), Traces()
    step = f"delete {counted(len(documents), 'document')}, and search for the text"
    on_event(StepStarted("ingest", step))
    begun = await read_begun(db, writer.graph)
    await add_begun(db, begun, traces)
    groups = await _read_groups(db, writer.graph, documents, traces, begun)
    ids, uids = [one.id for one in documents], [*begun.uids]
    done = Deletion(
        resumed=len(begun.documents - set(map(digest, ids))),
        sentences=traces.sentences,
        short=traces.short,
    )
    if ids or uids:
        await drop_live_texts(db, writer.graph, traces, ids)
    if ids:
        uids += await keep_deletion(db, writer, ids, traces, begun)
    # From here on, a run that has read these documents cannot store quotes from them.
    if uids:
        await raise_fence(db, uids)
    done = await _remove_remade(db, traces, done)
    left = await forget_documents(db, writer.graph, unfinished) if unfinished else 0
    for own, keys in groups:
        done = await _delete_group(db, writer, own, keys, done)
    if forget_rest:
        left += await forget_all(db, writer.graph)
    done = replace(done, replies=done.replies + left)
    if not traces.empty:
        scan = await scan_database(db, writer.graph, traces, on_event)
        done = await _report_traces(db, scan, done, forget_answers=forget_answers)
    await end_deletions(db, writer, uids)
    return replace(done, seconds=perf_counter() - began)


async def _read_groups(
    db: Database,
    graph: str,
    documents: Sequence[StoredDocument],
    traces: Traces,
    begun: BegunDeletions,
) -> list[tuple[list[str], list[str]]]:
    """Add the documents' texts to ``traces``, and return the groups to delete.

    A group has the ids of its documents, and the extraction key of each of their chunks.
    """
    query = queries.get("documents/deletion/read_deleted_texts")
    groups = []
    for group in batches(documents, GROUP_DOCUMENTS, GROUP_BYTES, lambda one: one.size):
        ids = [one.id for one in group]
        rows = await db.read(query, graph=graph, documents=ids)
        for row in rows:
            traces.add(row["text"], counted=not begun.has(row["document"]))
        groups.append((ids, [row["extraction_key"] for row in rows]))
    return groups


async def _delete_group(
    db: Database, writer: Writer, ids: Sequence[str], keys: Sequence[str], done: Deletion
) -> Deletion:
    """Delete a group of documents with their stored extractions, and return the new totals.

    A large document is deleted part by part, in one transaction if the database has the memory.
    """
    left = await forget_documents(db, writer.graph, ids)
    write = partial(_delete_and_count, writer, ids)
    if len(ids) > 1 or len(keys) <= PART_CHUNKS:
        entities, relations = await write(db, apart=True)
    else:
        seconds = PART_S * (1 + len(keys) // PART_CHUNKS)
        try:
            entities, relations = await db.transact(write, seconds)
        except DatabaseMemoryError:
            entities, relations = await write(db, apart=True)
    kept = await forget_extractions(db, writer.graph, keys)
    return replace(
        done,
        documents=done.documents + len(ids),
        chunks=done.chunks + len(keys),
        entities=done.entities + entities,
        relations=done.relations + relations,
        replies=done.replies + left + kept,
    )


async def _delete_and_count(
    writer: Writer, ids: Sequence[str], db: Database, *, apart: bool = False
) -> tuple[int, int]:
    """Delete some documents, and return the numbers of entities and relations that disappear.

    ``apart`` gives each part of a large document its own transaction.
    """
    entities = relations = 0
    async with aclosing(_assemble_publications(db, writer, ids)) as publications:
        async for what in publications:
            await publish(db, writer, what, last=apart or not what.documents)
            entities += len(what.change.vanished)
            relations += len(what.change.dropped)
    return entities, relations


async def _assemble_publications(
    db: Database, writer: Writer, ids: Sequence[str]
) -> AsyncGenerator[Publication]:
    """Yield the publications that delete some documents; a large document loses its chunks first.

    With its first chunks, a large document also loses its hash. So if its file returns before the
    deletion is complete, the document does not count as unchanged.
    """
    graph, resolution = writer.graph, writer.resolution
    chunks = await read_chunk_ids(db, graph, ids) if len(ids) == 1 else []
    for first in range(0, len(chunks) - PART_CHUNKS, PART_CHUNKS):
        document = NewDocument(id=ids[0], properties={"hash": ""}, chunks=())
        part = await read_some_chunks(db, graph, chunks[first : first + PART_CHUNKS])
        yield await assemble(db, graph, [document], {document.id: part}, resolution)
    yield await assemble(db, graph, [], await read_chunks(db, graph, ids), resolution)


async def _report_traces(
    db: Database, scan: Scan, done: Deletion, *, forget_answers: bool
) -> Deletion:
    """Remove the traces that may be removed, and return the deletion with the remaining traces."""
    removed = await remove_remade(db, scan.found, scan.traces)
    quoting = await find_quoting(db, scan.found)
    forgotten = await forget(db, scan.found, scan.traces) if forget_answers else []
    gone = {(one.element_id, one.place) for one in forgotten}
    # After forgetting, answers have traces only in their keys, so their nodes count as holders.
    settled: Mapping[str, QuotingRun] = {} if forget_answers else quoting
    held = [
        one
        for one in scan.found
        if not _is_settled(one)
        and (one.element_id, one.place) not in gone
        and one.element_id not in settled
    ]
    return replace(
        _add_removed(done, removed),
        scanned=scan.characters,
        indexes=scan.indexes,
        held=len(held),
        holders=_list_holders(held),
        quoting=_list_runs(quoting.values(), forgotten=forget_answers),
    )


async def _remove_remade(db: Database, traces: Traces, done: Deletion) -> Deletion:
    """Remove stored replies and similar data with traces, because pgs can make this data again."""
    if traces.empty:
        return done
    scan = await scan_remade(db, traces)
    return _add_removed(done, await remove_remade(db, scan.found, traces))


def _add_removed(done: Deletion, removed: Removed) -> Deletion:
    return replace(
        done,
        replies=done.replies + removed.replies,
        descriptions=done.descriptions + removed.descriptions,
    )


def _is_settled(held: HeldText) -> bool:
    """Return whether the traces of a holder have been removed already."""
    if DESCRIBED in held.labels:
        return held.place not in KEYS
    return bool(REMADE.intersection(held.labels))


def _list_holders(held: Sequence[HeldText]) -> tuple[TextHolder, ...]:
    return tuple(
        TextHolder(kind=one.kind, id=one.id, place=one.place) for one in held[:MOST_HOLDERS]
    )


def _list_runs(quoting: Iterable[QuotingRun], *, forgotten: bool) -> tuple[QuotingRun, ...]:
    """Return each run once, ordered by graph and session."""
    runs = {one.run: replace(one, forgotten=forgotten) for one in quoting}
    return tuple(sorted(runs.values(), key=lambda one: (one.graph, one.session, one.run)))


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunDeletions:
    """The deletions of a graph whose search has not ended.

    ``uids`` identify the nodes that store these deletions, ``label`` is the graph's label, and
    ``documents`` are hashes of the deleted documents' ids.
    """

    uids: tuple[str, ...] = ()
    label: str = ""
    documents: frozenset[str] = frozenset()
    sentences: int = 0
    short: int = 0

    def has(self, document: str) -> bool:
        """Return whether one of the deletions includes the document with this id."""
        return digest(document) in self.documents


async def read_begun(db: Database, graph: str) -> BegunDeletions:
    """Return the deletions of a graph whose search has not ended. Raises DatabaseError."""
    rows = await db.read(queries.get("documents/deletion/read_deletions"), graph=graph)
    return BegunDeletions(
        uids=tuple(row["uid"] for row in rows),
        label=rows[0]["label"] if rows else "",
        documents=frozenset(hashed for row in rows for hashed in row["documents"]),
        sentences=sum(row["sentences"] for row in rows),
        short=sum(row["short"] for row in rows),
    )


async def add_begun(db: Database, begun: BegunDeletions, traces: Traces) -> None:
    """Add the search terms of unfinished deletions to ``traces``. Raises DatabaseError."""
    traces.sentences += begun.sentences
    traces.short += begun.short
    query = queries.get("documents/deletion/read_deletion_runs")
    for uid in begun.uids:
        for row in await db.read(query, uid=uid):
            traces.add_runs(row["runs"], row["sizes"])


async def keep_deletion(
    db: Database, writer: Writer, ids: Sequence[str], traces: Traces, begun: BegunDeletions
) -> list[str]:
    """Store the search terms of a deletion before it begins, and return the uids of the new nodes.

    The counts of the unfinished deletions in ``begun`` are left out, because the nodes of these
    deletions already store the counts. Raises DatabaseError, and LeaseLostError if another writer
    took over.
    """
    runs, own = traces.runs, f"{writer.graph}/{uuid4().hex}"
    documents = sorted(set(map(digest, ids)) - begun.documents)
    first = {
        "documents": documents,
        "sentences": traces.sentences - begun.sentences,
        "short": traces.short - begun.short,
    }
    rest: Row = {"documents": [], "sentences": 0, "short": 0}
    uids = []
    for start in range(0, max(1, len(runs)), PORTION):
        uids.append(f"{own}/{start}")
        properties = {
            **(rest if start else first),
            "label": writer.label,
            "sizes": traces.sizes,
            "runs": runs[start : start + PORTION],
        }
        query = queries.get("documents/deletion/keep_deletion")
        held = {"graph": writer.graph, "holder": writer.holder}
        if not await db.write(query, **held, uid=uids[-1], properties=properties):
            raise writing_lost_error(writer.graph)
    return uids


async def end_deletions(db: Database, writer: Writer, uids: Sequence[str]) -> None:
    """Mark deletions as ended, because their search is complete.

    Their stored hashes are deleted as soon as all runs have ended that began before the deletions
    ended. Raises DatabaseError, and LeaseLostError if another writer took over.
    """
    query = queries.get("documents/deletion/set_ended")
    held = {"graph": writer.graph, "holder": writer.holder}
    for first in range(0, len(uids), MOST_FREED):
        if not await db.write(query, **held, uids=uids[first : first + MOST_FREED]):
            raise writing_lost_error(writer.graph)
    await forget_ended(db)
