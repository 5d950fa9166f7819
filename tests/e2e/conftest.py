"""``pgs`` as forks; a server of our own that tests may kill, and an engine on it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pgs_neo4j import catalog, local
from pgs_neo4j.database import connection
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import ArtifactError, JavaMissingError
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.local import LocalOptions
from tests import servers
from tests.conftest import Endpoint
from tests.database import empty
from tests.forks import Forks, forking
from tests.graphs import papers
from tests.shells import Shell

ROOT = Path(__file__).resolve().parents[2]
KEEP = 2
LEASE_S = RESTART_S = 300.0  # longer than a restart on a busy machine


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


@pytest.fixture(scope="module")
async def options(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalOptions]:
    """A server of our own, which may be killed; the test database serves the other tests."""
    folder = tmp_path_factory.mktemp("restarted")
    given = LocalOptions(
        data_dir=folder,
        heap_mb=700,
        page_cache_mb=64,
        start_timeout_s=RESTART_S,
        release=servers.RELEASE,
    )
    with pytest.MonkeyPatch.context() as patch:
        servers.tune(patch)
        try:
            await local.ensure_running(given)
        except (ArtifactError, JavaMissingError) as error:
            if not os.environ.get("PGS_TEST_NEO4J_URI"):
                raise
            pytest.skip(f"no local server can be had to be restarted: {error}")
        yield given
    await local.stop(given, timeout_s=30.0)
    assert not local.status(given).running


@pytest.fixture
def patience_s() -> float:
    """How long the engine waits for a server that is away; a test may say otherwise."""
    return RESTART_S


@pytest.fixture
async def pgs(
    options: LocalOptions, patience_s: float, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PGS]:
    """An engine on papers that are partitioned."""
    monkeypatch.setattr(connection, "PATIENCE_S", patience_s)
    server = await local.ensure_running(options)
    async with PGS.connect(
        neo4j_uri=server.uri,
        neo4j_user=server.user,
        neo4j_password=server.password,
        sweep_llm=ScriptedLLM(contract_reply),
        synthesis_llm=ScriptedLLM(contract_reply),
        min_community_size=10,
        target_partition_max=60,
        embedder="none",
        keep_generations=KEEP,
        lease_s=LEASE_S,
    ) as opened:
        await empty(opened.db)
        await opened.add_graph("papers", await papers(opened.db))
        for _ in range(KEEP):
            await opened.partition("papers", force=True)
        yield opened
