"""The application: routes, errors, and the page, behind the guard."""

from __future__ import annotations

from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from pgs_neo4j.errors import PGSError
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.paying import PaidByCaller
from pgs_neo4j.web.agents.mount import agents_of
from pgs_neo4j.web.chat.asking import Chats
from pgs_neo4j.web.chat.endpoints import router as chat_router
from pgs_neo4j.web.description import described_api
from pgs_neo4j.web.failures import FAULT, Failure, failure_of, failure_response, status_of
from pgs_neo4j.web.manual.handbook import manual_routes
from pgs_neo4j.web.page import page_routes
from pgs_neo4j.web.routes import (
    browsing,
    demo,
    documents,
    feedback,
    graphs,
    ingestions,
    live_jobs,
    login,
    maps,
    metrics,
    nodes,
    operations,
    planning,
    reports,
    runs,
    searching,
    sessions,
)
from pgs_neo4j.web.runs.answering import CountRequests
from pgs_neo4j.web.runs.stream import CutStreams
from pgs_neo4j.web.shared import Serving

ROUTES = (
    *(login, graphs, demo, planning, runs, reports, feedback, searching, sessions),
    *(browsing, maps, nodes, documents, ingestions, operations, live_jobs),
)
"""In the order in which OpenAPI lists them."""


def create_app(serving: Serving) -> FastAPI:
    """Return the application of one server; the guard has to stand before it."""
    agents, lifespan = agents_of(serving)
    app = described_api(
        lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json"
    )
    app.add_middleware(PaidByCaller, payer_of=serving.payer)
    app.add_middleware(CutStreams)
    app.add_middleware(CountRequests, answering=serving.board.answering)
    app.state.serving = serving
    app.state.chats = Chats(serving)
    # Not included as routers: each one would match all requests again.
    app.router.routes += [
        *_api_routes(),
        *chat_router.routes,
        agents,
        *metrics.router.routes,
        *manual_routes().routes,
        *page_routes().routes,  # they take all other paths
    ]
    app.add_exception_handler(PGSError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_fault)
    return app


def described() -> Json:
    """Return the OpenAPI description of the requests under ``/api``."""
    app = described_api()
    app.router.routes += _api_routes()
    return app.openapi()


def _api_routes() -> list[BaseRoute]:
    return [route for module in ROUTES for route in module.router.routes]


async def _on_error(request: Request, error: Exception) -> Response:
    known = cast(PGSError, error)
    return failure_response(request.url.path, status_of(known), failure_of(known))


async def _on_invalid(request: Request, error: Exception) -> Response:
    """Say which field is wrong; what was sent is not repeated."""
    first = cast(RequestValidationError, error).errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    failure = Failure(error=f"{where}: {first['msg']}", code="invalid", fix="see /api/openapi.json")
    return failure_response(request.url.path, 422, failure)


async def _on_http(request: Request, error: Exception) -> Response:
    status = cast(HTTPException, error).status_code
    what = {404: "there is nothing here", 405: "this method is not served here"}
    failure = Failure(
        error=what.get(status, "refused"), code={404: "not_found"}.get(status, "http")
    )
    return failure_response(request.url.path, status, failure)


async def _on_fault(request: Request, _: Exception) -> Response:
    return failure_response(request.url.path, 500, FAULT)
