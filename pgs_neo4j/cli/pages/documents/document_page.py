"""One document of a graph, as lines and as JSON."""

from __future__ import annotations

from pgs_neo4j.cli.pages.documents.ingested import DROPPED
from pgs_neo4j.cli.pages.text import labeled, size
from pgs_neo4j.model.ingest import DocumentChunk, DocumentDetails
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import counted, one_line


def document_json(document: DocumentDetails) -> Json:
    """Return a document as JSON data."""
    return {**plain_data(document), "dropped": document.dropped}


def document_lines(document: DocumentDetails, width: int) -> list[str]:
    """Return where a document comes from, what it adds, and its chunks."""
    source = document.source if document.source != document.id else ""
    read = ", ".join(filter(None, (document.media_type, document.loader)))
    dropped = [f"{count:,} {DROPPED.get(why, why)}" for why, count in document.dropped.items()]
    types = f"{counted(len(document.types), 'type')}, " if document.types else ""
    rows = [
        ("Document", one_line(document.id)),
        ("Title", one_line(document.name)),
        ("Source", one_line(source)),
        ("Read as", one_line(read)),
        ("Size", f"{size(document.size)}, hash {document.hash}"),
        ("Written", document.ingested_at),
        ("Schema", f"{types}hash {document.schema}" if document.schema else ""),
        ("Unread", one_line("; ".join(document.unread))),
        ("Stale", "; ".join(document.stale) or "no"),
        (
            "Holds",
            f"{counted(len(document.chunks), 'chunk')}, "
            f"{counted(document.entities, 'entity', 'entities')}, "
            f"{counted(document.relations, 'relation')}",
        ),
        ("Dropped", ", ".join(dropped)),
    ]
    told = [line for label, text in rows if text for line in labeled(label, text, width)]
    return [*told, "", *map(_chunk, document.chunks)]


def _chunk(chunk: DocumentChunk) -> str:
    place = " > ".join(map(one_line, chunk.path))
    if chunk.page is not None:
        place = ", ".join(filter(None, (place, f"page {chunk.page}")))
    parts = [
        f"{chunk.characters:,} characters",
        counted(chunk.entities, "entity", "entities"),
        counted(chunk.relations, "relation"),
    ]
    left_out = sum(chunk.dropped.values())
    if left_out:
        parts.append(f"{left_out:,} dropped")
    if not chunk.proven:
        parts.append("shown, unproven")
    return "  ".join(filter(None, (f"{chunk.index + 1}", ", ".join(parts), place)))
