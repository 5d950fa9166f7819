"""Stores, finds, changes, and deletes the named graphs of a database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.database.stored_data import SHOWN, parse_stored, unreadable
from pgs_neo4j.engine.views import forget_views
from pgs_neo4j.errors import (
    BusyError,
    GraphExistsError,
    MappingError,
    ScopeError,
    StoredDataError,
    UnknownGraphError,
)
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.graph import split_property
from pgs_neo4j.model.scope import JOINT, NO_SCOPE, Scope
from pgs_neo4j.pgs.analogies.buying import forget_analogies
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.partitioning.rows import definition_of
from pgs_neo4j.pgs.runs import feedback, session
from pgs_neo4j.pgs.runs.keys import session_uid
from pgs_neo4j.text.commands import shell_word
from pgs_neo4j.text.shown import counted

ATTEMPTS = 3  # attempts to store a mapping that other processes change at the same time

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

LISTS = ("labels", "relationship_types", "text", "chunk_labels", "mention_types", "scope")
"""Parts of a mapping that are lists of names."""
VIEW = {"labels", "relationship_types"}
"""Parts that a stored mapping must have, because they limit which nodes and relationships count."""
_UNMADE: Mapping[str, Any] = MappingProxyType(
    dict.fromkeys(("mapping", "generation", "node_count", "partition_count", "definition"))
)
"""The row of a shared graph that has no partitions in a scope yet."""
_OBJECT, _MAPPING = TypeAdapter(dict[str, Any]), TypeAdapter(GraphMapping)

ENTITIES = ".entities"
"""Suffix for the name of the graph that contains only the entities of a graph of documents."""


@dataclass(frozen=True, slots=True)
class StoredNames:
    """Names of graphs, and ids of sessions and runs, the latest first."""

    graphs: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A stored graph: its mapping, and its current generation if any.

    ``redefined`` is true if the generation was made for an earlier mapping.
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

    ``differences`` are sentences, one per part of the mapping. ``partitions`` and ``sessions`` are
    the numbers of partitions and sessions that belong to the stored mapping.
    """

    graph: str
    differences: tuple[str, ...]
    partitions: int = 0
    sessions: int = 0

    @property
    def effect(self) -> str:
        """What becomes invalid if the mapping is replaced."""
        parts = counted(self.partitions, "partition") if self.partitions else ""
        held = counted(self.sessions, "session") if self.sessions else ""
        lost = [f"its {parts} must be made again"] if parts else []
        lost += [f"the coverage of {held} starts from the texts that stay the same"] if held else []
        return " and ".join(lost) or "nothing depends on it yet"


async def add(db: Database, name: str, mapping: GraphMapping, *, replace: bool = False) -> bool:
    """Store a named mapping; return True if the name is new.

    The call may be repeated. Raises GraphExistsError when the name has another mapping, unless
    ``replace`` is set, and MappingError when the name or the mapping is malformed.
    """
    check_name(name)
    check_mapping(mapping)
    await ensure_schema(db)
    for _ in range(ATTEMPTS):
        row = await _find_row(db, name)
        if row is not None:
            former = _read_mapping(row, replace=replace)
            if former == mapping:
                return False
            if not replace:
                raise _explain_existing(await _describe_change(db, _parse_graph(row), mapping))
        written = await db.write(
            queries.get("engine/catalog/merge_graphs"),
            name=name,
            mapping=definition_of(mapping),
            former=row["mapping"] if row else "",
        )
        if written[0]["stored"]:
            return bool(written[0]["created"])
    raise BusyError(f"graph {name} is being changed by other processes; try again")


async def compare(db: Database, name: str, mapping: GraphMapping) -> GraphChange | None:
    """Return what a mapping would change in a stored graph.

    Returns None if no graph has the name, or if the stored mapping is the same or cannot be read.
    """
    row = await _find_row(db, name)
    if row is None or _read_mapping(row, replace=True) in (None, mapping):
        return None
    return await _describe_change(db, _parse_graph(row), mapping)


async def check_loadable(db: Database, name: str, *own: str) -> None:
    """Raise GraphExistsError if the name is stored for a graph with labels other than ``own``."""
    row = await _find_row(db, name)
    if row is not None and (labels := _parse_graph(row).mapping.labels) != own:
        raise GraphExistsError(
            f"graph {name} is stored for other nodes ({_join_names(labels) if labels else 'all'}); "
            f"load under another name, or remove it first with 'pgs graph remove {name}'"
        )


async def _find_row(db: Database, name: str) -> Row | None:
    """Return the row of a graph; None for a graph that the scope shares with others."""
    rows = await _read_rows(db)
    return next((row for row in rows if row["name"] == name and not row["shared"]), None)


