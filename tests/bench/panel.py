"""Measures the panel of a node in a large graph: everything that the page asks for, over HTTP.

    python -m tests.bench.panel
    python -m tests.bench.panel --nodes 1000000 --degree 100000 --json

The graph has a hub with many neighbors of three types, among nodes that have few. The page asks for
a node, its first neighbors with their numbers by type, and the findings that cite it, all at once;
the panel is whole when the last answer has come. Then it asks for a page of one type, and for the
page after the first one.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import Any

import httpx2
import numpy as np

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.engine import PGS
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.web.serve import settle_memory
from tests.bench import place, program
from tests.serving import served

GRAPH = "large"
NODES, DEGREE, BATCH, TIMES = 1_000_000, 100_000, 50_000, 30
PAGE, FINDINGS, CITING = 50, 20, 200
TYPES = ("CITES", "USES", "NAMES")
TARGET_S = 0.3
MAPPING = GraphMapping(
    labels=("Thing",), relationship_types=TYPES, text=("text",), title="title", key="number"
)
MAKE_INDEX = "CREATE RANGE INDEX bench_things IF NOT EXISTS FOR (n:Thing) ON (n.number)"
AWAIT = "CALL db.awaitIndexes(300)"
MAKE_NODES = """
UNWIND range($first, $last) AS i
CREATE (:Thing {number: i, title: 'Thing ' + i, text: 'What is said of thing ' + i, year: i % 90})
"""
# The hub is the node 0. A neighbor of it and the next node are tied as well.
MAKE_TIES = """
UNWIND range($first, $last) AS i
MATCH (m:Thing {number: i})
MATCH (hub:Thing {number: 0})
MATCH (next:Thing {number: i + 1})
CREATE (m)-[:CITES {name: 'next'}]->(next)
FOREACH (_ IN CASE i % 5 WHEN 0 THEN [] ELSE [1] END | CREATE (m)-[:CITES]->(hub))
FOREACH (_ IN CASE i % 5 WHEN 0 THEN [1] ELSE [] END | CREATE (hub)-[:USES]->(m))
"""
CITE = """
MATCH (hub:Thing {number: 0})
CREATE (s:PgsSession {uid: $graph + '/bench', id: 'bench', graph: $graph})
WITH hub, s UNWIND range(1, $runs) AS i
CREATE (f:PgsFinding {id: 'f' + i, text: 'Finding ' + i, place: 0, supported: true})
CREATE (f)-[:PGS_CITES]->(hub)
CREATE (f)-[:PGS_FROM]->(w:PgsSweep {id: 'w' + i, partition: 1, status: 'accepted'})
CREATE (r:PgsRun {id: 'r' + i, question: 'Why?', started_at: datetime()})-[:PGS_SWEPT]->(w)
CREATE (r)-[:PGS_RAN_IN]->(s)
"""
PLACE = """
MATCH (g:PgsGraph {name: $graph})
CREATE (g)-[:PGS_CURRENT]->(n:PgsGeneration {id: 'bench', status: 'complete'})-[:PGS_OF]->(g)
CREATE (n)<-[:PGS_PART_OF]-(p:PgsPartition {uid: 'bench/1', id: 1, level: 0, label: 'hub'})
WITH p MATCH (m:Thing) WHERE m.number < 1000
CREATE (m)-[:PGS_IN {rank: m.number}]->(p)
"""
HUB = "MATCH (n:Thing {number: 0}) RETURN elementId(n) AS id, COUNT { (n)--() } AS degree"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for, write the figures, and tell the exit code."""
    options = _parser().parse_args(arguments)
    return program.told(lambda: program.run(lambda: measured(options)), table, options.json)


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Make the graph, serve it, and open the panel again and again."""
    async with place.opened(options.uri) as (server, database):
        await ensure_schema(database)
        async with PGS.connect_without_models(**place.connection(server)) as pgs:
            await pgs.graphs.add(GRAPH, MAPPING)
            began = perf_counter()
            hub, degree = await filled(database, options.nodes, options.degree)
            program.say(f"{options.nodes:,} nodes after {perf_counter() - began:.0f} s")
            settle_memory()
            async with served(pgs) as serving, serving.owner() as owner:
                figures = await panels(owner, hub, options.times)
    return {"nodes": options.nodes, "degree": degree, "times": options.times, **figures}


async def filled(database: Database, nodes: int, degree: int) -> tuple[str, int]:
    """Make nodes and ties in batches; return the hub, and how many ties it has."""
    for statement in (MAKE_INDEX, AWAIT):
        await database.call(statement, {}, "schema")
    for first in range(0, nodes, BATCH):
        last = min(first + BATCH, nodes) - 1
        await database.call(MAKE_NODES, {"first": first, "last": last}, "write")
    for first in range(1, degree + 1, BATCH):
        last = min(first + BATCH - 1, degree, nodes - 2)
        await database.call(MAKE_TIES, {"first": first, "last": last}, "write")
    await database.call(CITE, {"graph": GRAPH, "runs": CITING}, "write")
    await database.call(PLACE, {"graph": GRAPH}, "write")
    _, rows = await database.call(HUB, {}, "read")
    return rows[0]["id"], rows[0]["degree"]


async def panels(owner: httpx2.AsyncClient, node: str, times: int) -> dict[str, Any]:
    """Open the panel of a node, and return the seconds of each time by part."""
    base = f"/api/graphs/{GRAPH}/nodes/{node}"
    parts = {
        "node": base,
        "neighbors": f"{base}/neighbors?limit={PAGE}",
        "findings": f"{base}/findings?limit={FINDINGS}",
    }
    seconds: dict[str, list[float]] = {name: [] for name in ("whole", *parts, "type", "next")}
    for _ in range(times + 1):  # the first one only warms up
        began = perf_counter()
        timed = await asyncio.gather(*(_timed(owner, path) for path in parts.values()))
        seconds["whole"].append(perf_counter() - began)
        for name, (took, _) in zip(parts, timed, strict=True):
            seconds[name].append(took)
        first, found = timed[1][1], timed[2][1]
        assert len(first["neighbors"]) == PAGE, first
        assert len(found) == FINDINGS, found
        assert timed[0][1]["partition"] == 1, timed[0][1]
        (took, page) = await _timed(owner, f"{base}/neighbors?relationship_type=USES&limit={PAGE}")
        assert {one["type"] for one in page["neighbors"]} == {"USES"}, page
        seconds["type"].append(took)
        took, _ = await _timed(owner, f"{base}/neighbors?limit={PAGE}&after={first['after']}")
        seconds["next"].append(took)
    return {"seconds": {name: some[1:] for name, some in seconds.items()}}


async def _timed(owner: httpx2.AsyncClient, path: str) -> tuple[float, Any]:
    began = perf_counter()
    answer = await owner.get(path)
    assert answer.status_code == 200, answer.text
    return perf_counter() - began, answer.json()


NAMES = {
    "whole": "panel, all at once",
    "node": "text and properties",
    "neighbors": "first neighbors, numbers by type",
    "findings": "findings that cite it",
    "type": "neighbors of one type",
    "next": "the page after the first",
}


def table(document: dict[str, Any]) -> str:
    """The figures for people."""
    rows: list[tuple[str, ...]] = [("", "median", "95 %", "target")]
    for name, told in NAMES.items():
        seconds = np.array(document["seconds"][name])
        target = f"{1000 * TARGET_S:,.0f} ms" if name == "whole" else ""
        rows.append((told, _ms(median(seconds)), _ms(np.quantile(seconds, 0.95)), target))
    return (
        f"{document['nodes']:,} nodes; a node with {document['degree']:,} relationships\n\n"
        f"{program.aligned(rows)}"
    )


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms"


def _parser() -> argparse.ArgumentParser:
    parser = program.parser("panel", __doc__)
    parser.add_argument("--nodes", type=program.number(1000), default=NODES)
    parser.add_argument("--degree", type=program.number(PAGE), default=DEGREE)
    parser.add_argument("--times", type=program.number(1), default=TIMES)
    parser.add_argument("--uri", help=place.HELP)
    return parser


if __name__ == "__main__":
    sys.exit(main())
