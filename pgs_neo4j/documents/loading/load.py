"""Loads a GraphFile into Neo4j as the user's own graph.

A loaded node has the label ``LoadedNode``, with ``graph`` and ``id`` as its unique key, the label
of its graph, and its labels in the file. A load first writes hidden ``PgsStaged`` nodes, and then
publishes them in one transaction. So a reader sees either the old graph or the new one. Leftovers
of an unfinished load are deleted by that load or, if it was killed, by the next one. A second load
under the same name replaces the content of the first load.

Graphs made of documents and graphs loaded from files are kept apart: neither replaces the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.batches import batches
from pgs_neo4j.documents.loading.graph_file import FileNode, FileRelationship, GraphFile
from pgs_neo4j.errors import DatabaseError, UsageError
from pgs_neo4j.events import OnEvent, Progressed, ignore
from pgs_neo4j.model import GraphMapping

LOADED = "LoadedNode"
BATCH_ROWS = 5_000
BATCH_BYTES = 8_000_000
DELETE_ROWS = 10_000
CONSTRAINTS = (
    "documents/loading/create_load_constraint",
    "documents/loading/create_staged_constraint",
)
MAX_NAME_CHARACTERS = 500  # Neo4j indexes keys of up to 8 KB
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """The size of a loaded graph and the changes of the load; no changes if it is ``unchanged``."""

    graph: str
    label: str
    mapping: GraphMapping
    nodes: int
    relationships: int
    added: int = 0
    kept: int = 0
    removed: int = 0
    unchanged: bool = False


async def load(
    database: Database,
    file: GraphFile,
    graph: str,
    *,
    label: str | None = None,
    on_event: OnEvent = ignore,
) -> LoadResult:
    """Make the graph of the name ``graph`` equal to the file, and return the changes.

    By default, ``label`` is derived from the name. Relationships, labels, and properties that the
    graph's nodes gained since the last load are removed. Raises UsageError if the name cannot be
    used, the label belongs to other nodes, the graph has documents, or another load of the same
    graph took over. After an error, a cancellation, or a database failure, the graph stays
    unchanged.
    """
    label = graph_label(graph) if label is None else label
    _check_names(graph, label, file)
    await create_loaded_key(database)
    for name in CONSTRAINTS:
        await database.write(queries.get(name))
    await check_label(database, graph, label)
    result = LoadResult(
        graph=graph,
        label=label,
        mapping=replace(file.mapping, labels=(label,)),
        nodes=len(file.nodes),
        relationships=len(file.relationships),
    )
    await _delete_abandoned(database, graph)
    if await _is_loaded(database, file, graph, label):
        return replace(result, kept=len(file.nodes), unchanged=True)
    row = await _replace_graph(database, file, graph, label, on_event)
    return replace(result, added=row["added"], kept=row["kept"], removed=row["removed"])


async def create_loaded_key(database: Database) -> None:
    """Create the unique key of loaded nodes, by which they are found. Raises DatabaseError."""
    await database.write(queries.get("documents/loading/create_loaded_constraint"))


async def check_label(database: Database, graph: str, label: str) -> None:
    """Raise UsageError if nodes outside the graph have the label."""
    rows = await database.read(
        queries.get("documents/loading/read_label_conflicts"), graph=graph, label=label
    )
    if rows[0]["conflict"]:
        raise UsageError(
            f"the label {label} is in use by nodes that were not loaded as {graph!r}; "
            "choose another one with --label"
        )


async def refuse_documents(db: Database, graph: str) -> None:
    """Raise UsageError if the graph has documents, which a load would delete."""
    if (await _read_kind(db, graph))["documents"]:
        raise holds_documents_error(graph)


async def refuse_loaded(db: Database, graph: str) -> None:
    """Raise UsageError if the graph was loaded from a file of nodes."""
    if (await _read_kind(db, graph))["loaded"]:
        raise UsageError(
            f"graph {graph} was loaded from a file of nodes; ingest documents under another name"
        )


def holds_documents_error(graph: str) -> UsageError:
    """Return the error for a load into a graph of documents."""
    return UsageError(
        f"graph {graph} is made of documents, which loading a file would delete; load it under "
        "another name"
    )


async def _read_kind(db: Database, graph: str) -> dict[str, bool]:
    [row] = await db.read(queries.get("documents/loading/read_kind"), graph=graph)
    return row


def graph_label(graph: str) -> str:
    """Return the label for a graph's name: ``my-graph 2`` gives ``MyGraph2``."""
    return "".join(part[0].upper() + part[1:] for part in re.findall(r"[^\W_]+", graph))


def _check_names(graph: str, label: str, file: GraphFile) -> None:
    if not graph.strip() or len(graph) > MAX_NAME_CHARACTERS:
        raise UsageError(
            f"a graph's name has 1 to {MAX_NAME_CHARACTERS} characters; choose another"
        )
    for name in {label, *(name for node in file.nodes for name in node.labels)}:
        if not name or "\0" in name or name.lower().startswith("pgs") or name == LOADED:
            raise UsageError(
                f"the label {name!r} cannot be used: it must not be empty, contain NUL, begin "
                f"with Pgs, or be {LOADED}; choose another one with --label"
            )


