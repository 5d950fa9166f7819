"""Provides the database to measure on: a new server, or a named empty one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pgs_neo4j.database import connection as db_module
from pgs_neo4j.database import local
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.engine.purge import purge
from pgs_neo4j.errors import UsageError
from tests.bench.graphs import BenchGraph

LABEL, TYPE = "Node", "LINK"
BATCH = 20_000
STATEMENT_S = 3600.0
SMALL_HEAP_MIB, LARGE_HEAP_MIB, PAGE_CACHE_MIB = 1536, 6144, 1024
LARGE_EDGES = 1_000_000
"""Relationships from which on the server gets the large heap."""

INDEX = f"CREATE INDEX bench_node_id IF NOT EXISTS FOR (n:{LABEL}) ON (n.id)"
NODES = f"""
UNWIND range(0, size($ids) - 1) AS i CREATE (:{LABEL} {{id: $ids[i], text: $texts[i]}})
"""
LINKS = f"""
UNWIND range(0, size($sources) - 1) AS i
MATCH (a:{LABEL} {{id: $sources[i]}}), (b:{LABEL} {{id: $targets[i]}})
CREATE (a)-[:{TYPE} {{weight: $weights[i]}}]->(b)
"""
UNLINKS = f"""
UNWIND range(0, size($sources) - 1) AS i
CALL (i) {{
  MATCH (:{LABEL} {{id: $sources[i]}})-[r:{TYPE}]->(:{LABEL} {{id: $targets[i]}})
  RETURN r LIMIT 1
}}
DELETE r
"""


@dataclass(frozen=True, slots=True)
class Server:
    """Where the database is; ``pid`` is that of the process when it is ours."""

    uri: str
    user: str
    password: str | None = field(repr=False)
    pid: int | None = None


@asynccontextmanager
async def opened(
    graph: BenchGraph, folder: Path, uri: str | None = None, heap_mb: int | None = None
) -> AsyncIterator[tuple[Server, Database]]:
    """A database that holds the graph and nothing else, taken away again at the end.

    Raises UsageError when the one at ``uri`` holds something, and what ``database.local`` raises.
    """
    place = _own(graph, folder, heap_mb) if uri is None else _named(graph, uri)
    async with place as access:
        yield access


@asynccontextmanager
async def _own(
    graph: BenchGraph, folder: Path, heap_mb: int | None
) -> AsyncIterator[tuple[Server, Database]]:
    options = replace(
        local.options_from_environment(),
        data_dir=folder / "neo4j",
        heap_mb=heap_mb or (LARGE_HEAP_MIB if graph.edge_count > LARGE_EDGES else SMALL_HEAP_MIB),
        page_cache_mb=PAGE_CACHE_MIB,
        bolt_port=None,
    )
    nodes, links = _written(graph, folder)
    try:
        await local.bulk_import(
            options,
            nodes=[f"{LABEL}={nodes}"],
            relationships=[f"{TYPE}={links}"],
            flags=["--id-type=integer"],
        )
        access = await local.ensure_running(options)
        server = Server(access.uri, access.user, access.password, access.pid)
        async with _connected(server) as database:
            yield server, database
    finally:
        await to_the_end(local.stop(options))


@asynccontextmanager
async def _named(graph: BenchGraph, uri: str) -> AsyncIterator[tuple[Server, Database]]:
    user = os.environ.get("PGS_TEST_NEO4J_USER", "neo4j")
    server = Server(uri, user, os.environ.get("PGS_TEST_NEO4J_PASSWORD"))
    async with _connected(server) as database:
        _, rows = await database.call("MATCH (n) RETURN count(n) AS nodes", {}, "read")
        if rows[0]["nodes"]:
            raise UsageError(
                f"the database at {uri} holds {rows[0]['nodes']:,} nodes; name an empty one with "
                "--uri, or leave it out to get a server of its own"
            )
        try:
            await _load(database, graph)
            yield server, database
        finally:
            await to_the_end(_clear(database))


@asynccontextmanager
async def _connected(server: Server) -> AsyncIterator[Database]:
    async with db_module.connect(
        server.uri, server.user, server.password, timeout_s=STATEMENT_S
    ) as database:
        yield database


def _written(graph: BenchGraph, folder: Path) -> tuple[Path, Path]:
    """The graph as the files that Neo4j's importer reads."""
    from pyarrow import array, csv, table

    nodes, links = folder / "nodes.csv", folder / "links.csv"
    columns: dict[str, Any] = {"id:ID": np.arange(graph.node_count)}
    if graph.texts is not None:
        columns["text"] = array([text for chunk in graph.texts for text in chunk])
    csv.write_csv(table(columns), nodes)
    columns = {
        ":START_ID": graph.source,
        ":END_ID": graph.target,
        "weight:double": graph.weight,
    }
    csv.write_csv(table(columns), links)
    return nodes, links


async def _load(database: Database, graph: BenchGraph) -> None:
    await index(database)
    texts = [text for chunk in graph.texts or () for text in chunk]
    for part in _batches(graph.node_count):
        ids = list(range(graph.node_count)[part])
        await database.call(NODES, {"ids": ids, "texts": texts[part]}, "write")
    for part in _batches(graph.edge_count):
        await database.call(LINKS, _rows(graph, part), "write")


async def _clear(database: Database) -> None:
    await purge(database)
    await database.call(
        f"MATCH (n:{LABEL}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS", {}, "write"
    )
    await database.call("DROP INDEX bench_node_id IF EXISTS", {}, "write")


async def index(database: Database) -> None:
    """Make nodes be found by their number; waits until they are."""
    await database.call(INDEX, {}, "write")
    await database.call("CALL db.awaitIndexes(600)", {}, "read")


async def change(database: Database, removed: BenchGraph, added: BenchGraph) -> None:
    """Delete some relationships, of which no two join the same nodes, and create others."""
    await index(database)
    for part in _batches(removed.edge_count):
        await database.call(UNLINKS, _rows(removed, part), "write")
    for part in _batches(added.edge_count):
        await database.call(LINKS, _rows(added, part), "write")


def _rows(graph: BenchGraph, part: slice) -> dict[str, Any]:
    return {
        "sources": graph.source[part].tolist(),
        "targets": graph.target[part].tolist(),
        "weights": graph.weight[part].tolist(),
    }


def _batches(count: int) -> Iterator[slice]:
    for start in range(0, count, BATCH):
        yield slice(start, start + BATCH)
