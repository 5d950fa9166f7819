"""Reads 9,752 published pairs of question and Cypher, and the schemas of their databases.

``Published`` holds them; ``read_schema`` turns the text of a schema into values.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty, SchemaType

FILE = "text2cypher.json.gz"
NO_FAULT = "False"  # what the publisher says of statements without a wrong name
_OWNER = re.compile(r"^- \*\*(.+)\*\*$")
_PROPERTY = re.compile(r"^  - `(.+?)(?:`: |: )([A-Z_]+)`?")
_ARROW = re.compile(r"^\(:(.+?)\)-\[:(.+?)\]->\(:(.+?)\)$")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, its statement, its database, and the wrong names of the statement."""

    question: str
    statement: str
    database: str
    wrong: tuple[str, ...]
    syntax_error: bool


@dataclass(frozen=True, slots=True)
class Published:
    """The pairs whose database has a schema, the schemas, and the number of other pairs."""

    pairs: tuple[Pair, ...]
    schemas: dict[str, GraphSchema]
    without_schema: int


def read_published(data: Path) -> Published:
    """Return the published pairs in a folder of data."""
    with gzip.open(data / FILE) as file:
        stored: dict[str, Any] = json.load(file)
    schemas = {name: read_schema(text) for name, text in stored["schemas"].items()}
    pairs = tuple(
        Pair(
            one["question"],
            one["cypher"],
            one["database"],
            ()
            if one["false_schema"] == NO_FAULT
            else tuple(name.strip() for name in one["false_schema"].split(",")),
            one["syntax_error"],
        )
        for one in stored["pairs"]
    )
    known = tuple(pair for pair in pairs if pair.database in schemas)
    return Published(known, schemas, len(pairs) - len(known))


def read_schema(text: str) -> GraphSchema:
    """Return the schema that a text describes, as language models are given it."""
    nodes, _, rest = text.partition("Relationship properties:")
    relationships, _, arrows = rest.partition("The relationships:")
    ends: dict[str, list[tuple[str, str]]] = {}
    for line in arrows.splitlines():
        if match := _ARROW.match(line.strip()):
            ends.setdefault(match[2], []).append((match[1], match[3]))
    labels = tuple(
        SchemaLabel(label=name, properties=properties)
        for name, properties in _read_owners(nodes).items()
    )
    owned = _read_owners(relationships)
    types = tuple(
        SchemaType(type=name, properties=owned.get(name, ()), ends=tuple(ends.get(name, ())))
        for name in dict.fromkeys((*ends, *owned))
    )
    # The texts leave out labels without properties, but show them in the relationships.
    bare = {label for pairs in ends.values() for pair in pairs for label in pair}
    more = sorted(bare - {one.label for one in labels})
    return GraphSchema(labels=(*labels, *(SchemaLabel(label=label) for label in more)), types=types)


def _read_owners(text: str) -> dict[str, tuple[SchemaProperty, ...]]:
    owners: dict[str, tuple[SchemaProperty, ...]] = {}
    owner = ""
    for line in text.splitlines():
        if match := _OWNER.match(line):
            owner = match[1]
            owners[owner] = ()
        elif (match := _PROPERTY.match(line)) and owner:
            owners[owner] += (SchemaProperty(name=match[1], types=(match[2],)),)
    return owners
