"""The desk of agents over HTTP: its callers are those of the guard, its runs those of the board."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from functools import partial
from typing import Any, cast

from pgs_neo4j.events import Event, OnEvent
from pgs_neo4j.mcp_server.desk import Desk, Visitor
from pgs_neo4j.mcp_server.inquiries import Inquiries, Inquiry, Work
from pgs_neo4j.mcp_server.transport import HttpTransport
from pgs_neo4j.model import Answer
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.runs.awaited import AwaitedRun, RunCancelledError, start_awaited
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.shared import Serving


def open_transport(serving: Serving) -> HttpTransport:
    """Return the MCP server of a server."""

    async def launch(inquiry: Inquiry, visitor: Visitor, work: Work) -> asyncio.Task[Answer]:
        return await _launch(serving, inquiry, cast(Caller, visitor), work)

    desk = Desk(serving.pgs, Inquiries(None, launch), visitor_of=_visitor_of)
    return HttpTransport(desk, _name_of, read_only=serving.read_only)


def _visitor_of(request: object) -> Visitor:
    # The guard has refused requests without a caller.
    return cast(Caller, cast(Any, request).state.caller)


def _name_of(scope: MutableMapping[str, Any]) -> str:
    caller: Caller = scope["state"]["caller"]
    return f"{'tenant' if caller.tenant else 'owner'} {caller.name}"


async def _launch(
    serving: Serving, inquiry: Inquiry, caller: Caller, work: Work
) -> asyncio.Task[Answer]:
    """Put a question on the board, where it waits, counts, and ends like those of the API."""
    serving.require_writing()
    left = await serving.remaining_cost(caller)
    limits = [most for most in (left, inquiry.max_cost) if most is not None]
    most = min(limits, default=None)

    async def carry_out(hear: OnEvent) -> Answer:
        def both(event: Event) -> None:
            inquiry.advance.hear(event)
            hear(event)

        return await work(both, most)

    run = LiveRun(
        id=inquiry.run,
        caller=caller,
        graph=inquiry.graph,
        session=inquiry.session,
        question=inquiry.question,
        most_cost=most or 0.0,
        resumed=inquiry.resumed,
    )
    waiting = asyncio.create_task(_wait(start_awaited(serving.board, run, carry_out)))
    waiting.add_done_callback(partial(_cancel_with, run))
    return waiting


def _cancel_with(run: LiveRun, waiting: asyncio.Task[Answer]) -> None:
    """Cancel a run whose wait was canceled before its first step, which would have done so."""
    if waiting.cancelled() and run.active and run.task is not None:
        run.task.cancel()


async def _wait(awaited: AwaitedRun) -> Answer:
    try:
        return await awaited.answer(cancel=True)
    except RunCancelledError:
        raise asyncio.CancelledError from None
