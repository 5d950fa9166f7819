"""Completes the OpenAPI description with failures that all requests have in common.

Routes describe only their own failures. Failures that come from the guard, from the format of
requests, from unknown names, and from the database are added here.
"""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

from fastapi import FastAPI

from pgs_neo4j import __version__
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.failures import Failure

ABOUT = """\
Every error is `{"error", "code", "fix"}`: a sentence, a word for programs, and what to do. A method
that a path does not serve is answered with 405, and `/mcp` with 501 where its library is missing.

`/v1` speaks the language of OpenAI's API, whose description holds for it, errors included.
`/mcp` speaks the Model Context Protocol, which describes its tools by itself.
"""

HOME = "https://github.com/pgs-neo4j/pgs_neo4j"
TOPICS = {
    "access": "Log in and out, and whether the server answers.",
    "graphs": "Views of the database that can be asked.",
    "runs": "Questions, what they read, and their answers.",
    "search": "The nodes that match a question.",
    "sessions": "What related runs have read together.",
    "partitions": "The parts of a graph, and its map.",
    "nodes": "The texts of nodes, and what is around them.",
    "documents": "Files that became nodes.",
    "operations": "Jobs, costs, and checks.",
}
"""Tags of the requests with their descriptions, in the order of the page."""
NAMED = frozenset({"graph", "run", "job", "live"})
"""Fields with a name or id that may be unknown, or belong to another caller."""
ANY_READING = (500, 502, 503, 504)
"""Statuses that a failure of the database or of a model causes."""
WITHOUT_DATABASE = "access"
"""The topic of requests that use neither the database nor a model."""


class DescribedApi(FastAPI):
    """An application whose OpenAPI description is complete."""

    def openapi(self) -> Json:
        """Return the complete description; it is made once."""
        if self.openapi_schema is None:
            complete(super().openapi())
        return dict(self.openapi_schema or {})


def create_described_api(**options: object) -> DescribedApi:
    """Return an application without routes; ``options`` are FastAPI's."""
    return DescribedApi(
        title="pgs_neo4j",
        version=__version__,
        summary="Partitioned Graph Synthesis on Neo4j",
        description=ABOUT,
        **options,  # type: ignore[arg-type]
    )


def complete(schema: Json) -> None:
    """Add the failures that follow from the method, parameters, and body of each request."""
    schemas = schema["components"]["schemas"]
    _describe_api(schema)
    schemas["Failure"] = Failure.model_json_schema()
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for part in iter_objects(schema):
        _make_valid(part)
    for methods in schema["paths"].values():
        for method, operation in methods.items():
            operation.setdefault("security", [])  # explicit, to show that no token is needed
            own = (int(status) for status in operation["responses"] if int(status) >= 400)
            for status in sorted({*own, *_list_statuses(method, operation, schemas)}):
                operation["responses"][str(status)] = _describe_failure(status)


def _describe_api(schema: Json) -> None:
    schema["info"]["license"] = {"name": "MIT", "identifier": "MIT"}
    schema["info"]["contact"] = {"name": "pgs_neo4j", "url": HOME}
    schema["servers"] = [{"url": "/", "description": "the server that sent this"}]
    schema["tags"] = [{"name": name, "description": about} for name, about in TOPICS.items()]


def iter_objects(value: object) -> Iterator[Json]:
    """Yield all JSON objects within a description."""
    if isinstance(value, dict):
        yield value
        for child in value.values():
            yield from iter_objects(child)
    elif isinstance(value, list):
        for child in value:
            yield from iter_objects(child)


def _make_valid(part: Json) -> None:
    """Replace keywords of OpenAPI 3.2, and keywords that few tools support."""
    if "itemSchema" in part:  # describes a stream of events
        part.pop("itemSchema")
        part["schema"] = {"type": "string", "description": "server-sent events"}
    if "prefixItems" in part:
        part.setdefault("items", {})


def _list_statuses(method: str, operation: Json, schemas: Json) -> Iterator[int]:
    """Yield the statuses of failures that requests like this one have in common."""
    body = operation.get("requestBody", {}).get("content", {})
    names = {one["name"] for one in operation.get("parameters", ())}
    fields = _list_fields(body, schemas)
    yield from (HTTPStatus.MISDIRECTED_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    if operation.get("security"):
        yield from (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
    if method != "get":
        yield HTTPStatus.FORBIDDEN
    if method == "post":
        yield HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    if "application/json" in body:
        yield HTTPStatus.BAD_REQUEST
    if names or body:
        yield HTTPStatus.UNPROCESSABLE_ENTITY
    if NAMED & (names | fields):
        yield HTTPStatus.NOT_FOUND
    if WITHOUT_DATABASE not in operation["tags"]:
        yield from ANY_READING


def _list_fields(body: Json, schemas: Json) -> set[str]:
    """Return the names of the fields of a JSON body."""
    reference = body.get("application/json", {}).get("schema", {}).get("$ref", "")
    return {*schemas.get(reference.rpartition("/")[2], {}).get("properties", ())}


def _describe_failure(status: int) -> Json:
    return {
        "description": HTTPStatus(status).phrase,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
    }
