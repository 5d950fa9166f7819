"""A server without a socket, in front of an engine that a test writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2

from pgs_neo4j.engine import PGS
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.guard import Guard, served_hosts
from pgs_neo4j.web.access.tokens import Tokens, hash_token
from pgs_neo4j.web.app import create_app
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.shared import Serving
from tests.fakes.tokens import unchanged

BASE = "http://127.0.0.1:1"


def serving_of(engine: object, *callers: Caller, **options: Any) -> Serving:
    """Return a server of an engine; the name of each caller is its token."""
    tokens = Tokens({hash_token(caller.name): caller for caller in callers})
    return Serving(cast(PGS, engine), RunBoard(2, unchanged), tokens, "pgs_1", **options)


def guarded(serving: Serving, **options: Any) -> Guard:
    """Return the application of a server behind a guard with these options."""
    hosts = served_hosts("127.0.0.1", 1, ())
    return Guard(create_app(serving), serving.tokens, serving.cookie, hosts, **options)


def client_of(app: Guard, token: str = "", **options: Any) -> httpx2.AsyncClient:
    """Return a client of an application; ``options`` are those of its transport."""
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app, **options),
        base_url=BASE,
        headers={"Authorization": f"Bearer {token}"} if token else {},
    )


@asynccontextmanager
async def in_process(
    serving: Serving, token: str = "", **options: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """Open a client of a server."""
    async with client_of(guarded(serving), token, **options) as client:
        yield client


def failure(answer: httpx2.Response) -> tuple[int, str]:
    """Return the status of an answer, and the code of its error."""
    return answer.status_code, answer.json()["code"]
