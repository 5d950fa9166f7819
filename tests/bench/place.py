"""Provides an empty database with Neo4j and GDS: a named one, or a new server."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pgs_neo4j.database import connection as db_module
from pgs_neo4j.database import local
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.local import artifacts, lockfile
from pgs_neo4j.database.local.options import paths_of
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import UsageError
from tests.bench.store import PAGE_CACHE_MIB, SMALL_HEAP_MIB, STATEMENT_S, Server

NODES = "MATCH (n) RETURN count(n) AS nodes"
EMPTY = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS"
CONSTRAINTS = "SHOW CONSTRAINTS YIELD name"
INDEXES = "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"
HELP = "an empty database to use, emptied at the end: bolt://…"


@asynccontextmanager
async def opened(
    uri: str | None, apoc: Path | None = None
) -> AsyncIterator[tuple[Server, Database]]:
    """An empty database, emptied again at the end; a new server has the procedures of ``apoc``.

    Raises UsageError when the one at ``uri`` holds something, and what ``database.local`` raises.
    """
    async with _named(uri) if uri else _own(apoc) as server:
        access = (server.uri, server.user, server.password)
        async with db_module.connect(*access, timeout_s=STATEMENT_S) as database:
            await _check(database, server.uri)
            try:
                yield server, database
            finally:
                await to_the_end(emptied(database))


async def emptied(database: Database) -> None:
    """Delete all that the database holds."""
    await database.call(EMPTY, {}, "write")
    for listed, kind in ((CONSTRAINTS, "CONSTRAINT"), (INDEXES, "INDEX")):
        _, rows = await database.call(listed, {}, "read")
        for row in rows:
            await database.call(f"DROP {kind} $name IF EXISTS", row, "write")


def connection(server: Server) -> dict[str, Any]:
    """What ``PGS.connect`` is to be told of the server."""
    return {
        "neo4j_uri": server.uri,
        "neo4j_user": server.user,
        "neo4j_password": server.password,
    }


@asynccontextmanager
async def _named(uri: str) -> AsyncIterator[Server]:
    user = os.environ.get("PGS_TEST_NEO4J_USER", "neo4j")
    yield Server(uri, user, os.environ.get("PGS_TEST_NEO4J_PASSWORD"))


@asynccontextmanager
async def _own(apoc: Path | None) -> AsyncIterator[Server]:
    with tempfile.TemporaryDirectory(prefix="pgs-bench-") as folder:
        options = replace(
            _with_plugin(apoc, Path(folder)) if apoc else local.options_from_environment(),
            data_dir=Path(folder) / "neo4j",
            heap_mb=SMALL_HEAP_MIB,
            page_cache_mb=PAGE_CACHE_MIB,
            bolt_port=None,
        )
        try:
            started = await local.ensure_running(options)
            yield Server(started.uri, started.user, started.password, started.pid)
        finally:
            await to_the_end(local.stop(options))


def _with_plugin(jar: Path, folder: Path) -> local.LocalOptions:
    """Options of a server whose folder of plugins has one more."""
    options = local.options_from_environment()
    lock = lockfile.load(options.release or lockfile.DEFAULT)
    jars = artifacts.folder_of(lock, paths_of(options).cache_dir)
    own = artifacts.folder_of(lock, folder / "cache")
    (own / "plugins").mkdir(parents=True)
    (own / "lib").symlink_to(jars / "lib", target_is_directory=True)
    for plugin in (jars / "plugins").iterdir():
        (own / "plugins" / plugin.name).symlink_to(plugin)
    # It brings older classes that the server has as well, and that would be found first.
    with (
        zipfile.ZipFile(jar) as whole,
        zipfile.ZipFile(own / "plugins" / jar.name, "w", zipfile.ZIP_DEFLATED) as part,
    ):
        for entry in whole.infolist():
            if not entry.filename.startswith("org/apache/commons/"):
                part.writestr(entry, whole.read(entry))
    return replace(options, cache_dir=folder / "cache")


async def _check(database: Database, uri: str) -> None:
    _, rows = await database.call(NODES, {}, "read")
    if rows[0]["nodes"]:
        raise UsageError(
            f"the database at {uri} holds {rows[0]['nodes']:,} nodes; name an empty one with "
            "--uri, or leave it out to get a server of its own"
        )
