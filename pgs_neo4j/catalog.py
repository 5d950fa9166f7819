"""Named graphs in the database."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import Any

from pgs_neo4j.analogies.store import forget_analogies
from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.errors import BusyError, GraphExistsError, MappingError, UnknownGraphError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.partitioning import generation
from pgs_neo4j.partitioning.rows import definition_of
from pgs_neo4j.runs import feedback, session
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.text.shown import counted

ATTEMPTS = 3  # to store a mapping that other processes change at the same time

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class StoredNames:
    """Names of graphs, and ids of sessions and runs, the latest first."""

    graphs: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A stored graph: its mapping, and its current generation if any.

    ``redefined``: the generation was made for an earlier mapping.
    """

    name: str
    mapping: GraphMapping
    generation: str | None = None
    node_count: int | None = None
    partition_count: int | None = None
    redefined: bool = False


@dataclass(frozen=True, slots=True)
class GraphChange:
    """What another mapping would change in a stored graph.

    ``differences`` are sentences, one per part of the mapping. ``partitions`` and ``sessions``
    count those that belong to the stored mapping.
    """

    graph: str
    differences: tuple[str, ...]
    partitions: int = 0
    sessions: int = 0

    @property
    def effect(self) -> str:
        """What replacing the mapping invalidates."""
        parts = counted(self.partitions, "partition") if self.partitions else ""
        held = counted(self.sessions, "session") if self.sessions else ""
        lost = [f"its {parts} must be made again"] if parts else []
        lost += [f"the coverage of {held} starts from the texts that stay the same"] if held else []
        return " and ".join(lost) or "nothing depends on it yet"


async def add(db: Database, name: str, mapping: GraphMapping, *, replace: bool = False) -> bool:
    """Store a named mapping; True when the name is new.

    Harmless to repeat. Raises GraphExistsError when the name has another mapping, unless
    ``replace`` is set, and MappingError when the name or the mapping is malformed.
    """
    check_name(name)
    check_mapping(mapping)
    await ensure_schema(db)
    for _ in range(ATTEMPTS):
        row = await _find(db, name)
        if row is not None:
            stored = _stored(row)
            if stored.mapping == mapping:
                return False
            if not replace:
                raise _exists(await _describe_change(db, stored, mapping))
        written = await db.write(
            queries.get("catalog/merge_graphs"),
            name=name,
            mapping=definition_of(mapping),
            former=row["mapping"] if row else "",
        )
        if written[0]["stored"]:
            return bool(written[0]["created"])
    raise BusyError(f"graph {name} is being changed by other processes; try again")


async def compare(db: Database, name: str, mapping: GraphMapping) -> GraphChange | None:
    """Return what a mapping would change in a stored graph.

    None when no graph has the name, or when it has the same mapping.
    """
    row = await _find(db, name)
    stored = _stored(row) if row else None
    if stored is None or stored.mapping == mapping:
        return None
    return await _describe_change(db, stored, mapping)


async def check_loadable(db: Database, name: str, *own: str) -> None:
    """Raise GraphExistsError when the name belongs to a graph of other labels."""
    row = await _find(db, name)
    if row is not None and (labels := _stored(row).mapping.labels) != own:
        raise GraphExistsError(
            f"graph {name} is stored for other nodes ({_listed(labels) if labels else 'all'}); "
            f"load under another name, or remove it first with 'pgs graph remove {name}'"
        )


async def _find(db: Database, name: str) -> Row | None:
    return next((row for row in await _read_rows(db) if row["name"] == name), None)


async def _read_rows(db: Database) -> list[Row]:
    return await db.read(queries.get("catalog/read_graphs"))


async def _describe_change(db: Database, stored: StoredGraph, mapping: GraphMapping) -> GraphChange:
    pairs = (
        (field.name.replace("_", " "), getattr(stored.mapping, field.name), new)
        for field in fields(GraphMapping)
        if (new := getattr(mapping, field.name)) != getattr(stored.mapping, field.name)
    )
    return GraphChange(
        graph=stored.name,
        differences=tuple(
            f"{part}: {_listed(old)}, now {_listed(new)}" for part, old, new in pairs
        ),
        partitions=stored.partition_count or 0,
        sessions=len(await session.list_sessions(db, stored.name)),
    )


def _listed(value: str | tuple[str, ...] | None) -> str:
    names = (value,) if isinstance(value, str) else value or ()
    return " + ".join(names) or "none"


def _exists(change: GraphChange) -> GraphExistsError:
    return GraphExistsError(
        f"graph {change.graph} has another definition ({'; '.join(change.differences)}); if you "
        f"replace it with --replace (in Python: replace=True), {change.effect}; or choose another "
        "name"
    )


async def graphs(db: Database) -> list[StoredGraph]:
    """Return all stored graphs, by name."""
    return [_stored(row) for row in await _read_rows(db)]


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
    await feedback.forget(db, graph.name)
    for info in await session.list_sessions(db, graph.name):
        await session.delete_session(db, graph.name, info.id)
    await generation.delete_all(db, graph.name)
    await forget_analogies(db, graph.name)
    await db.write(queries.get("catalog/delete_graphs"), name=graph.name)


def check_name(name: str) -> None:
    """Raise MappingError unless the name is short and plain."""
    if not NAME.fullmatch(name):
        raise MappingError(
            f"{name[:80]!r} cannot be a graph's name: use up to 64 letters, digits, '.', '_' "
            "or '-', beginning with a letter or digit"
        )


def check_mapping(mapping: GraphMapping) -> None:
    """Raise MappingError for a reserved, empty, or excluded name in the mapping."""
    views = (
        (mapping.labels, mapping.chunk_labels, "Pgs", "--label"),
        (mapping.relationship_types, mapping.mention_types, "PGS_", "--relationship-type"),
    )
    for names, parts, prefix, option in views:
        for name in names + parts:
            if not name or name.startswith(prefix):
                raise MappingError(
                    f"the mapping names {name!r}; names of that form are reserved for what "
                    "pgs_neo4j writes itself, so leave it out"
                )
            if names and name not in names:
                raise MappingError(
                    f"the mapping leaves {name!r} out of the graph; add {option} {name}, or drop "
                    "the option that names it"
                )
    for field in (field.name for field in fields(GraphMapping)):
        if getattr(mapping, field) == "":
            raise MappingError(f"the mapping's {field} is empty; name a property or leave it out")


def is_other(definition: str | None, mapping: GraphMapping) -> bool:
    """Whether a stored definition is another one; False if none is stored."""
    return bool(definition) and mapping_from(json.loads(definition or "{}")) != mapping


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
    mapping = mapping_from(json.loads(row["mapping"]))
    return StoredGraph(
        name=row["name"],
        mapping=mapping,
        redefined=is_other(row["definition"], mapping),
        generation=row["generation"],
        node_count=row["node_count"],
        partition_count=row["partition_count"],
    )


async def read_names(db: Database, limit: int) -> StoredNames:
    """Return the names of graphs, sessions, and runs, at most ``limit`` of each."""
    (row,) = await db.read(queries.get("catalog/read_names"), limit=limit)
    return StoredNames(*(tuple(map(str, row[kind])) for kind in ("graphs", "sessions", "runs")))
