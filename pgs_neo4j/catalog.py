"""Named graphs in the database, and the removal of all pgs data."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.names import LABELS, TYPES
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.errors import MappingError, UnknownGraphError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.partitioning import generation
from pgs_neo4j.retrieval.topk import drop_indexes
from pgs_neo4j.runs import session
from pgs_neo4j.text.json_data import Json

PURGES = 3  # a run under way may record something between two steps of the first

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A stored graph: its mapping, and its current generation if any."""

    name: str
    mapping: GraphMapping
    generation: str | None = None
    node_count: int | None = None
    partition_count: int | None = None


@dataclass(frozen=True, slots=True)
class Purged:
    """The counts of what a purge removed."""

    nodes: int
    relationships: int
    constraints: int
    indexes: int


async def add(db: Database, name: str, mapping: GraphMapping) -> bool:
    """Store or replace a named mapping; True when the name is new.

    Raises MappingError when the name or the mapping is malformed.
    """
    check_name(name)
    check_mapping(mapping)
    await ensure_schema(db)
    text = json.dumps(asdict(mapping), sort_keys=True)
    rows = await db.write(queries.get("catalog/merge_graphs"), name=name, mapping=text)
    return bool(rows[0]["created"])


async def graphs(db: Database) -> list[StoredGraph]:
    """Return all stored graphs, by name."""
    return [_stored(row) for row in await db.read(queries.get("catalog/read_graphs"))]


async def get(db: Database, name: str | None) -> StoredGraph:
    """Return the named graph, or the only one if unnamed.

    Raises UnknownGraphError, which lists the stored graphs.
    """
    stored = await graphs(db)
    if name is None and len(stored) == 1:
        return stored[0]
    for graph in stored:
        if graph.name == name:
            return graph
    if not stored:
        raise UnknownGraphError(
            "no graph is stored in this database yet; 'pgs inspect' proposes a mapping and "
            "'pgs graph add NAME' stores it"
        )
    listed = ", ".join(graph.name for graph in stored)
    if name is None:
        raise UnknownGraphError(f"there are several graphs ({listed}); name one with --graph")
    raise UnknownGraphError(f"there is no graph {name}; this database has {listed}")


async def remove(db: Database, name: str) -> None:
    """Delete a graph's generations, sessions, and mapping. Raises UnknownGraphError."""
    graph = await get(db, name)
    for info in await session.list_sessions(db, graph.name):
        await session.delete_session(db, graph.name, info.id)
    await generation.delete_all(db, graph.name)
    await db.write(queries.get("catalog/delete_graphs"), name=graph.name)


async def purge(db: Database) -> Purged:
    """Remove every node, relationship, constraint, and index that pgs wrote.

    The user's nodes and relationships are not touched. Harmless to repeat.
    """
    before = await _count_ours(db)
    for _ in range(PURGES):
        await db.batch(queries.get("catalog/purge_relationships"), types=list(TYPES))
        await db.batch(queries.get("catalog/purge_nodes"), labels=list(LABELS))
        left = await _count_ours(db)
        if not (left["nodes"] or left["relationships"]):
            break
    constraints = await db.read(queries.get("catalog/read_constraints"))
    for row in constraints:
        await db.write(queries.get("catalog/drop_constraint"), name=row["name"])
    indexes = await drop_indexes(db)
    return Purged(before["nodes"], before["relationships"], len(constraints), len(indexes))


async def _count_ours(db: Database) -> Row:
    query = queries.get("catalog/count_ours")
    return (await db.read(query, labels=list(LABELS), types=list(TYPES)))[0]


def check_name(name: str) -> None:
    """Raise MappingError unless the name is short and plain."""
    if not NAME.fullmatch(name):
        raise MappingError(
            f"{name[:80]!r} cannot be a graph's name: use up to 64 letters, digits, '.', '_' "
            "or '-', beginning with a letter or digit"
        )


def check_mapping(mapping: GraphMapping) -> None:
    """Raise MappingError for a reserved or empty name in the mapping."""
    for names, prefix in ((mapping.labels, "Pgs"), (mapping.relationship_types, "PGS_")):
        for name in names:
            if not name or name.startswith(prefix):
                raise MappingError(
                    f"the mapping names {name!r}; names of that form are reserved for what "
                    "pgs_neo4j writes itself, so leave it out"
                )
    for field in ("title", "key", "weight", "relationship_weight", "embedding"):
        if getattr(mapping, field) == "":
            raise MappingError(f"the mapping's {field} is empty; name a property or leave it out")


def mapping_from(stored: Json) -> GraphMapping:
    """Return a mapping from its JSON form."""
    names = {field.name for field in fields(GraphMapping)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in stored.items()
        if name in names
    }
    return GraphMapping(**values)


def _stored(row: dict[str, Any]) -> StoredGraph:
    return StoredGraph(
        name=row["name"],
        mapping=mapping_from(json.loads(row["mapping"])),
        generation=row["generation"],
        node_count=row["node_count"],
        partition_count=row["partition_count"],
    )
