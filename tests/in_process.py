"""A server without a socket, before an engine that a test writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2

from pgs_neo4j.engine import PGS
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.guard import Guard, served_hosts
from pgs_neo4j.web.access.tokens import Tokens, hashed
from pgs_neo4j.web.app import create_app
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.shared import Serving


def serving_of(engine: object, *callers: Caller, **options: Any) -> Serving:
    """Return a server of an engine; the name of each caller is its token."""
    tokens = Tokens({hashed(caller.name): caller for caller in callers})
    return Serving(cast(PGS, engine), RunBoard(2), tokens, "pgs_1", **options)


@asynccontextmanager
async def in_process(
    serving: Serving, token: str, **options: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """Open a client of a server, with a token; ``options`` are those of its transport."""
    app = Guard(create_app(serving), serving.tokens, "pgs_1", served_hosts("127.0.0.1", 1, ()))
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app, **options),
        base_url="http://127.0.0.1:1",
        headers={"Authorization": f"Bearer {token}"},
    ) as client:
        yield client
