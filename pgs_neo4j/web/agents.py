"""``/mcp``: the tools of ``pgs mcp`` for agents, behind the same guard as the API.

Agents act as the callers that the guard identified, and their runs are on the board of the API's
runs. If the MCP library is missing, requests are refused with the command that installs it.
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
    """Return the route for agents, and the lifespan in which it can answer."""
    transport = _open_transport(serving)
    endpoint = _Missing() if transport is None else transport

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        if transport is None:
            yield
            return
        ready = asyncio.Event()
        # The transport runs in its own task, so that ``serving.stopped`` ends its connections
        # before the application closes.
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
    """Refuses requests, and explains how to install the missing library."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request."""
        await failure_response(scope["path"], 501, MISSING)(scope, receive, send)


def _open_transport(serving: Serving) -> HttpTransport | None:
    """Return the MCP transport for the server; None if the library is not installed."""
    try:
        from pgs_neo4j.mcp_server.questions import QuestionBoard
        from pgs_neo4j.mcp_server.service import McpService
        from pgs_neo4j.mcp_server.transport import HttpTransport
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        return None

    board = QuestionBoard(None, partial(_launch, serving))
    service = McpService(
        serving.pgs,
        board,
        caller_of=_caller_of,
        engine_of=lambda agent: serving.for_caller(cast(Caller, agent)).pgs,
    )
    return HttpTransport(service, _name_of, read_only=serving.read_only)


def _caller_of(request: object) -> AgentCaller:
    # The guard has already refused requests without a caller.
    return cast(Caller, cast(Any, request).state.caller)


def _name_of(scope: MutableMapping[str, Any]) -> str:
    caller: Caller = scope["state"]["caller"]
    return f"{'tenant' if caller.tenant else 'owner'} {caller.name}"


async def _launch(
    serving: Serving, live: LiveQuestion, agent: AgentCaller, work: Work
) -> Awaitable[Answer]:
    """Start an agent's question as a run on the board, like the API's runs; return its answer."""
    caller = cast(Caller, agent)
    serving = serving.for_caller(caller)
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
