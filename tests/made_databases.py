"""Makes small databases of schemas, so that statements can be planned and read on them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from neo4j.spatial import WGS84Point
from neo4j.time import DateTime, Duration

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import quote
from pgs_neo4j.model import GraphSchema, SchemaProperty

NODES = 3  # of each label, so that a relationship of each type can join different nodes


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
