"""Compares files with the documents of a graph, and divides those that changed into chunks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.ingest.order import IngestOrder
from pgs_neo4j.ingest.sources import SourceFile, read_source
from pgs_neo4j.ingest.stored import StoredDocument
from pgs_neo4j.model.documents import Chunk, DocumentText
from pgs_neo4j.model.ingest import DocumentOutcome, DocumentState
from pgs_neo4j.text.chunking import chunk_document


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedChunk:
    """A chunk with its id, and the key of what its extraction rests on."""

    id: str
    chunk: Chunk
    extraction_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedDocument:
    """A document that is to be written. ``former`` are ids of documents it takes chunks from."""

    id: str
    state: DocumentState
    hash: str
    size: int
    chunks: Sequence[WantedChunk]
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of the files so far, and the documents that have none any more."""

    outcomes: list[DocumentOutcome]
    missing: dict[str, StoredDocument]


def compare(
    order: IngestOrder, stored: Mapping[str, StoredDocument], signature: str
) -> tuple[Compared, Iterator[WantedDocument]]:
    """Return the documents to write, made one at a time, and what is known of the others.

    A file whose text and rules are those of its document is unchanged; stale if its signature is
    another one. A new file with
    the text of a document that has no file any more is that document, moved.
    """
    present = {source.id for source in order.sources.files}
    missing = {id_: one for id_, one in stored.items() if id_ not in present}
    comparison = Compared([], missing)
    return comparison, _wanted(order, stored, signature, comparison)


def _wanted(
    order: IngestOrder,
    stored: Mapping[str, StoredDocument],
    signature: str,
    comparison: Compared,
) -> Iterator[WantedDocument]:
    by_hash: dict[str, list[str]] = defaultdict(list)
    for id_, one in sorted(comparison.missing.items(), reverse=True):
        by_hash[one.hash].append(id_)
    for source in order.sources.files:
        try:
            text, size = read_source(source, order.most_bytes)
        except InputFileError as error:
            outcome = DocumentOutcome(id=source.id, state="failed", reason=str(error))
            comparison.outcomes.append(outcome)
            continue
        found = digest(text.text)
        known = stored.get(source.id)
        if known and (state := _standing(order, known, found, signature)):
            comparison.outcomes.append(
                DocumentOutcome(id=source.id, state=state, chunks=known.chunks)
            )
            continue
        former = by_hash[found].pop() if known is None and by_hash.get(found) else None
        if former is not None:
            del comparison.missing[former]
        yield _document(order, source, text, size, found, signature, known, former)


def _standing(
    order: IngestOrder, known: StoredDocument, found: str, signature: str
) -> DocumentState | None:
    """Return the state of a document that stays as it is; None if it is to be written."""
    if (known.hash, known.rules) != (found, order.rules.signature):
        return None
    if known.signature == signature:
        return "unchanged"
    return None if order.refresh else "stale"


def _document(
    order: IngestOrder,
    source: SourceFile,
    text: DocumentText,
    size: int,
    found: str,
    signature: str,
    known: StoredDocument | None,
    former: str | None,
) -> WantedDocument:
    state: DocumentState = "changed" if known else "moved" if former else "added"
    return WantedDocument(
        id=source.id,
        state=state,
        hash=found,
        size=size,
        chunks=list(_chunks(source.id, text, order, signature)),
        former=(source.id, former) if former else (source.id,),
    )


def _chunks(
    document: str, text: DocumentText, order: IngestOrder, signature: str
) -> Iterator[WantedChunk]:
    """Yield the chunks of a document; equal texts in it are told apart by their order."""
    repeated: Counter[str] = Counter()
    for chunk in chunk_document(text, order.rules):
        repeated[chunk.hash] += 1
        count = repeated[chunk.hash]
        yield WantedChunk(
            id=f"{document}#{chunk.hash[:16]}" + (f"-{count}" if count > 1 else ""),
            chunk=chunk,
            extraction_key=digest([signature, chunk.text, chunk.context, list(chunk.path)]),
        )


def title_of(document: str) -> str:
    """Return how a document is called: the name of its file."""
    return PurePosixPath(document).name
