"""Dumps a small database to a text file, and restores it.

A dump holds every node, relationship, constraint, and index. The file has one table for each
combination of labels (or type) and property names. A row starts with the internal id of its node,
or with the ids of both ends. Times are ``{"at": "…"}``, long lists of integers ``{"packed": "…"}``.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from neo4j.time import DateTime

if TYPE_CHECKING:
    from pathlib import Path

    from pgs_neo4j.database.connection import Database

Row = dict[str, Any]

NODES = """
MATCH (n)
RETURN id(n) AS id, labels(n) AS labels, properties(n) AS properties
ORDER BY id
"""
RELATIONSHIPS = """
MATCH (a)-[r]->(b)
RETURN type(r) AS type, id(a) AS source, id(b) AS target, properties(r) AS properties
ORDER BY type, source, target, id(r)
"""
NAMES = """
CALL () { CALL db.labels() YIELD label AS name RETURN collect(name) AS labels }
CALL () { CALL db.relationshipTypes() YIELD relationshipType AS name RETURN collect(name) AS types }
CALL () { CALL db.propertyKeys() YIELD propertyKey AS name RETURN collect(name) AS properties }
RETURN labels, types, properties
"""
CREATE_NAMES = """
CALL () { UNWIND $labels AS name CALL db.createLabel(name) }
CALL () { UNWIND $types AS name CALL db.createRelationshipType(name) }
CALL () { UNWIND $properties AS name CALL db.createProperty(name) }
"""
CONSTRAINTS = "SHOW CONSTRAINTS YIELD name, createStatement RETURN createStatement AS statement"
INDEXES = """
SHOW INDEXES YIELD name, type, owningConstraint, createStatement
WHERE type <> 'LOOKUP' AND owningConstraint IS NULL
RETURN createStatement AS statement
"""
CREATE_NODES = """
UNWIND $rows AS row
CREATE (n:$(row.labels))
SET n = row.properties
RETURN row.id AS before, id(n) AS id
"""
CREATE_RELATIONSHIPS = """
UNWIND $rows AS row
MATCH (a) WHERE id(a) = row.source
MATCH (b) WHERE id(b) = row.target
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
"""
LONG = 1000  # integers from which a list is packed


@dataclass(frozen=True, slots=True)
class Dump:
    """A database, and what its own version prints of it.

    ``names`` are the labels, types, and properties that the store knows, used or not.
    ``nodes`` have an id, labels, and properties. ``relationships`` have a type, the ids of source
    and target, and properties. ``printed`` maps a command line to its JSON document.
    """

    version: str
    names: dict[str, list[str]]
    schema: list[str] = field(default_factory=list)
    nodes: list[Row] = field(default_factory=list)
    relationships: list[Row] = field(default_factory=list)
    printed: dict[str, Any] = field(default_factory=dict)


async def read_database(db: Database, version: str, older_days: int = 0) -> Dump:
    """Dump a database; every stored time is moved back by ``older_days``."""
    age = timedelta(days=older_days)
    constraints = (await db.call(CONSTRAINTS, {}, "read"))[1]
    indexes = (await db.call(INDEXES, {}, "read"))[1]
    nodes = (await db.call(NODES, {}, "read"))[1]
    relationships = (await db.call(RELATIONSHIPS, {}, "read"))[1]
    names = (await db.call(NAMES, {}, "read"))[1][0]
    return Dump(
        version=version,
        names={kind: sorted(listed) for kind, listed in names.items()},
        schema=sorted(row["statement"] for row in (*constraints, *indexes)),
        nodes=[{**row, "properties": _older(row["properties"], age)} for row in nodes],
        relationships=[
            {**row, "properties": _older(row["properties"], age)} for row in relationships
        ],
    )


async def write_database(db: Database, dump: Dump) -> dict[int, int]:
    """Restore a dump into an empty database; return the new id of each dumped one."""
    await db.call(CREATE_NAMES, dump.names, "write")
    for statement in dump.schema:
        await db.call(statement.replace(" FOR ", " IF NOT EXISTS FOR ", 1), {}, "write")
    _, rows = await db.call(CREATE_NODES, {"rows": dump.nodes}, "write")
    ids = {row["before"]: row["id"] for row in rows}
    moved = [
        {**row, "source": ids[row["source"]], "target": ids[row["target"]]}
        for row in dump.relationships
    ]
    await db.call(CREATE_RELATIONSHIPS, {"rows": moved}, "write")
    await db.call("CALL db.awaitIndexes(60)", {}, "read")
    return ids


def save(dump: Dump, path: Path) -> None:
    """Write a dump to a file, one line per node, relationship, and document key."""
    tables = [
        *_tables("labels", ("id",), dump.nodes),
        *_tables("type", ("source", "target"), dump.relationships),
    ]
    documents = [f"{_line(command)}: {_keys(dump.printed[command])}" for command in dump.printed]
    parts = (
        f'"version": {_line(dump.version)}',
        f'"names": {_keys(dump.names)}',
        f'"schema": [\n{_joined(map(_line, dump.schema))}\n]',
        f'"tables": [\n{_joined(tables)}\n]',
        f'"printed": {{\n{_joined(documents)}\n}}',
    )
    path.write_text(f"{{\n{_joined(parts)}\n}}\n", encoding="utf-8")


def load(path: Path) -> Dump:
    """Read a dump from a file."""
    stored = _decoded(json.loads(path.read_text(encoding="utf-8")))
    dump = Dump(stored["version"], stored["names"], stored["schema"], printed=stored["printed"])
    for table in stored["tables"]:
        kind, ends, into = (
            ("labels", ("id",), dump.nodes)
            if "labels" in table
            else ("type", ("source", "target"), dump.relationships)
        )
        for row in table["rows"]:
            values = dict(zip(table["properties"], row[len(ends) :], strict=True))
            into.append(
                {kind: table[kind], **dict(zip(ends, row, strict=False)), "properties": values}
            )
    return dump


def _older(properties: Row, age: timedelta) -> Row:
    return {
        name: _by_offset(value - age) if isinstance(value, DateTime) else value
        for name, value in sorted(properties.items())
    }


def _by_offset(time: DateTime) -> DateTime:
    """The same time as the server stores it; one in a named zone would print differently."""
    return time.replace(tzinfo=UTC)


def _tables(kind: str, ends: Sequence[str], rows: Iterable[Row]) -> list[str]:
    """Format one table per kind of row: same labels or type, same properties."""
    tables: dict[str, list[str]] = {}
    for row in rows:
        head = f'{{"{kind}": {_line(row[kind])}, "properties": {_line([*row["properties"]])}, '
        values = [*(row[end] for end in ends), *map(_encoded, row["properties"].values())]
        tables.setdefault(head, []).append(_line(values))
    return [f'{head}"rows": [\n{_joined(tables[head])}\n]}}' for head in sorted(tables)]


def _encoded(value: Any) -> Any:
    if isinstance(value, DateTime):
        return {"at": value.iso_format()}
    if isinstance(value, list) and len(value) >= LONG and isinstance(value[0], int):
        packed = zlib.compress(struct.pack(f"<{len(value)}q", *value), 9)
        return {"packed": base64.b64encode(packed).decode()}
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"at"}:
        return _by_offset(DateTime.from_iso_format(value["at"]))
    if value.keys() == {"packed"}:
        data = zlib.decompress(base64.b64decode(value["packed"]))
        return list(struct.unpack(f"<{len(data) // 8}q", data))
    return {key: _decoded(each) for key, each in value.items()}


def _keys(document: Row) -> str:
    return f"{{\n{_joined(f'{_line(key)}: {_line(each)}' for key, each in document.items())}\n}}"


def _joined(lines: Iterable[str]) -> str:
    return ",\n".join(lines)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
