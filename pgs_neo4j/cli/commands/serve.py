"""`pgs serve`, `pgs token`, and `pgs mcp`: serve graphs to people, programs, and agents.

`pgs serve` answers over HTTP, and `pgs token` makes tokens for it. `pgs mcp` answers the agent that
started it, over stdin and stdout.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import sys
import webbrowser
from importlib.util import find_spec
from typing import Annotated, Literal

import typer

from pgs_neo4j.cli import logs, output
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.json_data import Json

NEEDED = ("fastapi", "uvicorn", "prometheus_client", "markdown_it")
GRACE_S = 4.8
"""Maximum seconds for cleanup after a signal, even if the database does not answer."""
MISSING = "pgs serve needs the extra 'serve'; install it with: pip install 'pgs-neo4j[serve]'"
Proxies = Annotated[
    list[str] | None,
    typer.Option(
        "--trust-proxy",
        help="Address or network of a proxy whose X-Forwarded headers count; repeatable.",
    ),
]


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port.")] = 7475,
    open_: Annotated[bool, typer.Option("--open", help="Open the link in a browser.")] = False,
    link: Annotated[
        bool, typer.Option("--link", help="Print a new link of the server that runs, and end.")
    ] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Show answers, and ask nothing.")
    ] = False,
    max_runs: Annotated[
        int, typer.Option("--max-runs", min=1, max=1000, help="Runs at once; others wait.")
    ] = 8,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Another name of this server; repeatable."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", help="A site whose pages may use the API; repeatable."),
    ] = None,
    trust_proxy: Proxies = None,
) -> None:
    """Serve an API to programs, and a page to people.

    Prints a link with a token that works once; --link prints another one. Programs send a token of
    pgs.toml, which 'pgs token' makes. An address that others can reach needs such tokens and
    --allow-host. Runs until Ctrl-C or SIGTERM; runs in progress can then be resumed.

    \b
      pgs serve --open
      pgs serve --link
      pgs serve --host 0.0.0.0 --allow-host graphs.example.org
    """
    if link:
        run(_print_link(port, open_browser=open_))
    options: Json = {
        "host": host,
        "port": port,
        "read_only": read_only,
        "max_runs": max_runs,
        "allow_hosts": tuple(allow_host or ()),
        "allow_origins": tuple(allow_origin or ()),
        "proxies": tuple(trust_proxy or ()),
    }
    run(_serve(options, open_browser=open_), grace_s=GRACE_S)


async def _serve(options: Json, *, open_browser: bool) -> None:
    _require_extra()
    from pgs_neo4j.cli.connection import engine
    from pgs_neo4j.web.serve import ServeOptions, settle_memory
    from pgs_neo4j.web.serve import serve as serve_until_canceled

    def ready(link: str) -> None:
        if logs.is_on():  # logs are stored, so they must not contain the secret link
            output.note(f"serving {link.partition('/#')[0]}")
        else:
            output.note("serving; Ctrl-C stops it. The link works once:")
            sys.stdout.write(f"{link}\n")
            sys.stdout.flush()
        if open_browser:
            webbrowser.open(link)

    async with engine() as pgs:
        settle_memory()
        await serve_until_canceled(pgs, ServeOptions(**options), ready)


async def _print_link(port: int, *, open_browser: bool) -> None:
    _require_extra()
    from pgs_neo4j.web.access.new_links import ask_link

    made = await ask_link(port)
    sys.stdout.write(f"{made}\n")
    if open_browser:
        webbrowser.open(made)


def _require_extra() -> None:
    if any(find_spec(name) is None for name in NEEDED):
        raise UsageError(MISSING)


def token(
    name: Annotated[str, typer.Argument(help="Who will hold it: letters, digits, and _ . -")],
    role: Annotated[
        Literal["metrics", "reader", "asker", "operator"],
        typer.Option("--role", help="What it allows; all but metrics include the one before."),
    ] = "asker",
    as_json: JsonOption = False,
) -> None:
    """Make a token for someone who may use the server.

    It is shown once and stored nowhere. The table of pgs.toml that accepts it has only its hash.
    Add graphs = ["…"] to show no others, and runs or cost_per_day to limit what is asked.
    """
    run(_token(name, role, as_json=as_json))


async def _token(name: str, role: str, *, as_json: bool) -> None:
    from pgs_neo4j.config.token_table import entries

    made = f"pgs_{secrets.token_urlsafe(32)}"
    digest = hashlib.sha256(made.encode()).hexdigest()
    entries([{"name": name, "sha256": digest, "role": role}])
    if as_json:
        output.write_json({"name": name, "role": role, "token": made, "sha256": digest})
        return
    output.note("store the token where its holder can find it; it is shown only once:")
    output.write_lines([made])
    output.note("and add this to pgs.toml:")
    output.write_lines(
        ["", "[[token]]", f'name = "{name}"', f'sha256 = "{digest}"', f'role = "{role}"']
    )


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
    run(_serve_agent(read_only, max_runs, max_wait, reply_tokens))


async def _serve_agent(read_only: bool, max_runs: int, max_wait: float, reply_tokens: int) -> None:
    from pgs_neo4j.cli.connection import database, engine

    try:
        from pgs_neo4j.mcp_server.server import serve_stdio
        from pgs_neo4j.mcp_server.service import McpBounds
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
        # A signal is the normal end of a server; runs in progress have been canceled.
        output.note("the server has ended")
