"""A process that lost a run, a lease, or a generation writes nothing.

Each fenced statement runs while the transaction that takes its holder away is still open. It has
to wait for that transaction, and then finds that it may not write. Statements are found by reading
them, so a new one without a lock fails here.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import BOUND, Query
from pgs_neo4j.database.schema import ensure_schema
from tests.database import alter, fetch
from tests.waiting import until

# What decides whether a statement may write: the holder of a run, the holder or the fence of a
# lease, the holder of documents, or the status of the generation that is being built.
STATUS = re.compile(r"status\s*(=|<>|IN)\s*\[?'(building|abandoned)'")
TAKING = {
    "pgs/runs/set_run_holders",
    "database/merge_leases",
    "pgs/partitioning/mark_abandoned",
    "documents/publish/take_ingest",
}
NOT_YET_THERE = {"pgs/runs/merge_jobs"}  # its holder is new with its node
BLOCKED = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
BEGIN = """
CREATE (g:PgsGraph {name: 'papers'})
CREATE (s:PgsSession {uid: 'papers/s', id: 's', updated_at: datetime()})-[:PGS_OF]->(g)
CREATE (g)<-[:PGS_OF]-(c:PgsGeneration {id: 'g1', status: $status})
CREATE (p:PgsPartition {uid: 'g1:1', id: 1, level: 0})-[:PGS_PART_OF]->(c)
CREATE (q:PgsPartition {uid: 'g1:2', id: 2, level: 0})-[:PGS_PART_OF]->(c)
CREATE (p)-[:PGS_ADJACENT {generation: 'g1', edges: 1}]->(q)
CREATE (r:PgsRun {id: 'r1', holder: 'old', status: 'running', updated_at: datetime()})
CREATE (r)-[:PGS_RAN_IN]->(s) CREATE (r)-[:PGS_ON]->(c)
CREATE (w:PgsSweep {id: 'r1:2', partition: 2})-[:PGS_READ]->(q)
CREATE (:PgsGeneration {id: 'g0', status: 'complete'})<-[:PGS_PART_OF]-
       (:PgsPartition {uid: 'g0:1', id: 1, level: 0})
CREATE (l:PgsLease {name: 'papers', holder: 'old', fence: 4,
                    expires_at: datetime.realtime('Z') + duration('PT30S')})
CREATE (:PgsIngest {graph: 'papers', holder: 'old'})
CREATE (:Paper {doi: 1})
CREATE (:Document:LoadedNode {graph: 'papers', id: 'd0'})
"""
TAKE_OVER = {
    "run": "MATCH (r:PgsRun {id: 'r1'}) SET r.holder = 'new'",
    "lease": "MATCH (l:PgsLease) SET l.holder = 'new', l.fence = l.fence + 1",
    "documents": "MATCH (w:PgsIngest) SET w.holder = 'new'",
    "generation": (abandon := "MATCH (c:PgsGeneration {id: 'g1'}) SET c.status = 'abandoned'"),
    "complete generation": abandon,
}
# Everything but the marks that locks leave behind.
STATE = """
MATCH (n) OPTIONAL MATCH (n)-[r]->(m)
WITH n, type(r) AS type, properties(r) AS facts, labels(m) AS ends
RETURN labels(n) AS labels,
       [key IN keys(n) WHERE NOT key IN ['checked_at', 'asked_at', 'moved_at'] |
       [key, toString(n[key])]] AS properties, collect([type, facts, ends]) AS links
