"""Routers of the API. Their routes stand side by side in the application.

Nested routers would cost each request more than everything else that happens to it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BeforeValidator, ConfigDict

from pgs_neo4j.config.token_table import NAME
from pgs_neo4j.errors import PGSError
from pgs_neo4j.web.failures import Failure, status_of

PREFIX = "/api"
Responses = dict[int | str, dict[str, object]]
BODY = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)
"""How bodies are read: nothing unknown, and nothing of another type, such as true for a number."""

GraphName = Annotated[str, Path(max_length=64, description="name of the graph")]
NewGraphName = Annotated[
    str, Path(max_length=64, description="name of the graph", json_schema_extra={"pattern": NAME})
]
"""The name of a graph that may be new."""
GraphFilter = Annotated[str | None, Query(max_length=64, description="name of a graph")]


def _whole(value: object) -> object:
    """Return a whole number of JSON, which may be written with a fraction of zero, as an int."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Stands after the limits of a whole number, which OpenAPI would not show otherwise."""


class KnownParametersRoute(APIRoute):
    """A route that refuses parameters of a query which it does not know.

    A misspelt limit that is ignored is a limit that does not hold.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        answer = super().get_route_handler()
        known = {*_parameters(self.dependant)}

        async def checked(request: Request) -> Response:
            for name in request.query_params:
                if name not in known:
                    raise RequestValidationError([_unknown(name, known)])
            return await answer(request)

        return checked


def api_router(topic: str) -> APIRouter:
    """Return a router for requests of one topic, under which OpenAPI lists them."""
    return APIRouter(prefix=PREFIX, tags=[topic], route_class=KnownParametersRoute)


def failing(*kinds: type[PGSError]) -> Responses:
    """Return the responses of a request that also fails with some kinds of errors.

    Those that others share are described by ``web.description``.
    """
    return {status_of(kind("")): {"model": Failure} for kind in kinds}


def _parameters(dependant: Dependant) -> Iterator[str]:
    """Yield the names of the query that a route or something that it depends on reads."""
    for parameter in dependant.query_params:
        yield parameter.alias
    for dependency in dependant.dependencies:
        yield from _parameters(dependency)


def _unknown(name: str, known: Iterable[str]) -> dict[str, object]:
    """Return an unknown parameter as pydantic reports it."""
    return {"type": "extra_forbidden", "loc": ("query", name), "ctx": {"known": sorted(known)}}
