"""Small named graphs in the database, as a user would have them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping

MAPPING = GraphMapping(
    labels=("Paper",),
    relationship_types=("CITES",),
    text=("abstract",),
    title="title",
    key="doi",
    weight="score",
    relationship_weight="strength",
)
TOPICS = ("catalysis of ammonia", "sleep and memory", "orbital debris", "medieval trade")

CREATE_PAPERS = """
UNWIND range(0, $topics * $size - 1) AS i
WITH i, i / $size AS topic, i % $size AS place
CREATE (p:Paper {
  doi: 'doi/' + i, title: 'Paper ' + i, score: toFloat($size - place), topic: topic,
  abstract: 'Paper ' + i + ' studies ' + $names[topic % size($names)]
            + '. Its token is fact' + i + '.'
})
WITH collect(p) AS papers
UNWIND range(0, size(papers) - 1) AS i
UNWIND [1, 2, 5] AS step
WITH papers[i] AS a, papers[i / $size * $size + (i + step) % $size] AS b
CREATE (a)-[:CITES {strength: 1.0}]->(b)
"""
PAPER_INDEX = "CREATE INDEX paper_doi IF NOT EXISTS FOR (p:Paper) ON (p.doi)"
CREATE_BRIDGES = """
UNWIND range(0, $topics - 2) AS topic
MATCH (a:Paper {doi: 'doi/' + (topic * $size)}), (b:Paper {doi: 'doi/' + ((topic + 1) * $size)})
CREATE (a)-[:CITES {strength: 0.1}]->(b)
"""


async def papers(db: Database, topics: int = 4, size: int = 40, isolates: int = 0) -> GraphMapping:
    """Create rings of papers with weak bridges between them, and some papers that nobody cites.

    There are ``topics`` rings of ``size`` papers, and ``isolates`` others. Only the text of paper i
    contains ``facti``, so that a test can trace what a reader knows.
    """
    given = {"topics": topics, "size": size, "names": list(TOPICS)}
    await db.call(PAPER_INDEX, {}, "write")
    await db.call(CREATE_PAPERS, given, "write")
    await db.call(CREATE_BRIDGES, given, "write")
    await db.call(
        "UNWIND range(1, $isolates) AS i CREATE (:Paper {doi: 'alone/' + i, "
        "title: 'Alone ' + i, abstract: 'Alone ' + i + ' stands by itself.'})",
        {"isolates": isolates},
        "write",
    )
    return MAPPING


@asynccontextmanager
async def locked_papers(db: Database) -> AsyncIterator[None]:
    """Lock the nodes of papers, so that no job gets further than to the members of its generation.

    The nodes are locked, and not the graph, because statements that take or renew a lease must not
    wait for the lock: the start of a generation holds the lease while it waits for the graph.
    """
    async with db.driver.session() as session:
        transaction = await session.begin_transaction()
        await (await transaction.run("MATCH (n:Paper) SET n.locked = true")).consume()
        try:
            yield
        finally:
            await transaction.rollback()


HOME = """
MATCH (:PgsGraph)-[:PGS_CURRENT]->()<-[:PGS_PART_OF]-(p)<-[:PGS_IN]-(:Paper {doi: $doi})
RETURN p.id AS id
"""
CHECKSUM = """
CALL () {
  MATCH (n) WHERE none(l IN labels(n) WHERE l STARTS WITH 'Pgs')
  WITH n ORDER BY id(n)
  RETURN collect([id(n), labels(n), [k IN keys(n) | k + '=' + toStringOrNull(n[k])]]) AS nodes
}
CALL () {
  MATCH (a)-[r]->(b) WHERE NOT type(r) STARTS WITH 'PGS_'
  WITH a, r, b ORDER BY id(r)
  RETURN collect([id(r), type(r), id(a), id(b), properties(r)]) AS relationships
}
RETURN nodes, relationships
"""


async def checksum(db: Database) -> object:
    """Return everything in the user's graph, in a form that can be compared."""
    _, rows = await db.call(CHECKSUM, {}, "read")
    return rows[0]


async def home(db: Database, doi: str) -> int:
    """Return the current partition of a paper."""
    _, rows = await db.call(HOME, {"doi": doi}, "read")
    return int(rows[0]["id"])


async def count(db: Database, pattern: str) -> int:
    """Return how often a pattern over ``x`` matches."""
    _, rows = await db.call(f"MATCH {pattern} RETURN count(x) AS found", {}, "read")
    return int(rows[0]["found"])
