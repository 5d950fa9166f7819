"""A server in this process on a free port, and its clients."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import httpx2

from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.model import Prompt
from pgs_neo4j.web.serve import ServeOptions, serve

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Served:
    """A server, the link that it printed, and how to stop it."""

    base: str
    link: str
    task: asyncio.Task[None]

    @property
    def token(self) -> str:
        """The token in the link."""
        return self.link.partition("#token=")[2]

    def client(self, token: str = "", **options: Any) -> httpx2.AsyncClient:
        """Yield a client, with the token of a program if one is given."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.AsyncClient(base_url=self.base, headers=headers, timeout=60, **options)

    @asynccontextmanager
    async def owner(self, **options: Any) -> AsyncIterator[httpx2.AsyncClient]:
        """Yield a client that followed the link."""
        async with self.client(**options) as client:
            answer = await client.post("/api/login", json={"token": self.token})
            assert answer.status_code == 200, answer.text
            yield client


@asynccontextmanager
async def served(pgs: PGS, port: int = 0, **options: Any) -> AsyncIterator[Served]:
    """Serve an engine until the block ends."""
    port = port or free_port()
    link: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(pgs, ServeOptions(port=port, **options), link.set_result))
    try:
        while not link.done():
            await asyncio.wait([task], timeout=0.02)
            if task.done():
                await task
        yield Served(f"http://127.0.0.1:{port}", await link, task)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Told:
    """One event of a stream."""

    id: int
    name: str
    data: dict[str, Any]


async def events(
    client: httpx2.AsyncClient,
    path: str,
    *,
    after: int | None = None,
    until: Callable[[Told], bool] = lambda told: False,
) -> list[Told]:
    """Read a stream until an event, or to its end."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    listed: list[Told] = []
    async with client.stream("GET", path, headers=headers) as stream:
        if stream.status_code == 204:  # all was heard before
            return []
        assert stream.status_code == 200, stream.status_code
        fields: dict[str, str] = {}
        async for line in stream.aiter_lines():
            name, _, value = line.partition(":")
            if name and value:
                fields[name] = fields.get(name, "") + value.removeprefix(" ")
            elif not line and "data" in fields:
                told = Told(int(fields["id"]), fields["event"], json.loads(fields["data"]))
                listed.append(told)
                fields = {}
                if until(told):
                    break
    return listed


def entry(name: str, *graphs: str, **more: Any) -> dict[str, Any]:
    """Return a token as settings have it, ``pgs_`` and the name, for some graphs, or for all.

    The default role is asker.
    """
    digest = sha256(f"pgs_{name}".encode()).hexdigest()
    seen = {"graphs": list(graphs)} if graphs else {}
    return {"name": name, "sha256": digest, "role": "asker", **seen, **more}


class Held:
    """A model that waits until it may answer.

    It reads the partitions of an engine, if one is given.
    """

    def __init__(self, pgs: PGS | None = None) -> None:
        self.go, self.asked = asyncio.Event(), asyncio.Event()
        if pgs is not None:
            pgs.sweep_llm = ScriptedLLM(self.answer)

    async def answer(self, prompt: Prompt) -> str:
        self.asked.set()
        await self.go.wait()
        return contract_reply(prompt)
