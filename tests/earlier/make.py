"""Dumps a database as the current version writes it.

    python -m tests.earlier.make tests/earlier/database_0_2_0.json

It starts a managed local server of its own and stops it at the end. Later versions must read the
dump as this one does; see ``tests/integration/test_earlier_databases.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgs_neo4j import __version__
from pgs_neo4j.local import server
from pgs_neo4j.local.options import LocalOptions
from tests.conftest import Endpoint
from tests.database import strip
from tests.earlier.dump import Dump, read_database, save, write_database
from tests.earlier.scenario import BRAIN, command, engine_on, written_state

if TYPE_CHECKING:
    from pgs_neo4j import PGS

AGE_DAYS = 30  # so that no test depends on the age of a dump
RUNS = "MATCH (r:PgsRun) RETURN r.id AS id, r.details IS NOT NULL AS answered ORDER BY r.started_at"


@asynccontextmanager
async def own_server() -> AsyncIterator[tuple[Endpoint, Path]]:
    """Run a managed local server in a temporary folder; yield both."""
    with tempfile.TemporaryDirectory(prefix="pgs-dump-") as name:
        options = LocalOptions(data_dir=Path(name) / "server", heap_mb=1024, page_cache_mb=128)
        running = await server.ensure_running(options)
        try:
            yield Endpoint(running.uri, running.user, running.password), Path(name)
        finally:
            await server.stop(options)


async def command_lines(pgs: PGS) -> list[str]:
    """List commands that print what is stored and change nothing."""
    _, runs = await pgs.db.call(RUNS, {}, "read")
    lines = ["graph list", "sessions list", "jobs list --limit 50", "cache show"]
    lines += [f"{line} --graph {name}" for name in ("brain", "papers")
              for line in ("partitions", "partitions --report")]  # fmt: skip
    lines += [f"sessions show {name} --graph papers" for name in ("default", "partial", "killed")]
    lines += [f"show {row['id']}" for row in runs]
    return lines


async def made_dump(endpoint: Endpoint, folder: Path) -> Dump:
    """Write the state, dump it, restore it, and keep what commands print of it."""
    async with engine_on(endpoint) as pgs:
        async with written_state(endpoint, pgs.db, folder):
            dump = await read_database(pgs.db, __version__, AGE_DAYS)
        await strip(pgs.db)
        await write_database(pgs.db, dump)
        printed: dict[str, Any] = {}
        for line in await command_lines(pgs):
            printed[line] = await command(endpoint, *line.split(), **BRAIN)
    return replace(dump, printed=printed)


async def make(path: Path) -> None:
    """Write a dump to a file."""
    async with own_server() as (endpoint, folder):
        save(await made_dump(endpoint, folder), path)


def main() -> None:
    """Read the arguments of the process."""
    parser = argparse.ArgumentParser(description="Dump a database as this version writes it.")
    parser.add_argument("path", type=Path, help="the file to write")
    asyncio.run(make(parser.parse_args().path))


if __name__ == "__main__":
    main()