"""
VALUES: dict[str, Any] = {
    "run": "r1",
    "session": "papers/s",
    "graph": "papers",
    "generation": "g1",
    "generations": ["g1"],
    "holder": "old",
    "former": "old",
    "documents": [{"id": "d1"}],
    "fence": 4,
    "id": "g2",
    "partition": 1,
    "partitions": [1],
    "source": "g0",
    "segment": "s1",
    "sweep": {"id": "r1:1", "partition": 1, "status": "accepted"},
    "sweeps": ["r1:2"],
    "thesis": {"id": "r1:thesis", "text": "t"},
    "properties": {"calls": 1},
    "spent": {"tally": 1, "calls": 1},
}
ROWS: dict[str, Any] = {
    "pgs/partitioning/write_members": [{"uid": "g1:1", "nodes": [], "hashes": [], "facts": []}],
    "pgs/partitioning/write_partitions": [{"uid": "g1:3", "id": 3, "level": 0}],
    "pgs/partitioning/write_adjacents": [
        {"source": "g1:2", "target": "g1:1", "edges": 2, "weight": 1}
    ],
    "pgs/partitioning/write_reached": [{"source": "g1:1", "target": "g1:2", "titles": ["t"]}],
    "pgs/partitioning/describe/write_segments": [{"uid": "g1:1", "first": 0}],
    "pgs/partitioning/describe/write_postings": [{"uid": "s1:0", "data": b"x"}],
    "documents/publish/set_roots": [{"id": "d0", "roots": ["r"]}],
}
EMPTY = {"str": "", "int": 0, "float": 0.0, "number": 30.0, "dict": {}, "bool": False}


def fence_of(query: Query) -> str:
    """What takes the right to write away from the sender of a statement; empty for no fence."""
    if query.name in TAKING | NOT_YET_THERE:
        return ""
    if query.name == "pgs/runs/create_runs":
        return "complete generation"
    if query.name.startswith("documents/") and "holder" in query.params:
        return "documents"
    if query.mode != "write":
        return ""
    if {"run", "holder"} <= set(query.params):
        return "run"
    if {"holder", "fence"} & set(query.params):
        return "lease"
    has_generation = {"generation", "generations"} & set(query.params)
    return "generation" if has_generation and STATUS.search(query.text) else ""


FENCED = {name: fence for name in queries.names() if (fence := fence_of(queries.get(name)))}


def params_of(query: Query) -> dict[str, Any]:
    """Parameters with which a statement would write something, had its sender the right to."""
    rows = ROWS.get(query.name, [])
    values = VALUES | {"rows": rows, "cells": rows}
    if query.name == "pgs/partitioning/describe/write_segments":
        values |= {"partitions": rows, "cells": 0}
    if query.name == "documents/publish/publish":
        values |= {"last": True}  # of its transaction
    return {
        name: values.get(name, [] if kind.startswith("list") else EMPTY.get(kind.rstrip("?")))
        for name, kind in query.params.items()
        if name not in BOUND
    }


async def begin(db: Database, fence: str) -> None:
    """One run, one lease, and one generation that is built, or that the run reads."""
    await ensure_schema(db)
    status = "building" if fence == "generation" else "complete"
    await alter(db, BEGIN, status=status)


async def state(db: Database) -> list[str]:
    """What is stored, without the counts of our commits."""
    rows = await fetch(db, STATE)
    return sorted(str(row) for row in rows if "PgsMeta" not in row["labels"])


def test_the_statements_are_found() -> None:
    """Some of each kind, as of when this test was written."""
    some = {
        "run": "set_run_results set_run_routings set_run_signs write_answers write_sweeps",
        "lease": "set_free_leases set_lease_expiries create_generations",
        "documents": "publish release_ingest",
        "generation": "write_members write_partitions set_current write_segments",
    }
    for kind, names in some.items():
        found = {name.rpartition("/")[2] for name, fence in FENCED.items() if fence == kind}
        assert found >= set(names.split()), kind


@pytest.mark.parametrize("name", sorted(FENCED))
async def test_a_statement_of_a_former_holder_waits_and_writes_nothing(
    db: Database, name: str
) -> None:
    query, fence = queries.get(name), FENCED[name]
    await begin(db, fence)
    assert await db.rehearse(query, **params_of(query)), "its parameters write nothing anyway"
    async with db.driver.session(database=db.name) as session:
        transaction = await session.begin_transaction()
        await (await transaction.run(TAKE_OVER[fence])).consume()
        writing = asyncio.create_task(db.write(query, **params_of(query)))

        async def has_settled() -> bool:
            return writing.done() or await fetch(db, BLOCKED) != []

        await until(has_settled, 60)
        waited = not writing.done()
        await transaction.commit()
    before = await state(db)
    rows = await writing
    assert waited, "it did not wait for the lock"
    assert all(value in (0, []) for row in rows for value in row.values()), rows
    assert await state(db) == before
