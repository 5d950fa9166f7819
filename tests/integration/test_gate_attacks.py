"""Thousands of hostile statements on a real database: none passes, and nothing changes.

``.ci/run`` runs this file on both releases, because their plans differ.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.reading import ReadLimits, read_statement
from pgs_neo4j.errors import DatabaseTimeoutError, GateError, QueryError
from pgs_neo4j.model import StatementRows
from tests.attacks import BOMBS, CANARY, hostile_statements
from tests.database import alter, drop_projections, fetch

VECTOR_CANARY = 0.73125
GRAPH = """
CREATE (a:Doc {name: 'Ann', year: 2019, big: 1000000000, vector: [x IN range(1, 64) | $number]})
CREATE (b:Doc {name: 'Bob', year: 2021})-[:CITES {page: 3}]->(a)
CREATE (b)-[:ABOUT]->(t:Topic {name: 'kiln'})
CREATE (b)-[:PGS_IN {secret: $canary}]->(p:PgsPartition {uid: $canary, id: $canary, name: $canary})
CREATE (a)-[:PGS_ISOMORPHIC {secret: $canary}]->(t)
CREATE (a)-[:PGS_IN {secret: $canary}]->(p)<-[:PGS_ON]-(:PgsRun {id: $canary, question: $canary})
"""
CONTENT = {
    "nodes": (
        "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties "
        "ORDER BY id"
    ),
    "relationships": (
        "MATCH (a)-[r]->(b) RETURN elementId(r) AS id, type(r) AS type, elementId(a) AS source, "
        "elementId(b) AS target, properties(r) AS properties ORDER BY id"
    ),
    "indexes": "SHOW INDEXES YIELD name, type, state, labelsOrTypes, properties, options RETURN *",
    "constraints": "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties RETURN *",
    "projections": "CALL gds.graph.list() YIELD graphName, nodeCount, relationshipCount RETURN *",
    "users": "SHOW USERS YIELD user, suspended, passwordChangeRequired RETURN *",
}
AT_ONCE = 6


@pytest.fixture
async def graph(db: Database) -> Database:
    await alter(db, GRAPH, canary=CANARY, number=VECTOR_CANARY)
    await alter(db, "CALL gds.graph.project('kept', 'Doc', 'CITES') YIELD nodeCount RETURN *")
    return db


async def fingerprint(db: Database) -> dict[str, str]:
    """Return a hash of everything that the database holds, by kind."""
    found = {name: repr(await fetch(db, text)) for name, text in CONTENT.items()}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in found.items()}


async def passed(db: Database, statements: Iterable[str], seconds: float) -> list[StatementRows]:
    """Return what passed of hostile statements, each of which may take so many seconds.

    All others raised an error that shows nothing of pgs.
    """
    through: list[StatementRows] = []
    messages: list[str] = []
    waiting = iter(statements)

    async def attack() -> None:
        for statement in waiting:
            try:
                limits = ReadLimits(seconds=seconds)
                through.append(await read_statement(db, statement, limits=limits))
            except (GateError, QueryError, DatabaseTimeoutError) as error:
                messages.append(str(error))

    await asyncio.gather(*(attack() for _ in range(AT_ONCE)))
    assert not [message for message in messages if CANARY in message]
    return through


async def test_no_attack_passes_and_nothing_changes(graph: Database) -> None:
    attacks = list(hostile_statements())
    assert len(attacks) > 1000
    before = await fingerprint(graph)
    # Planning takes long on a busy machine, and a statement that was not planned proves nothing.
    through = await passed(graph, attacks, seconds=30.0)
    assert [one.statement for one in through] == []
    assert await fingerprint(graph) == before
    await drop_projections(graph)


async def test_bombs_are_refused_or_end_and_the_server_goes_on_at_once(graph: Database) -> None:
    before = await fingerprint(graph)
    through = await passed(graph, BOMBS, seconds=1.0)
    assert [one.statement for one in through] == []
    assert await fingerprint(graph) == before
    # No thread of the server still works on one of them.
    async with asyncio.timeout(60):
        while len(await fetch(graph, "SHOW TRANSACTIONS YIELD transactionId RETURN *")) > 1:
            await asyncio.sleep(0.1)
    await drop_projections(graph)


@pytest.mark.parametrize(
    "returned",
    [
        "d", "d.vector", "properties(d)", "d {.*}", "d {.vector}", "{a: [d.vector]}", "[d.vector]",
        "collect(d)", "collect(d.vector)", "[k IN keys(d) | d[k]]", "tail(d.vector)",
        "d.vector[0..40]",
        "d.vector + d.vector", "[x IN d.vector | x]", "coalesce(d.vector, 1)",
        "{a: {b: properties(d)}}", "[d, properties(d), {vector: d.vector}]",
    ],
)  # fmt: skip
async def test_rows_have_no_vectors(graph: Database, returned: str) -> None:
    read = await read_statement(graph, f"MATCH (d:Doc {{name: 'Ann'}}) RETURN {returned} AS x")
    assert len(read.rows) == 1
    assert str(VECTOR_CANARY) not in str(read.rows)
    await drop_projections(graph)


@pytest.mark.parametrize(
    "returned",
    [
        "labels(d)", "properties(d)", "[(d)-[:CITES]-(n) | labels(n)]", "COUNT { (d)-[:CITES]-() }",
        "[i IN [1] | [(d)-[r:CITES]-(n) | r]]", "CASE WHEN (d)-[:CITES]->(:Doc) THEN d END",
    ],
)  # fmt: skip
async def test_what_passes_shows_nothing_of_pgs(graph: Database, returned: str) -> None:
    read = await read_statement(graph, f"MATCH (d:Doc) RETURN {returned} AS x")
    assert len(read.rows) == 2
    assert CANARY not in str(read)
    assert "Pgs" not in str(read.rows)
    await drop_projections(graph)
