"""Creates the application: routes, error responses, the page, and the payer of each request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from pgs_neo4j.engine import Payer, paid_by
from pgs_neo4j.errors import PGSError, QuestionError
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.callers import Caller
from pgs_neo4j.web.agents import agents_of
from pgs_neo4j.web.chat.asking import Chats
from pgs_neo4j.web.chat.bodies import RefusedParameterError
from pgs_neo4j.web.chat.endpoints import router as chat_router
from pgs_neo4j.web.description import create_described_api
from pgs_neo4j.web.failures import FAULT, MISSING, Failure, failure_of, failure_response, status_of
from pgs_neo4j.web.manual import manual_routes
from pgs_neo4j.web.page import PAGE_METHODS, REST, find_page_file, page_routes
from pgs_neo4j.web.routes import (
    answers,
    asking,
    cypher,
    documents,
    graphs,
    login,
    nodes,
    operations,
    partitions,
    runs,
    searching,
    sessions,
)
from pgs_neo4j.web.routes.router import describe_request
from pgs_neo4j.web.runs.answering import CountRequests
from pgs_neo4j.web.runs.events import CutStreams
from pgs_neo4j.web.shared import Serving

ROUTES = (
    *(login, graphs, asking, runs, answers, searching, cypher, sessions),
    *(partitions, nodes, documents, operations),
)
"""Modules of routes, in the order of the OpenAPI description."""


def create_app(serving: Serving) -> FastAPI:
    """Return the application of one server. It must be wrapped by the guard."""
    agents, lifespan = agents_of(serving)
    app = create_described_api(
        lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json"
    )
    app.add_middleware(
        PaidByCaller, payer_of=lambda caller: serving.for_caller(caller).payer(caller)
    )
    app.add_middleware(CutStreams)
    app.add_middleware(CountRequests, answering=serving.board.answering)
    app.state.serving = serving
    app.state.chats = Chats()
    # Routes are added one by one, because each included router would match every request again.
    app.router.routes += [
        *_api_routes(),
        *chat_router.routes,
        agents,
        *operations.metrics_router.routes,
        *manual_routes().routes,
        *page_routes().routes,  # last, because they match all other paths
    ]
    app.add_exception_handler(PGSError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_fault)
    return app


def describe_openapi() -> Json:
    """Return the OpenAPI description of the requests under ``/api``."""
    app = create_described_api()
    app.router.routes += _api_routes()
    return app.openapi()


def _api_routes() -> list[BaseRoute]:
    return [route for module in ROUTES for route in module.router.routes]


async def _on_error(request: Request, error: Exception) -> Response:
    known = cast(PGSError, error)
    param = known.param if isinstance(known, RefusedParameterError) else None
    if isinstance(known, QuestionError):
        param = "messages"
    path = request.scope["path"]
    return failure_response(path, status_of(known), failure_of(known), param=param)


async def _on_invalid(request: Request, error: Exception) -> Response:
    failure, param = describe_request(request, cast(RequestValidationError, error))
    return failure_response(request.scope["path"], 422, failure, param=param)


async def _on_http(request: Request, error: Exception) -> Response:
    """Answer 404 for an unknown path, and 405 for an unknown method of a path."""
    path, status = request.scope["path"], cast(HTTPException, error).status_code
    if status == 204:
        return Response(status_code=204)
    if status not in (404, 405):
        return failure_response(path, status, Failure(error="refused", code="http"))
    methods = _list_methods(request.app, path)
    if not methods or request.method in methods:
        return failure_response(path, 404, MISSING)
    fix = f"use {' or '.join(methods)}"
    failure = Failure(error="this method is not served here", code="method", fix=fix)
    return failure_response(path, 405, failure, {"Allow": ", ".join(methods)})


def _list_methods(app: FastAPI, path: str) -> list[str]:
    """Return the sorted methods of a path; empty if the path is not served."""
    scope = {"type": "http", "method": "", "path": path, "root_path": "", "headers": []}
    named = (
        getattr(route, "methods", None) or ()
        for route in app.routes
        if getattr(route, "name", "") != REST and route.matches(scope)[0] is not Match.NONE
    )
    page = PAGE_METHODS if find_page_file(path.removeprefix("/")) else ()
    return sorted({*chain.from_iterable(named), *page})


async def _on_fault(request: Request, _: Exception) -> Response:
    return failure_response(request.scope["path"], 500, FAULT)


@dataclass(slots=True)
class PaidByCaller:
    """Sets the payer for each request and everything that it starts.

    The payer belongs to the caller that the guard has stored.
    """

    app: ASGIApp
    payer_of: Callable[[Caller], Payer]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its payer."""
        caller = scope.get("state", {}).get("caller")
        with paid_by(self.payer_of(caller) if caller is not None else Payer()):
            await self.app(scope, receive, send)
