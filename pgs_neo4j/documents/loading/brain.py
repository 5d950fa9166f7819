"""Reads brains, the graph files of the original engine (``.json``, ``.json.gz``).

A brain is an object with ``nodes`` (id, concept, tag, weight, embedding) and ``edges`` (source,
target, weight, type). Only ids, concepts, sources, and targets are required. Every fault raises an
InputFileError that names the line or key.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections import Counter
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.documents.loading.graph_file import (
    FileNode,
    GraphFile,
    Ids,
    NodeColumns,
    NodeId,
    Positions,
    RelationshipColumns,
    Scalar,
)
from pgs_neo4j.documents.loading.json_stream import LIST_BEGINS, Member, kind_of, read_members
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.ceilings import FILE_BYTES, IGNORED_KEYS, PACKED_FREE_BYTES, PACKED_RATIO

NODE_KEYS = frozenset({"id", "concept", "tag", "weight", "embedding"})
EDGE_KEYS = frozenset({"source", "target", "weight", "type"})
DEFAULT_TYPE = "RELATED"
MAX_ID_CHARACTERS = 1000  # Neo4j indexes keys of up to 8 KB
INT64 = range(-(1 << 63), 1 << 63)  # Neo4j's integers

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 20


def read_brain(path: Path, max_size_bytes: int = FILE_BYTES) -> GraphFile:
    """Return the checked graph of a brain file. Raises InputFileError at any fault.

    The file is read as a stream, so that memory contains only the graph, not the file.
    """
    try:
        chunks = _read_chunks(path, max_size_bytes)
        try:
            return _parse(chunks)
        except InputFileError:
            # Read the rest, because damage of the gzip file would explain a fault in its content.
            for _ in chunks:
                pass
            raise
    except InputFileError as error:
        raise InputFileError(f"{path}: {error}") from error


def parse_brain(data: bytes) -> GraphFile:
    """Return the checked graph in the unpacked content of a brain file.

    Raises InputFileError without the path.
    """
    return _parse(iter((data,)))


def _parse(chunks: Iterator[bytes]) -> GraphFile:
    members = read_members(chunks, ("nodes", "edges"))
    try:
        return _collect_graph(members)
    except InputFileError:
        # Read the rest, because malformed JSON matters more than a fault in one item.
        for _ in members:
            pass
        raise


def _collect_graph(members: Iterator[Member]) -> GraphFile:
    nodes, relationships, ends = NodeColumns(), RelationshipColumns(), (Ids(), Ids())
    ignored: Counter[str] = Counter()
    missing = {"nodes", "edges"}
    for key, place, value in members:
        if key not in ("nodes", "edges"):
            continue
        if place is None:
            raise InputFileError(f"{key}: expected a list of objects, found {kind_of(value)}")
        if place == LIST_BEGINS:
            if key not in missing:
                raise InputFileError(f"{key}: the file has this list twice")
            missing.remove(key)
            continue
        where = f"{key}[{place}]"
        if not isinstance(value, dict):
            raise InputFileError(f"{where}: expected an object, found {kind_of(value)}")
        if key == "nodes":
            nodes.append(_read_node(value, where))
            _count_ignored(ignored, "nodes[]", value.keys() - NODE_KEYS)
        else:
            _add_edge(value, where, relationships, ends)
            _count_ignored(ignored, "edges[]", value.keys() - EDGE_KEYS)
    for key in ("nodes", "edges"):
        if key in missing:
            raise InputFileError(f"{key}: expected a list of objects, found nothing")
    _join_edges(nodes, relationships, ends)
    return GraphFile(
        nodes=nodes,
        relationships=relationships,
        mapping=_make_mapping(nodes, relationships),
        ignored=dict(sorted(ignored.items())),
    )


def _count_ignored(ignored: Counter[str], where: str, names: Set[str]) -> None:
    """Count an item's unknown keys.

    After ``IGNORED_KEYS`` keys, or for a very long key, count under ``where.…``.
    """
    for name in names:
        key = f"{where}.{name}"
        known = key in ignored or (len(ignored) < IGNORED_KEYS and len(key) <= MAX_ID_CHARACTERS)
        ignored[key if known else f"{where}.…"] += 1


def _read_chunks(path: Path, max_size_bytes: int) -> Iterator[bytes]:
    """Yield the file's content, and unpack it if it is gzip.

    Whether it is gzip depends on the first bytes, not on the name.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        packed_bytes = path.stat().st_size
        with gzip.open(path) if packed else path.open("rb") as file:
            size = 0
            while chunk := file.read(_CHUNK_BYTES):
                size += len(chunk)
                if size > max_size_bytes:
                    raise InputFileError(
                        f"the content is larger than {max_size_bytes:,} bytes; "
                        "load graphs of that size with 'pgs local import'"
                    )
                if packed and size > max(PACKED_FREE_BYTES, PACKED_RATIO * packed_bytes):
                    raise InputFileError(
                        f"the gzip file unpacks to over {PACKED_RATIO} times its size, which no "
                        "graph does; unpack the file yourself if you trust it"
                    )
                yield chunk
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputFileError(
            f"the gzip file is cut off or damaged ({error}); get it again"
        ) from error
    except OSError as error:
        raise InputFileError(f"the file cannot be read: {error.strerror or error}") from error


