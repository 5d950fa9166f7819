"""Loads the Stack Overflow example as its own users would, with their labels, types, and keys.

Everything comes from the model file that Neo4j's data importer wrote into the archive. No code of
pgs takes part, so the result is a database that pgs did not build.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping

ARCHIVE = "stackoverflow-data-importer.zip"
MODEL = "neo4j_importer_model.json"
MAPPING = GraphMapping(text=("title", "body_markdown", "display_name", "name"))
ROWS = 2000

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NodeTable:
    """A label, its key property, the types of its properties by column, and the rows."""

    label: str
    key: str
    types: dict[str, str]
    rows: list[Item]


@dataclass(frozen=True, slots=True)
class RelationshipTable:
    """A relationship type between two node tables, as pairs of keys."""

    type: str
    source: NodeTable
    target: NodeTable
    rows: list[Item]


Archive = tuple[list[NodeTable], list[RelationshipTable]]


async def load_stack_overflow(database: Database, archive: Path) -> tuple[int, int]:
    """Load the example; return its number of nodes and of relationships."""
    return await load_tables(database, read_archive(archive))


async def load_tables(database: Database, archive: Archive) -> tuple[int, int]:
    """Create constraints, nodes, and relationships; return the numbers of the latter two."""
    nodes, relationships = archive
    for table in nodes:
        await database.call(
            f"CREATE CONSTRAINT FOR (n:`{table.label}`) REQUIRE n.`{table.key}` IS UNIQUE",
            {},
            "write",
        )
    for table in nodes:
        create = f"UNWIND $rows AS row CREATE (n:`{table.label}`) SET n = row"
        await _write(database, create, table.rows)
    for link in relationships:
        bind = (
            f"UNWIND $rows AS row "
            f"MATCH (a:`{link.source.label}` {{`{link.source.key}`: row.source}}) "
            f"MATCH (b:`{link.target.label}` {{`{link.target.key}`: row.target}}) "
            f"CREATE (a)-[:`{link.type}`]->(b)"
        )
        await _write(database, bind, link.rows)
    return sum(len(t.rows) for t in nodes), sum(len(t.rows) for t in relationships)


def read_archive(archive: Path) -> Archive:
    """Return the node and relationship tables of the archive, with the types of its model."""
    with zipfile.ZipFile(archive) as opened:
        model = json.loads(opened.read(MODEL))["dataModel"]
        schema = model["graphSchemaRepresentation"]["graphSchema"]
        mapped = model["graphMappingRepresentation"]
        files = {t["$id"]: t["name"] for t in mapped["dataSourceSchema"]["tableSchemas"]}
        rows = {id_: _rows(opened, name) for id_, name in files.items()}
    tables = _node_tables(model, schema, mapped, rows)
    return list(tables.values()), _relationship_tables(schema, mapped, rows, tables)


def _node_tables(
    model: Item, schema: Item, mapped: Item, rows: dict[str, list[Item]]
) -> dict[str, NodeTable]:
    labels = {label["$id"]: label for label in schema["nodeLabels"]}
    label_of = {
        node["$id"]: labels[_reference(node["labels"][0])] for node in schema["nodeObjectTypes"]
    }
    properties = {p["$id"]: p for label in schema["nodeLabels"] for p in label["properties"]}
    keys = {
        _reference(entry["node"]): properties[_reference(entry["keyProperty"])]["token"]
        for entry in model["graphSchemaExtensionsRepresentation"]["nodeKeyProperties"]
    }
    tables: dict[str, NodeTable] = {}
    for entry in mapped["nodeMappings"]:
        node = _reference(entry["node"])
        columns = {
            column["fieldName"]: properties[_reference(column["property"])]
            for column in entry["propertyMappings"]
        }
        types = {p["token"]: p["type"]["type"] for p in columns.values()}
        typed = [
            {p["token"]: _typed(row[name], types[p["token"]]) for name, p in columns.items()}
            for row in rows[_reference(entry["tableSchema"])]
        ]
        tables[node] = NodeTable(label_of[node]["token"], keys[node], types, typed)
    return tables


def _relationship_tables(
    schema: Item, mapped: Item, rows: dict[str, list[Item]], tables: dict[str, NodeTable]
) -> list[RelationshipTable]:
    tokens = {entry["$id"]: entry["token"] for entry in schema["relationshipTypes"]}
    kinds = {entry["$id"]: entry for entry in schema["relationshipObjectTypes"]}
    links: list[RelationshipTable] = []
    for entry in mapped["relationshipMappings"]:
        kind = kinds[_reference(entry["relationship"])]
        source, target = tables[_reference(kind["from"])], tables[_reference(kind["to"])]
        columns = entry["fromMapping"]["fieldName"], entry["toMapping"]["fieldName"]
        pairs = [
            {
                "source": _typed(row[columns[0]], source.types[source.key]),
                "target": _typed(row[columns[1]], target.types[target.key]),
            }
            for row in rows[_reference(entry["tableSchema"])]
        ]
        links.append(RelationshipTable(tokens[_reference(kind["type"])], source, target, pairs))
    return links


def _reference(value: Item) -> str:
    return str(value["$ref"]).removeprefix("#")


def _rows(opened: zipfile.ZipFile, name: str) -> list[Item]:
    with io.TextIOWrapper(opened.open(name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _typed(text: str, type_: str) -> str | int | bool | None:
    """Return a CSV field as the importer stores it; None if it is empty or not of its type."""
    if type_ == "integer":
        return int(text) if text.lstrip("-").isdecimal() else None
    if not text:
        return None
    return text.lower() == "true" if type_ == "boolean" else text


async def _write(database: Database, statement: str, rows: list[Item]) -> None:
    for first in range(0, len(rows), ROWS):
        await database.call(statement, {"rows": rows[first : first + ROWS]}, "write")
