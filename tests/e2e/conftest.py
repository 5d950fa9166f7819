"""``pgs`` as forks, and papers that it asks about."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import catalog
from tests.conftest import Endpoint
from tests.forks import Forks, forking
from tests.graphs import papers
from tests.shells import Shell

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
async def forks() -> AsyncIterator[Forks]:
    """What starts ``pgs`` quickly."""
    async with forking(
        {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    ) as started:
        yield started


@pytest.fixture
async def shell(tmp_path: Path, endpoint: Endpoint, forks: Forks) -> AsyncIterator[Shell]:
    """Runs ``pgs`` on the test database, with small partitions; what still runs then is killed."""
    home = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    knobs = {"PGS_MIN_COMMUNITY_SIZE": "10", "PGS_TARGET_PARTITION_MAX": "60"}
    more = {"PYTHONPATH": str(ROOT), "COLUMNS": "80", **endpoint.environment()}
    opened = Shell(forks, tmp_path, {**kept, **home, **knobs, **more})
    yield opened
    await opened.kill_all()


@pytest.fixture
async def stored(db: Database) -> Database:
    """Four topics of papers, stored as a graph; each becomes a partition."""
    await catalog.add(db, "papers", await papers(db))
    return db
