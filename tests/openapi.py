"""Every request that the OpenAPI description lists, with the least valid body of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx2

from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.app import describe_openapi

DESCRIBED = describe_openapi()
FILE = "application/octet-stream"
PLACES: dict[str, str] = {
    **{"run": "r0123456789ab", "kind": "html", "partition": "1"},
    **{"upload": "0123456789abcdef", "live": "b0123456789ab"},
    **{"table": "findings", "form": "csv"},
}
"""Values of parameters that need a certain form."""


def operations() -> Iterator[tuple[str, str, Json]]:
    """Yield each request: its method, its path, and its description."""
    for path, methods in DESCRIBED["paths"].items():
        for method, told in methods.items():
            yield method, path, told


def least_body(told: Json, values: Mapping[str, object] = PLACES) -> Json | None:
    """Return a body with all required fields, and with fields that have a value here.

    Returns None for a request without a body.
    """
    content = told.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return {}
    schema = DESCRIBED["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
    needed = schema.get("required", ())
    least = {name: _least_value(schema["properties"][name], values) for name in needed}
    return least | {name: values[name] for name in schema["properties"] if name in values}


def _least_value(field: Json, values: Mapping[str, object]) -> object:
    if field.get("type") == "array":
        return [values["upload"]]
    return field.get("enum", ["papers"])[0]


async def send(
    client: httpx2.AsyncClient,
    method: str,
    path: str,
    told: Json,
    values: Mapping[str, Any] = PLACES,
) -> httpx2.Response:
    """Send the request with its parameters. A parameter without a value here gets ``papers``."""
    listed = [one for one in told.get("parameters", ()) if one["in"] != "header"]
    given = {one["name"]: values.get(one["name"], "papers") for one in listed}
    asked = {
        one["name"]: given[one["name"]]
        for one in listed
        if one["in"] == "query" and (one["required"] or one["name"] in values)
    }
    if FILE in told.get("requestBody", {}).get("content", {}):
        return await client.post(
            path.format(**given), params=asked, content=b"A file.", headers={"Content-Type": FILE}
        )
    body = least_body(told, values) if method == "post" else None
    return await client.request(method, path.format(**given), params=asked, json=body)
