"""The same server over streamable HTTP, for a program that has checked who calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings

from pgs_neo4j.mcp_server.desk import Desk
from pgs_neo4j.mcp_server.server import create_server

MOST_CONNECTIONS = 500  # connections of older clients that are open at once

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclass(slots=True, eq=False)
class HttpTransport:
    """The server of a desk as an ASGI application, which answers while ``serve`` runs.

    ``name_of`` returns a name for the caller of a request. A connection belongs to the caller that
    opened it. The program checks tokens, hosts, origins, and the size of requests.
    """

    desk: Desk
    name_of: Callable[[Message], str]
    read_only: bool = False
    _app: Any = field(init=False, repr=False)
    _manager: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        server = create_server(self.desk, read_only=self.read_only)
        self._app = server.streamable_http_app(
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_sessions=MOST_CONNECTIONS,
        )
        self._manager = server.session_manager

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        token = AccessToken(token="", client_id=self.name_of(scope), scopes=[])
        await self._app({**scope, "user": AuthenticatedUser(token)}, receive, send)

    async def serve(self, ready: asyncio.Event, stopping: asyncio.Event) -> None:
        """Answer until ``stopping`` is set; then end all connections and questions."""
        try:
            async with self._manager.run():
                ready.set()
                await stopping.wait()
        finally:
            await self.desk.inquiries.close()
