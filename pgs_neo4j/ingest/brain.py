"""Reads brains of the original engine (``.json``, ``.json.gz``).

A brain is an object with ``nodes`` (id, concept, tag, weight, embedding) and ``edges`` (source,
target, weight, type). Only ids and concepts, sources and targets are required. Every fault is an
InputFileError that names the wrong line or key.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.ingest.graph_file import FileNode, FileRelationship, GraphFile, NodeId, Scalar
from pgs_neo4j.model import GraphMapping

NODE_KEYS = frozenset({"id", "concept", "tag", "weight", "embedding"})
EDGE_KEYS = frozenset({"source", "target", "weight", "type"})
DEFAULT_TYPE = "RELATED"
MAX_SIZE_BYTES = 1 << 30
MAX_ID_CHARACTERS = 1000  # Neo4j indexes keys of up to 8 KB
INT64 = range(-(1 << 63), 1 << 63)  # Neo4j's integers

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 20


def read_brain(path: Path, max_size_bytes: int = MAX_SIZE_BYTES) -> GraphFile:
    """Read and check a whole file. Raises InputFileError at any fault."""
    try:
        data = _bytes(path, max_size_bytes)
        return parse_brain(data)
    except InputFileError as error:
        raise InputFileError(f"{path}: {error}") from error


def parse_brain(data: bytes) -> GraphFile:
    """Check the unpacked content of a brain file.

    Raises InputFileError without the path.
    """
    document = _document(data)
    if not isinstance(document, dict):
        raise InputFileError(
            f"the file holds {_kind(document)} where an object with nodes and edges is expected"
        )
    items = _list(document, "nodes")
    edges = _list(document, "edges")
    nodes = tuple(_node(item, f"nodes[{i}]") for i, item in enumerate(items))
    positions = _positions(nodes)
    relationships = tuple(
        _relationship(item, f"edges[{i}]", positions) for i, item in enumerate(edges)
    )
    ignored = Counter(f"nodes[].{key}" for item in items for key in item.keys() - NODE_KEYS)
    ignored.update(f"edges[].{key}" for item in edges for key in item.keys() - EDGE_KEYS)
    return GraphFile(
        nodes=nodes,
        relationships=relationships,
        mapping=_mapping(nodes, relationships),
        ignored=dict(sorted(ignored.items())),
    )


def _bytes(path: Path, max_size_bytes: int) -> bytes:
    """Return the file's content, unpacked if it is gzip.

    Its name does not matter.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        with gzip.open(path) if packed else path.open("rb") as file:
            data = bytearray()
            while chunk := file.read(_CHUNK_BYTES):
                data += chunk
                if len(data) > max_size_bytes:
                    raise InputFileError(
                        f"the content is larger than {max_size_bytes:,} bytes; "
                        "load graphs of that size with 'pgs local import'"
                    )
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputFileError(
            f"the gzip file is cut off or damaged ({error}); get it again"
        ) from error
    except OSError as error:
        raise InputFileError(f"the file cannot be read: {error.strerror or error}") from error
    return bytes(data)


