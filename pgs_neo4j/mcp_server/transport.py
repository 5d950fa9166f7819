"""Serves MCP over streamable HTTP, inside a program that authenticates callers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from pgs_neo4j.mcp_server.server import create_server
from pgs_neo4j.mcp_server.service import McpService

MOST_CONNECTIONS = 500  # open connections of clients with older protocol versions
SHARE = 4
"""Reciprocal of the share of these connections that one caller may have, so others can connect."""

REQUEST_CANCELLED = -32800
"""The error code with which the library ends the stream of a canceled request."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclass(slots=True, eq=False)
class HttpTransport:
    """The MCP server of a service as an ASGI application, which answers while ``serve`` runs.

    ``name_of`` returns the name of the caller from the scope of a request. A connection belongs to
    the caller that opened it. The surrounding program must check tokens, hosts, origins, and the
    size of requests.
    """

    service: McpService
    name_of: Callable[[Message], str]
    read_only: bool = False
    _app: Any = field(init=False, repr=False)
    _manager: Any = field(init=False, repr=False)
    _opening: Counter[str] = field(default_factory=Counter, repr=False)

    def __post_init__(self) -> None:
        server = create_server(self.service, read_only=self.read_only)
        self._app = server.streamable_http_app(
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_sessions=MOST_CONNECTIONS,
        )
        self._manager = server.session_manager

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        name = self.name_of(scope)
        user = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        inner = {**scope, "user": user}
        if not _opens_connection(scope):
            await self._app(inner, receive, _drop_cancellations(send))
            return
        # The library only limits the total number of connections. Connections that are being opened
        # count, because they have no owner in the library's table yet.
        owners = self._manager._session_owners
        open_count = sum(one == authorization_context(user) for one in owners.values())
        if open_count + self._opening[name] >= max(MOST_CONNECTIONS // SHARE, 1):
            await _refuse(name, send)
            return
        self._opening[name] += 1
        try:
            await self._app(inner, receive, _drop_cancellations(send))
        finally:
            self._opening[name] -= 1

    async def serve(self, ready: asyncio.Event, stopping: asyncio.Event) -> None:
        """Answer requests until ``stopping`` is set, then end all connections and questions."""
        try:
            async with self._manager.run():
                ready.set()
                await stopping.wait()
        finally:
            await self.service.questions.live.stop()


def _opens_connection(scope: Message) -> bool:
    """Return whether a request opens a connection, as in older protocol versions."""
    headers = {name.lower(): value for name, value in scope["headers"]}
    version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
    older = not version or version in HANDSHAKE_PROTOCOL_VERSIONS
    return older and scope["method"] == "POST" and b"mcp-session-id" not in headers


async def _refuse(name: str, send: Send) -> None:
    """Refuse a connection with the response that the library gives when the total is reached."""
    message = (
        f"{name} has {max(MOST_CONNECTIONS // SHARE, 1):,} open sessions, which is the most for "
        "one caller; end some with DELETE, or wait until they end by themselves"
    )
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": message}}
    body = json.dumps(error).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _drop_cancellations(send: Send) -> Send:
    """Wrap ``send`` to drop the errors that the library sends for canceled requests.

    By the protocol, a canceled request gets no response. In connections of older clients, the
    library sends an error to end the stream. The stream also ends without this error.
    """

    async def send_filtered(message: Message) -> None:
        if message["type"] == "http.response.body" and _is_cancellation(message.get("body", b"")):
            message = {**message, "body": b""}
        await send(message)

    return send_filtered


def _is_cancellation(event: bytes) -> bool:
    """Return whether a piece of a stream is the error event of a canceled request."""
    if str(REQUEST_CANCELLED).encode() not in event:
        return False
    data = [line[5:] for line in event.splitlines() if line.startswith(b"data:")]
    try:
        sent: Any = json.loads(b"".join(data))
    except (ValueError, RecursionError):
        return False
    error = sent.get("error") if isinstance(sent, dict) else None
    return isinstance(error, dict) and error.get("code") == REQUEST_CANCELLED
