"""`pgs mcp`: graphs, questions, and answers for agents, over stdin and stdout."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError


def mcp(
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer no tool that asks or writes.")
    ] = False,
    max_runs: Annotated[
        int, typer.Option(min=1, max=32, help="Maximum questions in progress at once.")
    ] = 2,
    max_wait: Annotated[
        float, typer.Option(min=0, max=3600, metavar="SECONDS", help="Longest wait of one call.")
    ] = 300,
    reply_tokens: Annotated[
        int, typer.Option(min=500, max=200_000, help="Maximum tokens of one reply.")
    ] = 8000,
) -> None:
    """Serve graphs to an agent over MCP.

    An agent starts it, and speaks with it over stdin and stdout. It ends with the agent; runs in
    progress can then be resumed. Budgets and models are those of the settings. Needs the extra
    mcp. 'pgs help mcp' shows how to enter it into an agent's configuration.
    """
    run(_serve(read_only, max_runs, max_wait, reply_tokens))


async def _serve(read_only: bool, max_runs: int, max_wait: float, reply_tokens: int) -> None:
    from pgs_neo4j.cli.connection import database, engine

    try:
        from pgs_neo4j.mcp_server.desk import McpBounds
        from pgs_neo4j.mcp_server.server import serve_stdio
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise UsageError(
            "'pgs mcp' needs the package mcp; install pgs-neo4j with its extra: "
            "pip install 'pgs-neo4j[mcp]'"
        ) from None
    bounds = McpBounds(most_wait_s=max_wait, reply_tokens=reply_tokens)
    try:
        async with (database if read_only else engine)() as pgs:
            await serve_stdio(pgs, read_only=read_only, max_runs=max_runs, bounds=bounds)
    except asyncio.CancelledError:
        # A signal is a normal end of a server; runs in progress have been canceled.
        output.note("the server has ended")
