"""The page of the HTTP API names every request and field."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.manual import read_page
from pgs_neo4j.web.app import described
from tests.tools.api_table import kind_of


def test_every_request_is_there_with_its_parameters_and_fields() -> None:
    page, description = read_page("api"), described()
    sections = {part.partition("\n")[0]: part for part in page.split("\n### ")[1:]}
    asked = {
        f"{method.upper()} {path}": told
        for path, methods in description["paths"].items()
        for method, told in methods.items()
    }
    assert set(sections) == set(asked)
    for name, told in asked.items():
        assert all(f"`{one['name']}`" in sections[name] for one in told.get("parameters", ()))
        assert len(sections[name].splitlines()[2]) > 10, f"{name} has no description"
    fields = description["components"]["schemas"]["Question"]["properties"]
    assert all(f"`{field}`" in sections["POST /api/runs"] for field in fields)
    assert "| `question`* |" in sections["POST /api/runs"]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "string"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "string or integer"),
        ({"enum": ["a", "b"], "type": "string"}, "`a`, `b`"),
        ({"const": "none"}, "`none`"),
        ({"type": "array", "items": {"type": "string"}}, "array of string"),
        ({}, "object"),
    ],
)
def test_a_schema_in_words(schema: dict[str, Any], words: str) -> None:
    assert kind_of(schema) == words
