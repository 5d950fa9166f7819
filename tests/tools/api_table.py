"""The page of the HTTP API, as Markdown, from its OpenAPI description."""

from __future__ import annotations

from collections.abc import Iterator

from pgs_neo4j.text.json_data import Json
from tests.tools.event_table import plain_paragraph, table

INTRODUCTION = """\
# HTTP API

Every request of [the server](server.md), from its own description at `/api/openapi.json`. A field
with `*` is required. An error is `{"error", "code", "fix"}`: a sentence, a word for programs, and
what to do. A request needs a token with the role that is named, or with a higher one: an `operator`
may do everything that an `asker` may do, and an `asker` everything that a `reader` may do. *Errors*
lists the statuses of possible errors.
"""


def api_page(described: Json) -> str:
    """Return all requests of an OpenAPI description with their parameters and bodies."""
    return INTRODUCTION + "".join(_sections(described))


def _sections(described: Json) -> Iterator[str]:
    schemas = described["components"]["schemas"]
    tag = ""
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            first = (told.get("tags") or ["other"])[0]
            if first != tag:
                tag = first
                yield f"\n## {tag.capitalize()}\n"
            yield _section(method.upper(), path, told, schemas)


def _section(method: str, path: str, told: Json, schemas: Json) -> str:
    text = plain_paragraph(told.get("description", ""))
    given = [
        (one["name"], one.get("required", False), one["schema"])
        for one in told.get("parameters", ())
    ]
    rows = [*given, *_body(told, schemas)]
    return f"\n### {method} {path}\n\n{text}\n\n{_needed(told)}\n" + table(
        ("field", "type", "about"),
        (
            (f"`{name}`{'*' if needed else ''}", kind_of(schema), _about(schema))
            for name, needed, schema in rows
        ),
    )


def _needed(told: Json) -> str:
    """Return which role a request needs, and with which statuses it may fail."""
    roles = [role for scheme in told.get("security", ()) for role in next(iter(scheme.values()))]
    role = f"Role: `{roles[0]}`." if roles else "No token is needed."
    statuses = sorted(status for status in told["responses"] if status >= "400")
    return f"{role} Errors: {', '.join(statuses)}."


def _body(told: Json, schemas: Json) -> Iterator[tuple[str, bool, Json]]:
    content = told.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return
    body = schemas[content["schema"]["$ref"].rpartition("/")[2]]
    needed = set(body.get("required", ()))
    for name, schema in body["properties"].items():
        yield name, name in needed, schema


def kind_of(schema: Json) -> str:
    """Return what values a schema allows, in words."""
    if "anyOf" in schema:
        kinds = [kind_of(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(kinds)
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = str(schema.get("type", "object"))
    return f"{kind} of {kind_of(schema['items'])}" if "items" in schema else kind


def _about(schema: Json) -> str:
    default = schema.get("default")
    parts = [str(schema.get("description", ""))]
    if default not in (None, ""):
        parts.append(f"default `{str(default).lower() if isinstance(default, bool) else default}`")
    return "; ".join(part for part in parts if part)