async def _replace_graph(
    database: Database, file: GraphFile, graph: str, label: str, on_event: OnEvent
) -> Row:
    """Stage the file, publish it, and return the counts; a failure leaves nothing behind."""
    name = uuid4().hex
    finished = False
    try:
        await database.write(
            queries.get("documents/loading/merge_loads"), graph=graph, load=name, label=label
        )
        await _stage_file(database, file, graph, name, label, on_event)
        rows = await database.write(
            queries.get("documents/loading/set_loaded"), graph=graph, load=name
        )
        _check_owned(rows, graph)
        if not rows[0]["finished"]:
            raise holds_documents_error(graph)
        finished = True
        return rows[0]
    finally:
        if not finished:
            # The original error matters more than a failed cleanup: the leftovers are hidden, and
            # the next load deletes them.
            with suppress(DatabaseError):
                await _delete_load(database, name)


async def _stage_file(
    database: Database, file: GraphFile, graph: str, name: str, label: str, on_event: OnEvent
) -> None:
    batch = 0
    nodes = (_node_row(node, label) for node in file.nodes)
    relationships = (_relationship_row(r, file.nodes) for r in file.relationships)
    for what, statement, source, total in (
        ("nodes", "documents/loading/write_staged_nodes", nodes, len(file.nodes)),
        (
            "relationships",
            "documents/loading/write_staged_relationships",
            relationships,
            len(file.relationships),
        ),
    ):
        query = queries.get(statement)
        done = 0
        for rows in batches(source, BATCH_ROWS, BATCH_BYTES, row_size):
            answer = await database.write(query, graph=graph, load=name, batch=batch, rows=rows)
            _check_owned(answer, graph)
            batch += 1
            done += len(rows)
            on_event(Progressed("load", done, total, what))


def row_size(row: Row) -> int:
    """Return the approximate size of a row in bytes."""
    values = row.get("properties", row).values()
    return sum(
        len(value) * (9 if isinstance(value, list) else 2) if isinstance(value, list | str) else 9
        for value in values
    )


def _node_row(node: FileNode, label: str) -> Row:
    properties: Row = {**node.properties, "id": node.id}
    if node.embedding is not None:
        properties["embedding"] = node.embedding.tolist()
    return {"properties": properties, "labels": [label, *node.labels]}


def _relationship_row(relationship: FileRelationship, nodes: Sequence[FileNode]) -> Row:
    return {
        "source": nodes[relationship.source].id,
        "target": nodes[relationship.target].id,
        "type": relationship.type,
        "weight": relationship.weight,
    }


def _check_owned(rows: list[Row], graph: str) -> None:
    if not rows:
        raise UsageError(
            f"another load of {graph!r} began while this one ran, or the graph was purged; "
            "wait until the other one ends, and load again"
        )


async def _is_loaded(database: Database, file: GraphFile, graph: str, label: str) -> bool:
    """Return whether the database already contains exactly the content of the file."""
    nodes = queries.get("documents/loading/read_loaded_nodes")
    if not await database.stream(nodes, partial(_has_nodes, file, graph, label), graph=graph):
        return False
    relationships = queries.get("documents/loading/read_loaded_relationships")
    return await database.stream(relationships, partial(_has_relationships, file), graph=graph)


async def _has_nodes(file: GraphFile, graph: str, label: str, rows: AsyncIterator[Row]) -> bool:
    """Return whether rows are exactly the file's nodes."""
    missing: dict[str | int, int] | None = None
    same = True
    async for row in rows:
        if missing is None:  # There are rows only after an earlier load.
            missing = {node.id: place for place, node in enumerate(file.nodes)}
        # Another program may have removed the id, so that the node no longer equals a node of the
        # file.
        place = missing.pop(row["properties"].get("id"), None)
        same = same and place is not None and _is_same(file.nodes[place], label, graph, row)
    return same and not missing and (missing is not None or not file.nodes)


async def _has_relationships(file: GraphFile, rows: AsyncIterator[Row]) -> bool:
    """Return whether rows are exactly the file's relationships."""
    wanted = Counter(_signature_of(_relationship_row(r, file.nodes)) for r in file.relationships)
    same = True
    async for row in rows:
        properties = dict(row.pop("properties"))
        wanted[_signature_of({**row, "weight": properties.pop("weight", None)})] -= 1
        same = same and not properties
    return same and not any(wanted.values())


def _is_same(node: FileNode, label: str, graph: str, row: Row) -> bool:
    wanted = _node_row(node, label)
    labels = {LOADED, *wanted["labels"]}
    properties = {**wanted["properties"], "graph": graph}
    return set(row["labels"]) == labels and bool(row["properties"] == properties)


def _signature_of(row: Row) -> tuple[Any, ...]:
    return row["source"], row["target"], row["type"], row["weight"]


async def _delete_abandoned(database: Database, graph: str) -> None:
    for row in await database.read(
        queries.get("documents/loading/read_abandoned_loads"), graph=graph
    ):
        await _delete_load(database, row["load"])


async def _delete_load(database: Database, name: str) -> None:
    query = queries.get("documents/loading/delete_staged")
    while (await database.write(query, load=name, limit=DELETE_ROWS))[0]["deleted"]:
        pass
    await database.write(queries.get("documents/loading/delete_loads"), load=name)
