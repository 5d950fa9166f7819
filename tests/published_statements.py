"""Reads 9,752 published pairs of question and Cypher, and the schemas of their databases.

The pairs come from a model that saw these schemas, so they show what models write. The file is in
the folder of shared data and not in this repository.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgs_neo4j.model import GraphSchema, SchemaLabel, SchemaProperty, SchemaType

ARCHIVE = "text2cypher.json.gz"
NO_FAULT = "False"  # what the publisher says of statements without a wrong name
_OWNER = re.compile(r"- \*\*(.+)\*\*")
_PROPERTY = re.compile(r"\s+- `([^:`]+)(?:`: |: )(\w*)`?\s*(?:Example: \"(.*)\"|(.*))")
_OPTION = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_PAIR = re.compile(r"\(:(.+)\)-\[:(.+)\]->\(:(.+)\)")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, its statement, its database, and the wrong names of the statement.

    ``returns_results`` says whether the statement returned rows from the published database.
    """

    question: str
    statement: str
    database: str
    wrong: tuple[str, ...]
    syntax_error: bool
    returns_results: bool


@dataclass(frozen=True, slots=True)
class Published:
    """The pairs in the order of the file, and the schemas by database, of which one is missing."""

    pairs: tuple[Pair, ...]
    schemas: dict[str, GraphSchema]

    @property
    def with_schema(self) -> tuple[Pair, ...]:
        """The pairs whose database has a schema."""
        return tuple(pair for pair in self.pairs if pair.database in self.schemas)

    @property
    def parsable(self) -> tuple[Pair, ...]:
        """The pairs without a syntax error."""
        return tuple(pair for pair in self.pairs if not pair.syntax_error)


def read_published(archive: Path) -> Published:
    """Return the published pairs and schemas of a file."""
    with gzip.open(archive, "rt", encoding="utf-8") as file:
        stored: dict[str, Any] = json.load(file)
    pairs = tuple(
        Pair(
            one["question"],
            one["cypher"],
            one["database"],
            ()
            if one["false_schema"] == NO_FAULT
            else tuple(name.strip() for name in one["false_schema"].split(",")),
            one["syntax_error"],
            bool(one["returns_results"]),
        )
        for one in stored["pairs"]
    )
    return Published(pairs, {name: parse_schema(text) for name, text in stored["schemas"].items()})


def by_database(pairs: tuple[Pair, ...], step: int = 1) -> dict[str, list[Pair]]:
    """Return every pair, or with ``step`` every so many, by its database."""
    grouped: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs[::step]:
        grouped[pair.database].append(pair)
    return dict(grouped)


def parse_schema(text: str) -> GraphSchema:
    """Return a schema from its published text, without counts."""
    labels: dict[str, list[SchemaProperty]] = {}
    types: dict[str, list[SchemaProperty]] = {}
    ends: dict[str, list[tuple[str, str]]] = {}
    owners = labels
    for line in text.splitlines():
        if line.startswith("Relationship properties"):
            owners = types
        elif owner := _OWNER.match(line):
            properties = owners.setdefault(owner[1], [])
        elif pair := _PAIR.match(line):
            ends.setdefault(pair[2], []).append((pair[1], pair[3]))
        elif found := _PROPERTY.match(line):
            name, kind, example, rest = found.groups()
            values = [example] if example else _read_options(rest)
            short = tuple(value[:40] for value in values[:3])
            properties.append(SchemaProperty(name=name, types=(kind,), examples=short))
    for source, target in (pair for pairs in ends.values() for pair in pairs):
        labels.setdefault(source, [])
        labels.setdefault(target, [])
    return GraphSchema(
        labels=tuple(SchemaLabel(label=key, properties=tuple(of)) for key, of in labels.items()),
        types=tuple(
            SchemaType(
                type=key, properties=tuple(types.get(key, ())), ends=tuple(ends.get(key, ()))
            )
            for key in dict.fromkeys((*ends, *types))
        ),
    )


def _read_options(text: str | None) -> list[str]:
    if not text or not text.startswith("Available options"):
        return []
    return [one or other for one, other in _OPTION.findall(text)]
