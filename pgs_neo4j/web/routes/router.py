"""Routers of the API. Their routes stand side by side in the application.

Nested routers would cost each request more than everything else that happens to it.
"""

from __future__ import annotations

from fastapi import APIRouter

from pgs_neo4j.errors import PGSError
from pgs_neo4j.web.failures import Failure, status_of

PREFIX = "/api"
Responses = dict[int | str, dict[str, object]]


def api_router(topic: str) -> APIRouter:
    """Return a router for requests of one topic, under which OpenAPI lists them."""
    return APIRouter(prefix=PREFIX, tags=[topic])


def failing(*kinds: type[PGSError]) -> Responses:
    """Return the responses of a request that also fails with some kinds of errors.

    Those that others share are described by ``web.description``.
    """
    return {status_of(kind("")): {"model": Failure} for kind in kinds}
