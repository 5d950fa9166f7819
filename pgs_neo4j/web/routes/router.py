"""Routers of the API. Their routes stand side by side in the application.

Nested routers would cost each request more than everything else that happens to it.
"""

from __future__ import annotations

from fastapi import APIRouter

from pgs_neo4j.web.failures import Failure

PREFIX = "/api"
ERRORS: dict[int | str, dict[str, object]] = {
    status: {"model": Failure} for status in (401, 403, 404, 409, 422, 503)
}


def api_router(topic: str) -> APIRouter:
    """Return a router for requests of one topic, under which OpenAPI lists them."""
    return APIRouter(prefix=PREFIX, tags=[topic], responses=ERRORS)
