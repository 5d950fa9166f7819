"""Opens the address, serves the application, and shuts down in order."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import uvicorn

from pgs_neo4j.config import TokenEntry, trusted_tokens
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.scope import make_scope
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.access.connections import SHARE, BoundedProtocol, Gate
from pgs_neo4j.web.access.guard import Guard, host_name, is_loopback, plain_origin, served_hosts
from pgs_neo4j.web.access.new_links import offer_links
from pgs_neo4j.web.access.tokens import Tokens, callers_by_hash
from pgs_neo4j.web.app import create_app
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.shared import Serving
from pgs_neo4j.web.uploads import UploadStore

STOP_S, FORCE_S = 1.0, 0.5
"""Seconds to wait for connections to close after runs have stopped, then for a forced close."""
STARTING_S = 0.02
_NAME = r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?)(?::[0-9]{1,5})?"
_HOST, _ORIGIN = re.compile(_NAME), re.compile(rf"https?://{_NAME}/?", re.IGNORECASE)
MOST_CONNECTIONS, FEWEST_CONNECTIONS = 2000, 100
OTHER_FILES = 256
"""Open files reserved for other purposes: the database, models, uploads, libraries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Options of a server: its address, allowed clients, and the number of concurrent runs.

    ``proxies`` are addresses or networks whose headers ``X-Forwarded-For`` and
    ``X-Forwarded-Proto`` are trusted.
    """

    host: str = "127.0.0.1"
    port: int = 7475
    read_only: bool = False
    max_runs: int = 8
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()


class _Server(uvicorn.Server):
    """A server that ignores signals, because the command handles them and cancels ``serve``."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


def check_options(options: ServeOptions, tokens: tuple[TokenEntry, ...]) -> None:
    """Raise UsageError for invalid options, or for a public address without protection.

    A server that others can reach needs tokens and allowed hosts. Names, origins, and proxies must
    have valid forms.
    """
    for proxy in options.proxies:
        check_proxy(proxy)
    for name in options.allow_hosts:
        if not _HOST.fullmatch(name):
            raise UsageError(
                f"{name!r} is not a server name; write it as graphs.example.org, with a port if "
                "it has one"
            )
    for origin in options.allow_origins:
        if not _ORIGIN.fullmatch(origin):
            raise UsageError(
                f"{origin!r} is no origin of a page; write it as https://site.example, with a port "
                "if it has one"
            )
    if is_loopback(options.host):
        return
    if not tokens:
        raise UsageError(
            f"{options.host} can be reached by others, and pgs.toml has no [[token]]; make one "
            "with 'pgs token', or serve on 127.0.0.1"
        )
    if not options.allow_hosts:
        raise UsageError(
            f"{options.host} can be reached under any name; name those to answer to with "
            "--allow-host"
        )


def check_proxy(proxy: str) -> None:
    """Raise UsageError unless a proxy is an IP address or a network."""
    try:
        ipaddress.ip_network(proxy)
    except ValueError:
        raise UsageError(
            f"{proxy!r} is no address of a proxy; name one as 10.0.0.5, or a network as 10.0.0.0/8"
        ) from None


async def serve(pgs: PGS, options: ServeOptions, ready: Callable[[str], None]) -> None:
    """Serve until canceled; call ``ready`` with the login link, whose token works once.

    Runs in progress are canceled at the end and can be resumed. Raises UsageError when the address
    cannot be used, and ConfigError if other users could have written the tokens.
    """
    entries = trusted_tokens(pgs.settings)
    check_options(options, entries)
    tokens = Tokens(callers_by_hash((entry.sha256, caller_of(entry)) for entry in entries))
    serving = Serving(
        pgs=pgs,
        board=RunBoard(options.max_runs, pgs.runs.deletion_token),
        tokens=tokens,
        cookie=f"pgs_{options.port}",
        read_only=options.read_only,
        confirm_cost=pgs.settings.confirm_cost,
        scope=make_scope(pgs.settings.scope),
        uploads=UploadStore(int(pgs.config.max_document_mb * 1e6)),
    )
    guard = Guard(
        create_app(serving),
        tokens,
        serving.cookie,
        served_hosts(options.host, options.port, options.allow_hosts),
        frozenset(plain_origin(origin.rstrip("/")) for origin in options.allow_origins),
        serving.uploads.most_bytes,
        frozenset(host_name(name) for name in options.allow_hosts),
        max(_find_connection_limit() // SHARE, 1),
    )

    def new_link() -> str:
        return _make_link(options, tokens.new_link())

    server = _Server(_make_config(guard, options.proxies))
    with _open_listener(options) as listener:
        running = asyncio.create_task(server.serve([listener]))
        try:
            while not server.started and not running.done():
                await asyncio.wait([running], timeout=STARTING_S)
            if not running.done():
                ready(new_link())
            async with offer_links(options.port, new_link):
                await asyncio.shield(running)
        finally:
            stopping = asyncio.create_task(_stop_in_order(server, serving, running))
            while not stopping.done():
                with suppress(asyncio.CancelledError):  # if canceled again, still finish closing
                    await asyncio.wait([stopping])
            await stopping


def settle_memory() -> None:
    """Exempt all objects loaded so far from garbage collection.

    They live as long as the process, and scanning them takes longer than many requests.
    """
    gc.collect()
    gc.freeze()


def _make_config(guard: Guard, proxies: tuple[str, ...]) -> uvicorn.Config:
    most = _find_connection_limit()
    return uvicorn.Config(
        guard,
        http=partial(BoundedProtocol, Gate(most, proxies)),  # type: ignore[arg-type]
        log_config=None,
        access_log=False,
        server_header=False,
        # Proxy headers are off without proxies, because uvicorn trusts such headers from this
        # machine by default.
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        limit_concurrency=most,
        timeout_graceful_shutdown=int(STOP_S),
        lifespan="on",
        ws="none",
    )


def _find_connection_limit() -> int:
    """Return the limit of open connections, which is lower if the system allows few open files."""
    try:
        import resource
    except ImportError:  # on Windows
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return min(MOST_CONNECTIONS, max(files - OTHER_FILES, FEWEST_CONNECTIONS))


async def _stop_in_order(server: _Server, serving: Serving, running: asyncio.Task[None]) -> None:
    await serving.stop()
    server.should_exit = True
    if not running.done():
        await asyncio.wait([running], timeout=STOP_S)
    if not running.done():
        server.force_exit = True
        await asyncio.wait([running], timeout=FORCE_S)
        with suppress(TimeoutError):  # uvicorn skips this shutdown after a forced exit
            await asyncio.wait_for(server.lifespan.shutdown(), FORCE_S)


def _open_listener(options: ServeOptions) -> socket.socket:
    """Return a listening socket. Raises UsageError if the address cannot be used."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        listening = socket.create_server((options.host, options.port), family=family, backlog=2048)
    except OSError as error:
        why = error.strerror or "it does not exist"
        raise UsageError(
            f"{options.host} port {options.port} cannot be used: {why}; choose another one with "
            "--port or --host"
        ) from None
    # Each connection inherits this option. Without it, the second part of a response waits until
    # the client has acknowledged the first part, about 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def caller_of(entry: TokenEntry) -> Caller:
    """Return the caller for a token in ``pgs.toml``, with its role and limits."""
    return Caller(
        name=entry.name,
        role=entry.role,
        tenant=True,
        graphs=None if entry.graphs is None else frozenset(entry.graphs),
        runs_at_once=entry.runs,
        cost_per_day=entry.cost_per_day,
        scope=make_scope(entry.scope),
    )


def _make_link(options: ServeOptions, token: str) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"http://{host}:{options.port}/#token={token}"
