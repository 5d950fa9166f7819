"""``/mcp``: the tools of ``pgs mcp`` for agents, behind the same guard as the API.

The callers of agents are those of the guard, and their runs wait and count on the board. Without
the library, requests are refused with how to install it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from pgs_neo4j.events import Event, OnEvent
from pgs_neo4j.model import Answer
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.failures import Failure, failure_response
from pgs_neo4j.web.runs.awaited import AwaitedRun, RunCancelledError, start_awaited
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.shared import Serving

if TYPE_CHECKING:
    from pgs_neo4j.mcp_server.questions import LiveQuestion, Work
    from pgs_neo4j.mcp_server.service import AgentCaller
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
    transport = _open_transport(serving)
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


def _open_transport(serving: Serving) -> HttpTransport | None:
    """Return the MCP server of a server; None if its library is not installed."""
    try:
        from pgs_neo4j.mcp_server.questions import QuestionBoard
        from pgs_neo4j.mcp_server.service import McpService
        from pgs_neo4j.mcp_server.transport import HttpTransport
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        return None

    board = QuestionBoard(None, partial(_launch, serving))
    service = McpService(serving.pgs, board, caller_of=_caller_of)
    return HttpTransport(service, _name_of, read_only=serving.read_only)


def _caller_of(request: object) -> AgentCaller:
    # The guard has refused requests without a caller.
    return cast(Caller, cast(Any, request).state.caller)


def _name_of(scope: MutableMapping[str, Any]) -> str:
    caller: Caller = scope["state"]["caller"]
    return f"{'tenant' if caller.tenant else 'owner'} {caller.name}"


async def _launch(
    serving: Serving, live: LiveQuestion, agent: AgentCaller, work: Work
) -> Awaitable[Answer]:
    """Put a question on the board, where it waits, counts, and ends like those of the API."""
    caller = cast(Caller, agent)
    serving.require_writing()
    left = await serving.remaining_cost(caller)
    limits = [most for most in (left, live.max_cost) if most is not None]
    most = min(limits, default=None)

    async def carry_out(hear: OnEvent) -> Answer:
        def both(event: Event) -> None:
            live.advance.hear(event)
            hear(event)

        return await work(both, most)

    run = LiveRun(
        id=live.id,
        caller=caller,
        graph=live.graph,
        session=live.session,
        question=live.question,
        most_cost=most or 0.0,
        resumed=live.resumed,
    )
    return _wait(start_awaited(serving.board, run, carry_out))


async def _wait(awaited: AwaitedRun) -> Answer:
    try:
        return await awaited.answer(cancel=True)
    except RunCancelledError:
        raise asyncio.CancelledError from None
