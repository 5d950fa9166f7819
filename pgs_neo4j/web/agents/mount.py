"""Puts ``/mcp`` into the application, if its library is installed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from pgs_neo4j.web.failures import Failure, failure_response
from pgs_neo4j.web.shared import Serving

if TYPE_CHECKING:
    from pgs_neo4j.mcp_server.transport import HttpTransport

PATH = "/mcp"
MISSING = Failure(
    error="agents are not served here",
    code="not_installed",
    fix="pip install 'pgs-neo4j[serve,mcp]', and start pgs serve again",
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def agents_of(serving: Serving) -> tuple[Route, Lifespan]:
    """Return the route of agents, and what has to run as long as it answers."""
    transport = _transport(serving)
    endpoint = _Missing() if transport is None else transport

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if transport is None:
            yield
            return
        ready = asyncio.Event()
        # A task of its own: connections also end when the server stops before it has closed.
        running = asyncio.create_task(transport.serve(ready, serving.stopped))
        started = asyncio.create_task(ready.wait())
        await asyncio.wait([running, started], return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        try:
            yield
        finally:
            serving.stopped.set()
            with suppress(asyncio.CancelledError):
                await running

    return Route(PATH, endpoint, include_in_schema=False), lifespan


class _Missing:
    """Says how to install what is missing."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request."""
        await failure_response(scope["path"], 501, MISSING)(scope, receive, send)


def _transport(serving: Serving) -> HttpTransport | None:
    try:
        from pgs_neo4j.web.agents.desks import open_transport
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        return None
    return open_transport(serving)
