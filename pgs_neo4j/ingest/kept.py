"""Keeps extractions that were paid for until the graph holds them."""

from __future__ import annotations

from collections.abc import Iterable

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.ingest.order import IngestTools
from pgs_neo4j.ingest.stored import EXTRACTION
from pgs_neo4j.model.documents import GroundedExtraction


async def keep_extraction(
    tools: IngestTools, graph: str, key: str, extraction: GroundedExtraction
) -> None:
    """Keep an extraction under its key; one that costs nothing is not kept."""
    if tools.extractor.free:
        return
    data = EXTRACTION.dump_json(extraction).decode()
    query = queries.get("ingest/documents/keep_extractions")
    await tools.db.write(query, graph=graph, key=key, data=data)


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