async def _read_rows(db: Database) -> list[Row]:
    """Return the rows of the graphs that the scope can see, by name.

    Within a scope, these are its own graphs, and the graphs without a scope that it shares with
    others. A shared graph has its own partitions in each scope. A graph of the scope hides a shared
    one with the same name. A view shares the graph that it shows, which may belong to its scope.
    """
    query, base = queries.get("engine/catalog/read_graphs"), db.scope.base
    rows = await db.read(query, suffix=db.scope.suffix, base=base.suffix)
    if not db.scope:
        return [row | {"shared": False, "made": True, "base": None} for row in rows]
    by_name = {row["name"]: row for row in rows}
    found = []
    for name in sorted({stored.partition(JOINT)[0] for stored in by_name}):
        made = by_name.get(db.scope.qualify(name))
        # From the inside out: a graph without a mapping has the mapping of the graph around it.
        chain = [db.scope.qualify(name), *([base.qualify(name)] if base != db.scope else []), name]
        owner = next((one for one in chain if by_name.get(one, _UNMADE)["mapping"]), None)
        if owner is None:
            continue  # another process has just removed the shared graph
        found.append(
            {
                **(made or _UNMADE),
                "name": name,
                "mapping": by_name[owner]["mapping"],
                "shared": owner != db.scope.qualify(name),
                "made": made is not None,
                "base": owner,
            }
        )
    return found


async def _describe_change(db: Database, stored: StoredGraph, mapping: GraphMapping) -> GraphChange:
    pairs = (
        (field.name.replace("_", " "), getattr(stored.mapping, field.name), new)
        for field in fields(GraphMapping)
        if (new := getattr(mapping, field.name)) != getattr(stored.mapping, field.name)
    )
    return GraphChange(
        graph=stored.name,
        differences=tuple(
            f"{part}: {_join_names(old)}, now {_join_names(new)}" for part, old, new in pairs
        ),
        partitions=stored.partition_count or 0,
        sessions=len(await session.list_sessions(db, stored.name)),
    )


def _join_names(value: str | tuple[str, ...] | None) -> str:
    names = (value,) if isinstance(value, str) else value or ()
    return " + ".join(names) or "none"


def _explain_existing(change: GraphChange) -> GraphExistsError:
    return GraphExistsError(
        f"graph {change.graph} has another definition ({'; '.join(change.differences)}); if you "
        f"replace it with --replace (in Python: replace=True), {change.effect}; or choose another "
        "name"
    )


async def graphs(db: Database) -> list[StoredGraph]:
    """Return all stored graphs by name. Raises StoredDataError, naming an unreadable graph."""
    return [_parse_graph(row) for row in await _read_rows(db)]


async def get(db: Database, name: str | None) -> StoredGraph:
    """Return the named graph; without a name, the only graph.

    Raises UnknownGraphError, which lists the stored graphs, and ScopeError if the scope has no
    value for a property that divides the graph.
    """
    rows = await _read_rows(db)
    wanted = find_only_graph([row["name"] for row in rows]) if name is None else name
    for row in rows:
        if row["name"] == wanted:
            found = _parse_graph(row)
            _require_scope(db.scope, found)
            if not row["made"]:
                await ensure_schema(db)
                create = queries.get("engine/catalog/create_scoped_graphs")
                await db.write(create, name=wanted, base=row["base"])
            return found
    if not rows:
        raise UnknownGraphError(
            "no graph is stored in this database yet; 'pgs inspect' proposes a mapping and "
            "'pgs graph add NAME' stores it"
        )
    names = tuple(str(row["name"]) for row in rows)
    listed = ", ".join(names)
    if name is None:
        raise UnknownGraphError(
            f"there are several graphs ({listed}); name one with --graph (in Python: graph=)",
            several=names,
        )
    raise UnknownGraphError(f"there is no graph {name}; this database has {listed}")


def _require_scope(scope: Scope, graph: StoredGraph) -> None:
    """Raise ScopeError unless the scope has a value for each property that divides a graph."""
    missing = [name for name in graph.mapping.scope if name not in scope.as_dict()]
    if missing:
        values = " ".join(f"--scope {shell_word(name)}=VALUE" for name in missing)
        raise ScopeError(
            f"graph {graph.name} is divided by {', '.join(graph.mapping.scope)}, and can be opened "
            f"only with a value for each: run 'pgs {values} …' (in Python: PGS.connect(scope=…))"
        )


def find_only_graph(names: Sequence[str]) -> str | None:
    """Return the name of the only graph; None if there are no graphs, or several.

    If the only graphs are a graph of documents and the graph of its entities, returns the former,
    because it contains all entities.
    """
    entities = {f"{name}{ENTITIES}" for name in names}
    own = [name for name in names if name not in entities]
    return own[0] if len(own) == 1 else None


