"""Turns values of the driver into plain values, without vectors and without names of pgs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Sized
from typing import cast

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

FEWEST_DIMENSIONS = 32  # no property of the published graphs has so many floats but a vector


def plain_value(value: object) -> object:
    """Return a value as JSON can hold it.

    A node has its labels and properties, a relationship its type and properties, and a path its
    nodes and relationships in order. Times and durations are texts in ISO 8601. A vector in
    properties or in a map is left out, and elsewhere it becomes a text that says how long it is:
    models cannot use it, and its numbers would fill their context.
    """
    if _is_vector(value):
        return f"{len(cast('Sized', value))} numbers, which are left out; return fewer at a time"
    match value:
        case Node():
            labels = [label for label in sorted(value.labels) if not label.startswith("Pgs")]
            return {
                "element_id": value.element_id,
                "labels": labels,
                "properties": _properties(value),
            }
        case Relationship():
            return {
                "element_id": value.element_id,
                "type": value.type,
                "properties": _properties(value),
            }
        case Path():
            return {
                "nodes": [plain_value(node) for node in value.nodes],
                "relationships": [plain_value(one) for one in value.relationships],
            }
        case Point():
            return {"srid": value.srid, "coordinates": list(value)}
        case Date() | DateTime() | Time() | Duration():
            return value.iso_format()
        case bytes() | bytearray():
            return f"{len(value)} bytes"
        case str():
            return value
        case Mapping():
            return _properties(value)
        case Sequence():
            return [plain_value(one) for one in value]
    return value


def size_bytes(value: object) -> int:
    """Return the bytes of a plain value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace"))


def _properties(entity: Node | Relationship | Mapping[str, object]) -> dict[str, object]:
    return {str(key): plain_value(one) for key, one in entity.items() if not _is_vector(one)}


def _is_vector(value: object) -> bool:
    return isinstance(value, Vector) or (
        isinstance(value, list)
        and len(value) >= FEWEST_DIMENSIONS
        and all(isinstance(one, float) for one in value)
    )
