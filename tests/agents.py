"""Agents: clients of ``/mcp`` that use the SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.serving import Served


@asynccontextmanager
async def agent(server: Served, name: str, era: str = "auto", **headers: str) -> AsyncIterator[Any]:
    """A client with the token of a caller."""
    sent = {"Authorization": f"Bearer pgs_{name}"} | headers
    async with httpx2.AsyncClient(headers=sent, timeout=120) as http:
        transport = streamable_http_client(f"{server.base}/mcp", http_client=http)
        async with Client(transport, mode=era) as connected:
            yield connected