async def remove(db: Database, name: str) -> None:
    """Delete a graph's generations, sessions, and mapping, and what scopes have made of it.

    Raises UnknownGraphError, and ScopeError for a graph that the scope shares with others.
    """
    rows = {row["name"]: row for row in await _read_rows(db)}
    if name not in rows:
        await get(db, name)  # raises UnknownGraphError, which lists the stored graphs
    if rows[name]["shared"]:
        raise ScopeError(
            f"graph {name} is shared with other scopes; only an engine without a scope removes it"
        )
    whole = db.scoped(NO_SCOPE)
    for row in await db.read(queries.get("engine/catalog/read_derived_graphs"), name=name):
        await _delete_graph(whole, row["stored"], row["sessions"])
    listed = await session.list_sessions(db, name)
    await _delete_graph(db, name, [session_uid(db.scope, name, info.id) for info in listed])


async def _delete_graph(db: Database, name: str, sessions: Sequence[str]) -> None:
    await feedback.delete_weights(db, name)
    for uid in sessions:
        await session.delete_stored_session(db, uid)
    await generation.delete_all(db, name)
    await forget_analogies(db, name)
    await forget_views(db, name)
    await db.write(queries.get("engine/catalog/delete_graphs"), name=name)


def check_name(name: str) -> None:
    """Raise MappingError unless the name is short and plain."""
    if not NAME.fullmatch(name):
        raise MappingError(
            f"{name[:80]!r} cannot be a graph's name: use up to 64 letters, digits, '.', '_' "
            "or '-', beginning with a letter or digit"
        )


def check_mapping(mapping: GraphMapping) -> None:
    """Raise MappingError for a reserved, empty, or excluded name in the mapping.

    Also raises MappingError for a string in place of a list of names, because each letter of the
    string would count as a name.
    """
    for part in LISTS:
        if isinstance(getattr(mapping, part), str):
            raise MappingError(
                f"the mapping's {part} is one text; write a list of names, even of a single one"
            )
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
    for name in (*mapping.text, *mapping.titles, *mapping.keys):
        if name.startswith("Pgs") and "." in name:
            raise MappingError(
                f"the mapping names {name!r}; labels that begin with Pgs are reserved for what "
                "pgs_neo4j writes itself, so leave it out"
            )
    for name in (*mapping.titles, *mapping.keys):
        if len(split_property(name)) == 1:
            raise MappingError(
                f"{name!r} names no label; write LABEL.PROPERTY, as in Product.{name or 'name'}"
            )
    for name in mapping.scope:
        if not name:
            raise MappingError("the mapping's scope has a property without a name; leave it out")
    for field in (field.name for field in fields(GraphMapping)):
        if getattr(mapping, field) == "":
            raise MappingError(f"the mapping's {field} is empty; name a property or leave it out")


def is_redefined(definition: object, mapping: GraphMapping) -> bool:
    """Return whether a stored definition differs from a mapping; False if none is stored.

    A definition that cannot be read counts as different, so that everything made for it is rebuilt.
    """
    if not definition:
        return False
    try:
        return parse_mapping(definition, "") != mapping
    except StoredDataError:
        return True


def parse_mapping(stored: object, graph: str) -> GraphMapping:
    """Parse a mapping from its JSON text.

    A missing or unknown key may have limited the view. If it were ignored, the graph could show
    more than it should. So labels and types are required, and unknown keys are refused. Raises
    StoredDataError.
    """
    name = shell_word(graph[:SHOWN])
    what = f"the mapping of graph {graph[:SHOWN]}"
    fix = (
        f"store it again with 'pgs graph add {name} --replace', and the options that 'pgs inspect' "
        f"proposes, or remove it with 'pgs graph remove {name}'"
    )
    keys = parse_stored(_OBJECT, stored, what, fix).keys()
    known = {field.name for field in fields(GraphMapping)}
    for missing in sorted(VIEW - keys):
        raise unreadable(what, f"{missing} is missing", fix)
    if keys - known:
        raise unreadable(what, "it has a part that is not known", fix)
    return parse_stored(_MAPPING, stored, what, fix)


def _read_mapping(row: Row, *, replace: bool) -> GraphMapping | None:
    """Return a stored mapping; with ``replace``, return None if it cannot be read."""
    try:
        return parse_mapping(row["mapping"], str(row["name"]))
    except StoredDataError:
        if not replace:
            raise
        return None


def _parse_graph(row: dict[str, Any]) -> StoredGraph:
    mapping = parse_mapping(row["mapping"], str(row["name"]))
    return StoredGraph(
        name=row["name"],
        mapping=mapping,
        redefined=is_redefined(row["definition"], mapping),
        generation=row["generation"],
        node_count=row["node_count"],
        partition_count=row["partition_count"],
    )


async def read_names(db: Database, limit: int) -> StoredNames:
    """Return the names of graphs, sessions, and runs, at most ``limit`` of each."""
    (row,) = await db.read(
        queries.get("engine/catalog/read_names"), limit=limit, suffix=db.scope.suffix
    )
    return StoredNames(*(tuple(map(str, row[kind])) for kind in ("graphs", "sessions", "runs")))
