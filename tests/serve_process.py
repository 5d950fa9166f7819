"""``pgs serve`` as a process, and clients of it."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2

from tests.conftest import Endpoint
from tests.serving import free_port

ROOT = Path(__file__).resolve().parents[1]


@asynccontextmanager
async def serving(
    endpoint: Endpoint, folder: Path, port: int = 0, **settings: str
) -> AsyncIterator[tuple[Process, str]]:
    """Yield a process that serves, and its link."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "PGS_EMBEDDER": "none",
        "PGS_LLM_PROVIDER": "extractive",
        **endpoint.environment(),
        **settings,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pgs_neo4j", "serve", "--port", str(port or free_port())),
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
    """Yield a client that followed the link."""
    base, _, token = link.partition("/#token=")
    async with httpx2.AsyncClient(base_url=base, timeout=60) as client:
        assert (await client.post("/api/login", json={"token": token})).status_code == 200
        yield client
