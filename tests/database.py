"""The state of the test database between tests: without data, with or without the schema of pgs."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any, cast

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.database.schema import SCHEMA_VERSION, ensure_schema
from pgs_neo4j.documents.publish.publication import mapping_of
from pgs_neo4j.search.indexes import make_indexes, want_facts, want_text, want_vectors
from tests.graphs import PAPER_INDEX

NAME_INDEXES = "documents/names/create_"
# What loading, ingesting, and the graph of papers add to the schema of the engine.
ADDITIONS = (
    queries.get("documents/loading/create_loaded_constraint").text,
    queries.get("documents/loading/create_load_constraint").text,
    queries.get("documents/loading/create_staged_constraint").text,
    queries.get("documents/publish/create_entity_index").text,
    queries.get("documents/publish/create_unread_index").text,
    queries.get("documents/publish/create_waiting_index").text,
    queries.get("documents/publish/create_vectors_index").text,
    *(queries.get(name).text for name in queries.names() if name.startswith(NAME_INDEXES)),
    PAPER_INDEX,
)
OURS = [name for name in queries.names() if name.startswith("database/constraint_")]
SCHEMA = (*(queries.get(name).text for name in OURS), *ADDITIONS)
NAMED = re.compile(r"CREATE (CONSTRAINT|INDEX) (\w+)")
# The mapping of the graph that most tests of ingestion make, with vectors of the scripted embedder.
DOCS = mapping_of("Docs", "scripted")
DIMENSIONS = 8
SEARCHED = (
    *want_text(DOCS),
    *want_vectors(DOCS, DIMENSIONS),
    *want_facts(DOCS, {(name, DIMENSIONS): 1 for name in DOCS.relationship_types}),
)
Index = tuple[str, str, int | None]
# The indexes and constraints of the full schema: kind, name, and length of vectors.
EXPECTED: frozenset[Index] = frozenset(
    (found[1], found[2], None) for text in SCHEMA if (found := NAMED.search(text))
) | {("INDEX", wanted.name, wanted.dimensions) for wanted in SEARCHED}
DELETE = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS"
# While the schema stays, its record stays with it, because checking the whole schema again would
# take as long as some tests.
DELETE_DATA = (
    "MATCH (n) WHERE NOT n:PgsMeta OR coalesce(n.id + n.schema_version, '') <> 'pgs' + $version "
    "CALL (n) { DETACH DELETE n } IN TRANSACTIONS"
)
READ_INDEXES = """
SHOW INDEXES YIELD name, type, owningConstraint, options WHERE type <> 'LOOKUP'
RETURN name, CASE WHEN owningConstraint IS NULL THEN 'INDEX' ELSE 'CONSTRAINT' END AS kind,
       options.indexConfig.`vector.dimensions` AS dimensions
"""
DROP_PROJECTIONS = """
CALL gds.graph.list() YIELD graphName
CALL gds.graph.drop(graphName) YIELD nodeCount RETURN count(*) AS dropped
"""


async def fetch(database: Database, statement: str, /, **params: Any) -> list[dict[str, Any]]:
    """Return the rows of a statement that reads."""
    return (await database.call(statement, params, "read"))[1]


async def alter(database: Database, statement: str, /, **params: Any) -> list[dict[str, Any]]:
    """Run a statement that writes, as a user would, and return its rows."""
    return (await database.call(statement, params, "write"))[1]


async def empty(database: Database) -> None:
    """Delete all data and projections, but keep the constraints and indexes of the schema.

    This takes a few quick statements, unless the test before changed the schema.
    """
    await database.call(DELETE_DATA, {"version": SCHEMA_VERSION}, "write")
    await drop_projections(database)
    present = await _indexes(database)
    if present != EXPECTED:
        await _drop(database, present - EXPECTED)
        await _create(database)
    await ensure_schema(database)


async def strip(database: Database) -> None:
    """Delete all data, constraints, indexes, and projections."""
    await database.call(DELETE, {}, "write")
    await drop_projections(database)
    await _drop(database, await _indexes(database))


async def speak(database: Database, language: str) -> None:
    """Make a language the default of the database and of all statements that exist in it."""
    name = (await database.call("CALL db.info() YIELD name", {}, "read"))[1][0]["name"]
    await database.call(
        f"ALTER DATABASE {name} SET DEFAULT LANGUAGE CYPHER {language}", {}, "write"
    )
    queries.PREFERRED = cast("queries.Language", language)
    queries.get.cache_clear()


async def drop_projections(database: Database) -> None:
    """Drop all projections that Graph Data Science holds in memory."""
    await database.call(DROP_PROJECTIONS, {}, "write")


async def _create(database: Database) -> None:
    for text in SCHEMA:
        await database.call(text, {}, "write")
    await make_indexes(database, SEARCHED)
    await database.call("CALL db.awaitIndexes()", {}, "read")


async def _indexes(database: Database) -> frozenset[Index]:
    _, rows = await database.call(READ_INDEXES, {}, "read")
    return frozenset((row["kind"], row["name"], row["dimensions"]) for row in rows)


async def _drop(database: Database, indexes: frozenset[Index]) -> None:
    for kind, name, _ in indexes:
        await database.call(f"DROP {kind} $name IF EXISTS", {"name": name}, "write")


async def explain(db: Database, query: Query) -> tuple[str, tuple[str, ...]]:
    """Return the type (r, w, rw, or s) and the columns of a statement, as planned."""
    async with db.driver.session(database=db.name) as session:
        result = await session.run(f"EXPLAIN {query.text}", dict.fromkeys(query.params))
        columns = tuple(result.keys())
        summary = await result.consume()
        return str(summary.query_type), columns


async def list_rows(rows: AsyncIterator[Row]) -> list[Row]:
    """Return all rows of a stream as a list."""
    return [row async for row in rows]
