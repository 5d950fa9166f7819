"""Reads the published pairs of questions and Cypher, and makes databases of their schemas.

The pairs come from a model that saw these schemas, so they show what models write. The file is in
the folder of shared data and not in this repository.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from neo4j.spatial import WGS84Point
from neo4j.time import DateTime, Duration

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import quote
from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty, SchemaType

ARCHIVE = "text2cypher.json.gz"
NODES = 3  # of each label, so that a relationship of each type can join different nodes
_HEADINGS = ("Node properties:", "Relationship properties:", "The relationships:")
_OWNER = re.compile(r"- \*\*(.+)\*\*")
_PROPERTY = re.compile(r"  - `([^`:]+)(?:`: | ?: )([A-Z_]+)")
_ENDS = re.compile(r"\(:(.+?)\)-\[:(.+?)\]->\(:(.+?)\)")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with the statement that a model wrote for it, and whether that returned rows."""

    question: str
    cypher: str
    database: str
    returns_results: bool


@dataclass(frozen=True, slots=True)
class Collection:
    """The pairs whose statements a server can parse, and the schemas by database."""

    pairs: tuple[Pair, ...]
    schemas: dict[str, GraphSchema]

    def by_database(self, step: int = 1) -> dict[str, list[Pair]]:
        """Return every pair, or with ``step`` every so many, by its database."""
        grouped: dict[str, list[Pair]] = defaultdict(list)
        for pair in self.pairs[::step]:
            grouped[pair.database].append(pair)
        return dict(grouped)


def read_collection(path: Path) -> Collection:
    """Return the pairs without syntax errors, in the order of the file, and all schemas."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        read = json.load(file)
    pairs = tuple(
        Pair(one["question"], one["cypher"], one["database"], one["returns_results"])
        for one in read["pairs"]
        if not one["syntax_error"]
    )
    return Collection(pairs, {name: parse_schema(text) for name, text in read["schemas"].items()})


def parse_schema(text: str) -> GraphSchema:
    """Return the schema that a text describes in the form of LangChain's enhanced schema."""
    owners: dict[str, dict[str, list[SchemaProperty]]] = {heading: {} for heading in _HEADINGS}
    ends: dict[str, list[tuple[str, str]]] = defaultdict(list)
    part, properties = _HEADINGS[0], list[SchemaProperty]()
    for line in text.splitlines():
        if line.strip() in _HEADINGS:
            part = line.strip()
        elif found := _OWNER.match(line):
            properties = owners[part].setdefault(found[1], [])
        elif found := _PROPERTY.match(line):
            properties.append(SchemaProperty(name=found[1], types=(found[2],)))
        elif found := _ENDS.match(line):
            ends[found[2]].append((found[1], found[3]))
    labels, types = owners[_HEADINGS[0]], owners[_HEADINGS[1]]
    joined = [label for pairs in ends.values() for pair in pairs for label in pair]
    return GraphSchema(
        labels=tuple(
            SchemaLabel(label=label, count=NODES, properties=tuple(labels.get(label, ())))
            for label in dict.fromkeys((*labels, *joined))
        ),
        types=tuple(
            SchemaType(type=name, properties=tuple(types.get(name, ())), ends=tuple(pairs))
            for name, pairs in ends.items()
        ),
    )


async def fill_database(db: Database, schema: GraphSchema) -> None:
    """Create a few nodes of each label, and relationships of each type between its labels."""
    for label in schema.labels:
        create = f"UNWIND $rows AS row CREATE (n:{quote(label.label)}) SET n = row"
        rows = [_values(label.properties, number) for number in range(NODES)]
        await db.call(create, {"rows": rows}, "write")
    for kind in schema.types:
        for source, target in kind.ends:
            # Each source has the next target, so that paths of several steps exist.
            join = (
                f"MATCH (a:{quote(source)}) WITH collect(a) AS sources "
                f"MATCH (b:{quote(target)}) WITH sources, collect(b) AS targets "
                "UNWIND range(0, size(sources) - 1) AS i "
                "WITH sources[i] AS a, targets[(i + 1) % size(targets)] AS b, $rows[i] AS row "
                f"CREATE (a)-[r:{quote(kind.type)}]->(b) SET r = row"
            )
            rows = [_values(kind.properties, number) for number in range(NODES)]
            await db.call(join, {"rows": rows}, "write")


def _values(properties: tuple[SchemaProperty, ...], number: int) -> dict[str, Any]:
    return {one.name: _value(one.types[0], number) for one in properties}


def _value(type_name: str, number: int) -> Any:
    day = date(2019, 12, 31) + timedelta(days=number)
    values: dict[str, Any] = {
        "INTEGER": number,
        "FLOAT": number + 0.5,
        "BOOLEAN": number % 2 == 0,
        "DATE": day,
        "DATE_TIME": DateTime(day.year, day.month, day.day, 12, 0, 0),
        "DURATION": Duration(days=number),
        "POINT": WGS84Point((10.0 + number, 50.0)),
        "LIST": ["a", f"b{number}"],
    }
    return values.get(type_name, f"text {number}")
