"""Compares documents with what the graph holds of them, and says what to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.change import work_out
from pgs_neo4j.documents.fold.contribution import Contribution, contribution_of
from pgs_neo4j.documents.fold.resolution import Resolution
from pgs_neo4j.documents.publish import NewDocument, Publication
from pgs_neo4j.documents.stored import EXTRACTION, StoredChunk


async def assemble(
    db: Database,
    graph: str,
    documents: Sequence[NewDocument],
    stored: Mapping[str, Sequence[StoredChunk]],
    resolution: Resolution | None = None,
) -> Publication:
    """Return what to write so that the graph holds ``documents`` as they are now.

    ``stored`` has the chunks that the graph holds of them, and of documents that are to go: those
    that are not among ``documents``. Chunks that stay and say the same are left alone. Raises
    DatabaseError.
    """
    current = {document.id for document in documents}
    removed = [document for document in stored if document not in current]
    old = {chunk.id: chunk for chunks in stored.values() for chunk in chunks}
    new = {chunk.id: chunk for document in documents for chunk in document.chunks}
    same = {
        id_
        for id_, chunk in new.items()
        if id_ in old
        and old[id_].sure == chunk.sure
        and old[id_].extraction == EXTRACTION.dump_json(chunk.extraction).decode()
    }
    leaving = [chunk.contribution for id_, chunk in old.items() if id_ not in same]
    coming: list[Contribution] = [
        contribution_of(id_, chunk.extraction, sure=chunk.sure)
        for id_, chunk in new.items()
        if id_ not in same
    ]
    return Publication(
        gone=[*removed, *(id_ for id_ in old if id_ not in new)],
        documents=documents,
        change=await work_out(db, graph, leaving, coming, resolution),
    )
