"""The rows of publications, written by the driver alone."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from neo4j import AsyncGraphDatabase

from tests.bench.store import Server

KEY = """
CREATE CONSTRAINT bare_key IF NOT EXISTS FOR (n:LoadedNode) REQUIRE (n.graph, n.id) IS UNIQUE
"""
STATEMENTS = (
    """
    UNWIND $documents AS row
    CREATE (d:LoadedNode:Document {graph: $graph}) SET d += row
    """,
    """
    UNWIND $chunks AS row
    MATCH (d:LoadedNode {graph: $graph, id: row.document})
    CREATE (d)-[:PART_OF]->(c:LoadedNode:Chunk:$($labels) {graph: $graph})
    SET c += row.properties
    """,
    """
    UNWIND $follows AS pair
    MATCH (a:LoadedNode {graph: $graph, id: pair[0]}), (b:LoadedNode {graph: $graph, id: pair[1]})
    CREATE (a)-[:NEXT_CHUNK]->(b)
    """,
    """
    UNWIND $entities AS row
    MERGE (e:LoadedNode {graph: $graph, id: row.properties.id})
    SET e:`__Entity__`:$(row.labels), e += row.properties
    """,
    """
    UNWIND $mentions AS row
    MATCH (e:LoadedNode {graph: $graph, id: row.entity})
    MATCH (c:LoadedNode {graph: $graph, id: row.chunk})
    CREATE (e)-[m:MENTIONED_IN]->(c) SET m = row.properties
    """,
    """
    UNWIND $relations AS row
    MATCH (s:LoadedNode {graph: $graph, id: row.source})
    MATCH (t:LoadedNode {graph: $graph, id: row.target})
    MERGE (s)-[r:RELATES {rel_type: row.properties.rel_type}]->(t) SET r = row.properties
    """,
    """
    UNWIND $named AS row
    CREATE (n:PgsName {graph: $graph})
    SET n += row
    """,
)


async def write_bare(server: Server, publications: Sequence[dict[str, Any]]) -> float:
    """Return the seconds that a driver takes for some publications, each in one transaction."""
    async with AsyncGraphDatabase.driver(
        server.uri, auth=(server.user, server.password), notifications_min_severity="OFF"
    ) as driver:
        await driver.execute_query(KEY)
        began = perf_counter()
        async with driver.session() as session:
            for rows in publications:
                async with await session.begin_transaction() as transaction:
                    for statement in STATEMENTS:
                        await (await transaction.run(statement, rows)).consume()
                    await transaction.commit()
        return perf_counter() - began
