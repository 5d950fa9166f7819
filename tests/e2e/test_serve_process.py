"""`pgs serve` as a process: it prints its link, survives a kill, and ends when it is told."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import events, free_port

ROOT = Path(__file__).resolve().parents[2]


@asynccontextmanager
async def serving(endpoint: Endpoint, folder: Path) -> AsyncIterator[tuple[Process, str]]:
    """A process that serves, and its link."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "PGS_EMBEDDER": "none",
        "PGS_LLM_PROVIDER": "extractive",
        **endpoint.environment(),
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pgs_neo4j", "serve", "--port", str(free_port())),
        cwd=folder,
        env=environment,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(120):
            link = (await process.stdout.readline()).decode().strip()
        assert link, (await process.communicate())[1].decode()
        yield process, link
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def owner_of(link: str) -> AsyncIterator[httpx2.AsyncClient]:
    base, _, token = link.partition("/#token=")
    async with httpx2.AsyncClient(base_url=base, timeout=60) as client:
        assert (await client.post("/api/login", json={"token": token})).status_code == 200
        yield client


@pytest.fixture
async def papers(endpoint: Endpoint, db: Database) -> AsyncIterator[None]:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partition("papers")
        yield


async def test_a_server_answers_and_ends_within_five_seconds(
    endpoint: Endpoint, papers: None, tmp_path: Path
) -> None:
    async with serving(endpoint, tmp_path) as (process, link):
        async with owner_of(link) as owner:
            body = {"question": "What do the papers say?", "full_sweep": True}
            run = (await owner.post("/api/runs", json=body)).json()
            told = await events(owner, run["events"])
            assert told[-1].name == "answered", told[-1].data
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(5):
                code = await process.wait()
        assert code == 130
        assert process.stderr is not None
        said = (await process.stderr.read()).decode()
        assert "Traceback" not in said
        assert link.partition("=")[2] not in said


async def test_after_a_kill_a_run_is_seen_and_resumed_by_the_next_server(
    endpoint: Endpoint, papers: None, tmp_path: Path
) -> None:
    async with serving(endpoint, tmp_path) as (process, link), owner_of(link) as owner:
        body = {"question": "What do the papers say?", "full_sweep": True}
        run = (await owner.post("/api/runs", json=body)).json()
        await events(owner, run["events"], until=lambda told: told.name == "run_started")
        process.kill()
        await process.wait()
    async with serving(endpoint, tmp_path) as (_, link), owner_of(link) as owner:
        told = await events(owner, run["events"], after=3)
        assert {(one.name, one.data["run"]) for one in told} == {("snapshot", run["run"])}
        assert told[-1].data["state"] == "silent"
        resumed = await owner.post(f"/api/runs/{run['run']}/resume", json={})
        assert resumed.status_code == 202, resumed.text
        ended = (await events(owner, run["events"]))[-1]
        assert ended.name == "answered", ended.data
        assert ended.data["coverage"]["partitions_swept"] == 4