def _document(data: bytes) -> Any:
    if not data.strip():
        raise InputFileError("the file is empty")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputFileError(f"line {line}: not UTF-8; save the file in that encoding") from error
    except json.JSONDecodeError as error:
        raise InputFileError(
            f"line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from error
    except RecursionError as error:
        raise InputFileError("not a brain: the JSON is nested too deeply") from error
    except ValueError as error:  # an integer of more digits than Python converts
        raise InputFileError(f"not a brain: {error}") from error


def _list(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    items = document.get(key)
    if not isinstance(items, list):
        found = _kind(items) if key in document else "nothing"
        raise InputFileError(f"{key}: expected a list of objects, found {found}")
    for i, item in enumerate(items):
        if not isinstance(item, dict):
            raise InputFileError(f"{key}[{i}]: expected an object, found {_kind(item)}")
    return items


def _node(item: dict[str, Any], where: str) -> FileNode:
    properties: dict[str, Scalar] = {"concept": _text(item, "concept", where)}
    if item.get("tag") is not None:
        properties["tag"] = _text(item, "tag", where)
    weight = _number(item, "weight", where)
    if weight is not None:
        properties["weight"] = weight
    return FileNode(
        id=_id(item, "id", where),
        properties=properties,
        embedding=_embedding(item.get("embedding"), f"{where}.embedding"),
    )


def _positions(nodes: tuple[FileNode, ...]) -> dict[str, int]:
    """Return the position of each node by its id as text.

    Edges may also write the id 17 as "17".
    """
    positions: dict[str, int] = {}
    for i, node in enumerate(nodes):
        first = positions.setdefault(str(node.id), i)
        if first != i:
            raise InputFileError(f"nodes[{i}].id: {node.id!r} is already the id of nodes[{first}]")
    return positions


def _relationship(item: dict[str, Any], where: str, positions: dict[str, int]) -> FileRelationship:
    ends: list[int] = []
    for key in ("source", "target"):
        id_ = _id(item, key, where)
        if str(id_) not in positions:
            raise InputFileError(f"{where}.{key}: no node {id_!r}")
        ends.append(positions[str(id_)])
    type_ = DEFAULT_TYPE if item.get("type") is None else _text(item, "type", where)
    if not type_ or "\0" in type_ or type_.upper().startswith("PGS_"):
        raise InputFileError(
            f"{where}.type: {type_[:80]!r} cannot be used; it must not be empty, contain NUL, "
            "or begin with PGS_"
        )
    return FileRelationship(ends[0], ends[1], type_, _number(item, "weight", where))


def _id(item: dict[str, Any], key: str, where: str) -> NodeId:
    value = _present(item, key, where)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputFileError(f"{where}.{key}: expected a string or integer, found {_kind(value)}")
    if isinstance(value, int):
        if value not in INT64:
            raise InputFileError(f"{where}.{key}: the integer does not fit into 64 bits")
        return value
    if not value or len(value) > MAX_ID_CHARACTERS:
        raise InputFileError(
            f"{where}.{key}: an id has 1 to {MAX_ID_CHARACTERS} characters, not {len(value)}"
        )
    return _text(item, key, where)


def _text(item: dict[str, Any], key: str, where: str) -> str:
    value = _present(item, key, where)
    if not isinstance(value, str):
        raise InputFileError(f"{where}.{key}: expected a string, found {_kind(value)}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputFileError(
            f"{where}.{key}: character {error.start} is half of a surrogate pair"
        ) from error
    return value


def _number(item: dict[str, Any], key: str, where: str) -> float | None:
    value = item.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputFileError(f"{where}.{key}: expected a number, found {_kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InputFileError(f"{where}.{key}: {number} is not a finite number")
    return number


def _embedding(values: Any, where: str) -> NDArray[np.float64] | None:
    if values is None or values == []:
        return None
    if not isinstance(values, list):
        raise InputFileError(f"{where}: expected a list of numbers, found {_kind(values)}")
    if not {type(value) for value in values} <= {int, float}:
        i = next(i for i, value in enumerate(values) if type(value) not in (int, float))
        raise InputFileError(f"{where}[{i}]: expected a number, found {_kind(values[i])}")
    try:
        vector = np.array(values, dtype=np.float64)
    except OverflowError as error:
        raise InputFileError(f"{where}: an integer is too large for a float") from error
    if not np.isfinite(vector).all():
        i = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InputFileError(f"{where}[{i}]: {values[i]} is not a finite number")
    return vector


def _present(item: dict[str, Any], key: str, where: str) -> Any:
    if key not in item:
        raise InputFileError(f"{where}.{key}: missing")
    return item[key]


def _kind(value: Any) -> str:
    names = {bool: "a boolean", str: "a string", list: "a list", dict: "an object"}
    return "null" if value is None else names.get(type(value), "a number")


def _mapping(
    nodes: tuple[FileNode, ...], relationships: tuple[FileRelationship, ...]
) -> GraphMapping:
    weighted = any("weight" in node.properties for node in nodes)
    return GraphMapping(
        text=("concept",),
        key="id",
        weight="weight" if weighted else None,
        relationship_weight="weight" if any(r.weight is not None for r in relationships) else None,
        embedding="embedding" if any(n.embedding is not None for n in nodes) else None,
    )
