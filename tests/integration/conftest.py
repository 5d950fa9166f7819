"""A server on a real database, and its owner; a file may have an engine of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlparse

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from tests.conftest import Endpoint
from tests.engines import KNOBS, engine_on, engine_on_papers
from tests.fakes.tcp_proxy import Proxy, proxy
from tests.serving import Served, served


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on four topics of papers."""
    async with engine_on_papers(endpoint, db) as opened:
        yield opened


@pytest.fixture
async def engine(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on the emptied database."""
    async with engine_on(endpoint, **KNOBS) as opened:
        yield opened


@pytest.fixture
async def server(pgs: PGS) -> AsyncIterator[Served]:
    """A server of that engine."""
    async with served(pgs) as running:
        yield running


@pytest.fixture
async def faulty(endpoint: Endpoint, db: Database) -> AsyncIterator[Proxy]:
    """A proxy before the test database."""
    address = urlparse(endpoint.uri)
    async with proxy(str(address.hostname), address.port or 7687) as running:
        yield running


@pytest.fixture
async def owner(server: Served) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that followed the link of that server."""
    async with server.owner() as client:
        yield client