def _add_edge(
    item: dict[str, Any], where: str, relationships: RelationshipColumns, ends: tuple[Ids, Ids]
) -> None:
    """Add an edge to the columns; its ends are looked up after all nodes have been read."""
    for key, ids in zip(("source", "target"), ends, strict=True):
        ids.append(_read_id(item, key, where))
    type_ = DEFAULT_TYPE if item.get("type") is None else _read_text(item, "type", where)
    if not type_ or "\0" in type_ or type_.upper().startswith("PGS_"):
        raise InputFileError(
            f"{where}.type: {type_[:80]!r} cannot be used; it must not be empty, contain NUL, "
            "or begin with PGS_"
        )
    relationships.append(type_, _read_number(item, "weight", where))


def _join_edges(
    nodes: NodeColumns, relationships: RelationshipColumns, ends: tuple[Ids, Ids]
) -> None:
    """Set the nodes of all edges. In an edge, the node id 17 may also be written as "17"."""
    positions = Positions(nodes.ids)
    if repeat := positions.repeated():
        again, first = repeat
        raise InputFileError(
            f"nodes[{again}].id: {nodes.ids.get(again)!r} is already the id of nodes[{first}]"
        )
    found = zip(positions.find_all(ends[0]), positions.find_all(ends[1]), strict=True)
    for place, (source, target) in enumerate(found):
        for key, ids, position in (("source", ends[0], source), ("target", ends[1], target)):
            if position is None:
                raise InputFileError(f"edges[{place}].{key}: no node {ids.get(place)!r}")
        relationships.join(int(source or 0), int(target or 0))


def _read_node(item: dict[str, Any], where: str) -> FileNode:
    properties: dict[str, Scalar] = {"concept": _read_text(item, "concept", where)}
    if item.get("tag") is not None:
        properties["tag"] = _read_text(item, "tag", where)
    weight = _read_number(item, "weight", where)
    if weight is not None:
        properties["weight"] = weight
    return FileNode(
        id=_read_id(item, "id", where),
        properties=properties,
        embedding=_read_embedding(item.get("embedding"), f"{where}.embedding"),
    )


def _read_id(item: dict[str, Any], key: str, where: str) -> NodeId:
    value = _require_key(item, key, where)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputFileError(f"{where}.{key}: expected a string or integer, found {kind_of(value)}")
    if isinstance(value, int):
        if value not in INT64:
            raise InputFileError(f"{where}.{key}: the integer does not fit into 64 bits")
        return value
    if not value or len(value) > MAX_ID_CHARACTERS:
        raise InputFileError(
            f"{where}.{key}: an id has 1 to {MAX_ID_CHARACTERS} characters, not {len(value)}"
        )
    return _read_text(item, key, where)


def _read_text(item: dict[str, Any], key: str, where: str) -> str:
    value = _require_key(item, key, where)
    if not isinstance(value, str):
        raise InputFileError(f"{where}.{key}: expected a string, found {kind_of(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputFileError(
            f"{where}.{key}: character {error.start} is half of a surrogate pair"
        ) from error
    return value


def _read_number(item: dict[str, Any], key: str, where: str) -> float | None:
    value = item.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputFileError(f"{where}.{key}: expected a number, found {kind_of(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputFileError(f"{where}.{key}: {number} is not a finite number")
    return number


def _read_embedding(values: Any, where: str) -> NDArray[np.float64] | None:
    if values is None or values == []:
        return None
    if not isinstance(values, list):
        raise InputFileError(f"{where}: expected a list of numbers, found {kind_of(values)}")
    if not {type(value) for value in values} <= {int, float}:
        i = next(i for i, value in enumerate(values) if type(value) not in (int, float))
        raise InputFileError(f"{where}[{i}]: expected a number, found {kind_of(values[i])}")
    try:
        vector = np.array(values, dtype=np.float64)
    except OverflowError as error:
        raise InputFileError(f"{where}: an integer is too large for a float") from error
    if not np.isfinite(vector).all():
        i = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InputFileError(f"{where}[{i}]: {values[i]} is not a finite number")
    return vector


def _require_key(item: dict[str, Any], key: str, where: str) -> Any:
    if key not in item:
        raise InputFileError(f"{where}.{key}: missing")
    return item[key]


def _make_mapping(nodes: NodeColumns, relationships: RelationshipColumns) -> GraphMapping:
    return GraphMapping(
        text=("concept",),
        key="id",
        weight="weight" if nodes.weighted else None,
        relationship_weight="weight" if relationships.weighted else None,
        embedding="embedding" if nodes.embedded else None,
    )
