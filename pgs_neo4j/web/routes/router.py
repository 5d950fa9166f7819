"""Shared parts of routes: routers, ids, bodies, and messages about invalid requests.

The application adds all routes to one flat list, because nested routers would cost more time than
everything else in a request. Messages about an invalid request never repeat what was sent.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, ConfigDict

from pgs_neo4j.config.token_table import FORMS, NAME
from pgs_neo4j.errors import PGSError
from pgs_neo4j.text.invalid_values import UNKNOWN, describe_invalid, name_place
from pgs_neo4j.web.failures import Failure, status_of

PREFIX = "/api"
Responses = dict[int | str, dict[str, object]]
BODY = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)
"""How bodies are read: unknown fields and values of another type are refused."""
RUN_ID = r"^r[0-9a-f]{12}$"
JOB_ID = r"^b[0-9a-f]{12}$"
UPLOAD_ID = r"^[0-9a-f]{16}$"
ID_FORMS = {
    RUN_ID: "the whole id of a run: r and 12 hexadecimal digits",
    JOB_ID: "the whole id of a live job: b and 12 hexadecimal digits",
    UPLOAD_ID: "the id of an uploaded file: 16 hexadecimal digits",
}
"""Descriptions of the patterns, to follow "must be" in a message."""
GraphName = Annotated[str, Path(max_length=64, description="name of the graph")]
NewGraphName = Annotated[
    str, Path(max_length=64, description="name of the graph", json_schema_extra={"pattern": NAME})
]
"""The name of an existing or new graph."""
GraphFilter = Annotated[str | None, Query(max_length=64, description="name of a graph")]


def _parse_whole_number(value: object) -> object:
    """Return a whole number as an int, even if JSON writes it as ``1.0``."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_parse_whole_number)
"""Accepts numbers such as ``1.0``. It must follow the limits, or OpenAPI would not show them."""


def api_router(topic: str) -> APIRouter:
    """Return a router for requests of one topic, which is their tag in OpenAPI."""
    return APIRouter(prefix=PREFIX, tags=[topic], route_class=KnownParametersRoute)


def failing(*kinds: type[PGSError]) -> Responses:
    """Return the failure responses of a route for some types of errors.

    The module ``web.description`` adds failures that all routes have in common.
    """
    return {status_of(kind("")): {"model": Failure} for kind in kinds}


class KnownParametersRoute(APIRoute):
    """A route that refuses unknown query parameters.

    If a misspelled limit were ignored, the caller would rely on a limit that does not apply.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of a request, which checks the query first."""
        answer = super().get_route_handler()
        known = {*_list_parameters(self.dependant)}

        async def checked(request: Request) -> Response:
            for name in request.query_params:
                if name not in known:
                    raise RequestValidationError([_report_unknown(name, known)])
            return await answer(request)

        return checked


def _list_parameters(dependant: Dependant) -> Iterator[str]:
    """Yield the names of query parameters that a route or its dependencies read."""
    for parameter in dependant.query_params:
        yield parameter.alias
    for dependency in dependant.dependencies:
        yield from _list_parameters(dependency)


def _report_unknown(name: str, known: Iterable[str]) -> dict[str, object]:
    """Return an error for an unknown parameter, in the format of pydantic."""
    return {"type": "extra_forbidden", "loc": ("query", name), "ctx": {"known": sorted(known)}}


WHOLE_BODY = "the body"
_FORMS: Mapping[str, str] = {**FORMS, **ID_FORMS}


def describe_request(request: Request, error: RequestValidationError) -> tuple[Failure, str | None]:
    """Return the failure, and the name of the invalid part; None if it is the whole body."""
    detail = error.errors()[0]
    source, *place = detail["loc"]
    if detail["type"] == "json_invalid":  # its place is a character offset
        return _make_failure(describe_invalid(WHOLE_BODY, detail)), None
    known: Sequence[str] = detail.get("ctx", {}).get("known", ())  # set for query parameters
    if source == "body":
        place, known = _find_place(_body_type(request), place)
        if detail["type"] in UNKNOWN:
            place = list(detail["loc"][1:])
    where = name_place(place)
    words = describe_invalid(where or WHOLE_BODY, detail, known, _FORMS)
    return _make_failure(words), where or None


def _make_failure(words: str) -> Failure:
    return Failure(error=words, code="invalid", fix="see /api/openapi.json")


def _body_type(request: Request) -> object:
    """Return the type of the body that a route takes; None if it takes none."""
    field = getattr(request.scope.get("route"), "body_field", None)
    return field.field_info.annotation if field else None


def _find_place(kind: object, place: Iterable[Any]) -> tuple[list[Any], Sequence[str]]:
    """Return the part of a place that a client knows, and the names of the fields there.

    If a value may have one of several types, pydantic adds the type that it tried to the place.
    This function leaves such parts out, because they mean nothing to clients.
    """
    known: list[Any] = []
    for part in place:
        model = _find_model(kind)
        if isinstance(part, int):
            kind = next((inner for inner in get_args(_find_list_type(kind))), None)
        elif model is not None and part in model.model_fields:
            kind = model.model_fields[part].annotation
        else:
            break
        known.append(part)
    model = _find_model(kind)
    return known, [*model.model_fields] if model else ()


def _find_model(kind: object) -> type[BaseModel] | None:
    for member in (kind, *get_args(kind)):
        if isinstance(member, type) and issubclass(member, BaseModel):
            return member
    return None


def _find_list_type(kind: object) -> object:
    """Return the type of a value if it is a list, or the list among its types; else None."""
    members = (member for member in get_args(kind) if get_args(member))
    return kind if _is_list(kind) else next((m for m in members if _is_list(m)), None)


def _is_list(kind: object) -> bool:
    return getattr(kind, "__origin__", None) in (list, tuple)
