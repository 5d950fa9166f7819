"""Reads the schema of an ingestion from a file, or the present schema of a graph."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.publish.writer import Writer
from pgs_neo4j.documents.stored import StoredDocument
from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.text.extraction.schema import EntitySchema, read_schema

Schemas = Mapping[str, EntitySchema]
"""Schemas by their hash."""

LARGEST_FILE = 1_000_000


def read_schema_file(path: Path) -> EntitySchema:
    """Return the schema of a TOML or JSON file. Raises InputFileError and UsageError."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputFileError(f"schema {path} cannot be read: {error.strerror}") from error
    if len(data) > LARGEST_FILE:
        raise InputFileError(f"schema {path} is larger than {LARGEST_FILE:,} bytes")
    try:
        text = data.decode("utf-8-sig")
        read = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputFileError(f"schema {path} is neither TOML nor JSON: {error}") from error
    if not isinstance(read, dict):
        raise InputFileError(f"schema {path} must map types, relations, patterns, and mode")
    return read_schema(read)


async def read_schemas(db: Database, graph: str) -> dict[str, EntitySchema]:
    """Return a graph's stored schemas and the default schema, by hash. Raises DatabaseError."""
    rows = await db.read(queries.get("documents/read_schemas"), graph=graph)
    texts = [text for row in rows for text in row["schemas"]]
    return by_hash([EntitySchema(), *(read_schema(json.loads(text)) for text in texts)])


async def keep_schemas(db: Database, writer: Writer, schemas: Iterable[EntitySchema]) -> None:
    """Store schemas, so that later ingestions can compare with them. Raises DatabaseError."""
    texts = sorted(json.dumps(schema.as_data()) for schema in by_hash(schemas).values())
    query = queries.get("documents/keep_schemas")
    await db.write(query, graph=writer.graph, holder=writer.holder, schemas=texts)


def by_hash(schemas: Iterable[EntitySchema]) -> dict[str, EntitySchema]:
    """Return the schemas by their hash."""
    return {schema.signature: schema for schema in schemas}


def in_use(documents: Mapping[str, StoredDocument], schemas: Schemas) -> list[EntitySchema]:
    """Return the schemas with which documents were extracted or pruned, ordered by hash."""
    hashes = {found for one in documents.values() for found in (one.schema, *one.told)}
    return [schemas[found] for found in sorted(hashes) if found in schemas]


def schema_in_force(
    graph: str, documents: Iterable[StoredDocument], schemas: Schemas
) -> EntitySchema:
    """Return the schema that a graph's documents share, or the default schema without documents.

    Raises UsageError if the documents have different schemas, or if the schema was purged.
    """
    hashes = {one.schema for one in documents if one.schema}
    if len(hashes) > 1:
        raise UsageError(
            f"documents of graph {graph} have {len(hashes)} different schemas; name one for all "
            "with --schema"
        )
    found = hashes.pop() if hashes else EntitySchema().signature
    if found not in schemas:
        raise UsageError(
            f"the schema of graph {graph} was purged; name it again with --schema FILE, or use "
            "--schema default"
        )
    return schemas[found]
