"""Compares exports with the JSON schemas that the package publishes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from pgs_neo4j.manual import read_schema


def closed(schema: Any) -> Any:
    """Return a schema that allows only the listed names, to find names that it does not list."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {**inner, "additionalProperties": False} if "properties" in schema else inner


def assert_valid(name: str, document: object) -> None:
    """Fail unless a document, or a row of a table, matches its schema and has no other names."""
    _validator(name).validate(document)


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads(read_schema(name))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(closed(schema))
