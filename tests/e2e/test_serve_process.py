"""`pgs serve` as a process: it prints its link, survives a kill, and ends when it is told."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serve_process import ROOT, owner_of, serving
from tests.serving import events

# As if the last sign of life had been given long ago, so that no test waits for it.
SILENCE = "MATCH (r:PgsRun) SET r.updated_at = r.updated_at - duration('PT1H')"


@pytest.fixture
async def papers(endpoint: Endpoint, db: Database) -> AsyncIterator[None]:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partitions.build("papers")
        yield


@pytest.mark.thorough
async def test_a_server_answers_and_ends_when_it_is_told(
    endpoint: Endpoint, papers: None, tmp_path: Path
) -> None:
    async with serving(endpoint, tmp_path) as (process, link):
        async with owner_of(link) as owner:
            body = {"question": "What do the papers say?", "full_sweep": True}
            run = (await owner.post("/api/runs", json=body)).json()
            told = await events(owner, run["events"])
            assert told[-1].name == "answered", told[-1].data
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(60):
                code = await process.wait()
        assert code == 130
        assert process.stderr is not None
        said = (await process.stderr.read()).decode()
        assert "Traceback" not in said
        assert link.partition("=")[2] not in said


@pytest.mark.nightly
async def test_another_link_of_a_server_comes_from_another_process_and_runs_go_on(
    endpoint: Endpoint, papers: None, tmp_path: Path
) -> None:
    async with serving(endpoint, tmp_path) as (_, link):
        address, _, token = link.partition("/#token=")
        asked = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pgs_neo4j", "serve", "--link"),
            *("--port", address.rpartition(":")[2]),
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
            stdout=PIPE,
        )
        async with asyncio.timeout(60):
            other = (await asked.communicate())[0].decode().strip()
        assert asked.returncode == 0
        assert other.startswith(f"{address}/#token=")
        assert token not in other
        for each in (other, link):
            async with owner_of(each) as owner:
                assert (await owner.get("/api/me")).json()["name"] == "owner"


@pytest.mark.nightly
async def test_after_a_kill_a_run_is_seen_and_resumed_by_the_next_server(
    endpoint: Endpoint, papers: None, db: Database, tmp_path: Path
) -> None:
    async with serving(endpoint, tmp_path) as (process, link), owner_of(link) as owner:
        body = {"question": "What do the papers say?", "full_sweep": True}
        run = (await owner.post("/api/runs", json=body)).json()
        await events(owner, run["events"], until=lambda told: told.name == "run_started")
        process.kill()
        await process.wait()
    await db.call(SILENCE, {}, "write")
    async with serving(endpoint, tmp_path) as (_, link), owner_of(link) as owner:
        told = await events(owner, run["events"], after=3)
        assert {(one.name, one.data["run"]) for one in told} == {("snapshot", run["run"])}
        assert told[-1].data["state"] == "silent"
        resumed = await owner.post(f"/api/runs/{run['run']}/resume", json={})
        assert resumed.status_code == 202, resumed.text
        ended = (await events(owner, run["events"]))[-1]
        assert ended.name == "answered", ended.data
        assert ended.data["coverage"]["partitions_swept"] == 4
