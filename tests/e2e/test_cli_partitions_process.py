"""`pgs partitions --report` and `--check` as processes, on a graph that changes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pgs_neo4j import catalog
from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.forks import Forks
from tests.graphs import checksum, papers

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 120.0
CHANGE = """
MATCH (p:Paper) WHERE p.doi IN ['doi/3', 'doi/50', 'doi/51']
SET p.abstract = p.abstract + ' And more.'
"""
Run = Callable[..., Awaitable[tuple[str, str]]]


@pytest.fixture
async def stored(db: Database) -> Database:
    """Four topics of papers and three that nobody cites, stored as a graph."""
    await catalog.add(db, "papers", await papers(db, isolates=3))
    return db


@pytest.fixture
def run(tmp_path: Path, endpoint: Endpoint, forks: Forks) -> Run:
    """Runs ``pgs`` in an empty folder to its end, which has to be a good one."""
    home = {name: str(tmp_path) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    knobs = {"PGS_MIN_COMMUNITY_SIZE": "10", "PGS_TARGET_PARTITION_MAX": "60"}
    settings = {**kept, **home, **knobs, **endpoint.environment(), "PYTHONPATH": str(ROOT)}

    async def to_the_end(*arguments: str) -> tuple[str, str]:
        process = await forks.start(*arguments, cwd=tmp_path, env=settings)
        try:
            async with asyncio.timeout(WAIT_S):
                out, err = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 0, err.decode()
        return out.decode(), err.decode()

    return to_the_end


async def checked(run: Run) -> tuple[Any, str | None]:
    """The drift and the outlook of a check; nobody is told of its progress."""
    out, err = await run("partitions", "--check", "--json", "--quiet")
    assert err == ""
    document = json.loads(out)
    return document["drift"], document["outlook"]


async def test_the_report_and_the_check_follow_the_graph(run: Run, stored: Database) -> None:
    out, _ = await run("partitions", "--check")
    assert out.startswith("graph papers is not partitioned yet")
    assert await checked(run) == (None, "cold")

    first = json.loads((await run("partition", "--json", "--quiet"))[0])
    assert (first["origin"], first["drift"]) == ("cold", None)
    out, err = await run("partitions", "--report")
    assert err == ""
    assert f"papers, generation {first['generation']}" in out
    assert "1 pool of 3 nodes" in out
    report = json.loads((await run("partitions", "--report", "--json"))[0])
    assert {name: report[name] for name in ("generation", "sizes", "modularity", "origin")} == {
        name: first[name] for name in ("generation", "sizes", "modularity", "origin")
    }
    assert sum(each["partitions"] for each in report["histogram"]) == first["partition_count"]
    assert report["size_quantiles"][0] == min(first["sizes"]) == 3
    assert {"scan", "communities", "limits", "write", "enrich"} <= set(report["steps"])

    moved, outlook = await checked(run)
    assert (moved["committed"], moved["nodes"], outlook) == (False, 163, None)
    await stored.call(CHANGE, {}, "write")
    user_graph = await checksum(stored)
    moved, outlook = await checked(run)
    assert outlook == "refreshed"
    assert (moved["committed"], moved["changed"], moved["texts_changed"]) == (True, True, 3)
    assert (moved["nodes"], moved["nodes_added"], moved["relationships_changed"]) == (163, 0, 0)
    out, err = await run("partitions", "--check", "--verbose")
    assert "texts            3 changed" in out.splitlines()
    assert "163 of 163 nodes scanned" in err
    assert (await catalog.get(stored, "papers")).generation == first["generation"]

    out, _ = await run("partition", "--quiet")
    assert "refreshed where texts changed" in out
    assert "drift 2 %: 3 texts changed" in out.splitlines()
    moved, outlook = await checked(run)
    assert (moved["changed"], outlook) == (False, None)
    listed = json.loads((await run("partitions", "--json"))[0])["partitions"]
    assert {part["lineage"] for part in listed} == {
        f"{first['generation']}:{part['id']}" for part in listed
    }
    assert await checksum(stored) == user_graph
