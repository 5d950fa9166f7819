"""Checks what a partitioning must keep whole, and what it must not leave behind."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import GDS, list_leftovers
from tests.graphs import count

# This is one statement, so that only the database itself could mix two generations. If it runs just
# while another generation becomes current, it may see neither as current, or both.
WHOLE = """
MATCH (g:PgsGraph {name: $graph})
CALL (g) {
  MATCH (g)<-[:PGS_OF]-(c:PgsGeneration)
  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.status = 'complete' DESC,
                    c.created_at DESC LIMIT 1
}
RETURN COUNT { (g)-[:PGS_CURRENT]->() } AS current, c.id AS id, c.status AS status,
       c.node_count AS nodes, c.sizes AS sizes,
       c.partition_count AS partitions, COLLECT {
         MATCH (c)<-[:PGS_PART_OF]-(p:PgsPartition {level: 0})
         RETURN [p.id, p.size, COUNT { (p)<-[:PGS_IN]-() }] ORDER BY p.id
       } AS found
"""
LEFT = """
CALL () { MATCH (c:PgsGeneration) WHERE c.status <> 'complete' RETURN count(c) AS unfinished }
CALL () {
  MATCH (p:PgsPartition) WHERE NOT (p)-[:PGS_PART_OF]->(:PgsGeneration)
  RETURN count(p) AS orphans
}
CALL () {
  MATCH (p:PgsPartition) WHERE any(label IN labels(p) WHERE label STARTS WITH 'PgsSeed_')
  RETURN count(p) AS seeds
}
CALL () { MATCH (l:PgsLease) WHERE l.holder IS NOT NULL RETURN count(l) AS leases }
RETURN unfinished, orphans, seeds, leases
"""
NOTHING = {"unfinished": 0, "orphans": 0, "seeds": 0, "leases": 0}
CALLS = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.pgs_call IS NOT NULL RETURN metaData"
# A dead holder counts as dead at once, so that no test has to wait.
EXPIRE = """
MATCH (l:PgsLease) WHERE l.holder IS NOT NULL
SET l.expires_at = datetime.realtime('Z') - duration('PT1S')
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """A current generation as one statement showed it, with sizes by partition id."""

    id: str
    sizes: tuple[int, ...]


async def whole(db: Database, graph: str = "papers", *, changing: bool = False) -> Seen:
    """Check that the current generation is complete and has nothing foreign, and return it.

    It must be the only generation, except while it is ``changing``.
    """
    _, rows = await db.call(WHOLE, {"graph": graph}, "read")
    assert len(rows) == 1, f"{len(rows)} rows"
    row = rows[0]
    assert changing or row["current"] == 1, f"{row['current']} current generations"
    sizes = tuple(size for _, size, _ in row["found"])
    assert row["status"] == "complete", row
    assert [part for part, _, _ in row["found"]] == list(range(1, row["partitions"] + 1)), row
    assert list(sizes) == row["sizes"], row
    assert all(size == members for _, size, members in row["found"]), row
    assert sum(sizes) == row["nodes"], row
    return Seen(row["id"], sizes)


async def nothing_left(db: Database, gds: GDS) -> None:
    """Check that no job left projections, seeds, half generations, stray partitions, or leases."""
    _, rows = await db.call(LEFT, {}, "read")
    assert rows == [NOTHING]
    _, running = await db.call(CALLS, {}, "read")
    assert running == []
    assert await list_leftovers(gds) == []


async def only(db: Database, generations: int, graph: str = "papers") -> None:
    """Check that there are so many generations, one of them current, and no other partitions."""
    kept = (await db.read(queries.get("pgs/partitioning/read_generations"), graph=graph))[0]["ids"]
    assert len(kept) == generations
    assert (await whole(db, graph)).id in kept
    loose = "(x:PgsPartition) WHERE NOT (x)-[:PGS_PART_OF]->(:PgsGeneration {status: 'complete'})"
    assert await count(db, loose) == 0


async def expire(db: Database) -> None:
    """Make the lease of a dead holder expire."""
    await db.call(EXPIRE, {}, "write")
