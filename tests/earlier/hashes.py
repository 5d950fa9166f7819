"""Computes what version 0.1.0 stored to tell whether a graph has changed.

Fingerprints and sketches depend on internal ids, which a restored node does not keep. A change
token belongs to one store. So a restored database gets new ones, by the formulas of that version.
This module uses nothing of the package: a formula must not change here when it changes there.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.earlier.dump import Dump, Row

Hashes = NDArray[np.uint64]
LEVELS, BUCKETS = 8, 1024


def hashes_of(dump: Dump, graph: str, ids: Mapping[int, int]) -> Row:
    """Fingerprint and sketch of a graph's current generation.

    ``ids`` maps dumped internal ids to those in the database.
    """
    nodes = {row["id"]: row for row in dump.nodes}
    ends = [(row["type"], row["source"], row["target"], row) for row in dump.relationships]
    (stored,) = (
        row for row in dump.nodes
        if row["labels"] == ["PgsGraph"] and row["properties"]["name"] == graph
    )  # fmt: skip
    (current,) = (b for kind, a, b, _ in ends if kind == "PGS_CURRENT" and a == stored["id"])
    parts = {
        a for kind, a, b, _ in ends
        if kind == "PGS_PART_OF" and b == current and nodes[a]["properties"]["level"] == 0
    }  # fmt: skip
    members = {a: row["properties"] for kind, a, b, row in ends if kind == "PGS_IN" and b in parts}
    mapping = json.loads(stored["properties"]["mapping"])
    edges = [
        (kind, ids[a], ids[b], row["properties"].get(mapping["relationship_weight"], np.nan))
        for kind, a, b, row in ends
        if a in members and b in members and _takes_part(kind, mapping["relationship_types"])
    ]
    node_hashes = _mix(
        np.array([ids[node] for node in members], dtype=np.int64).view(np.uint64),
        _column([member["hash"] for member in members.values()]),
        _column([member["facts"] for member in members.values()]),
    )
    edge_hashes = _edge_hashes(edges)
    content = [_total(node_hashes), len(members), _total(edge_hashes), len(edges)]
    settings = nodes[current]["properties"]["settings"]
    return {
        "id": nodes[current]["properties"]["id"],
        "fingerprint": _digest([_digest(content), settings]),
        "sketch": _sketch(edge_hashes),
    }


def change_token(bookmark: str, commits: int) -> str:
    """The token of a store: its id, and the commits that are not the package's own.

    A bookmark is a PackStream list of the store's id (16 bytes), the number of the last
    transaction, and an empty list. ``commits`` counts the transactions of the package.
    """
    data = base64.b64decode(bookmark.removeprefix("FB:"))
    store, number = data[3:19], data[19:-1]
    last = number[0] if len(number) == 1 else int.from_bytes(number[1:], "big", signed=True)
    return f"{store.hex()}:{last - commits}"


def _takes_part(kind: str, types: list[str]) -> bool:
    return kind in types if types else not kind.startswith("PGS_")


def _edge_hashes(edges: list[tuple[str, int, int, float]]) -> Hashes:
    kinds = [
        int.from_bytes(blake2b(kind.encode(), digest_size=8).digest(), "little")
        for kind, *_ in edges
    ]
    return _mix(
        np.array(kinds, dtype=np.uint64),
        _column([source for _, source, _, _ in edges]),
        _column([target for _, _, target, _ in edges]),
        np.array([weight for *_, weight in edges], dtype=np.float64).view(np.uint64),
    )


def _column(values: list[int]) -> Hashes:
    return np.array(values, dtype=np.int64).view(np.uint64)


def _mix(state: Hashes, *columns: Hashes) -> Hashes:
    for column in columns:
        state = _mixed(state + column)
    return state


def _mixed(values: Hashes) -> Hashes:
    """The finalizer of SplitMix64."""
    with np.errstate(over="ignore"):
        x = values + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _sketch(hashes: Hashes) -> list[int]:
    rest = _mixed(hashes)
    sums = np.zeros((LEVELS, BUCKETS), dtype=np.uint64)
    for level in range(LEVELS):
        np.add.at(sums[level], (rest >> np.uint64(54)).astype(np.int64), rest)
        rest = rest[rest & np.uint64(3 << 2 * level) == 0]
    listed: list[int] = sums.reshape(-1).view(np.int64).tolist()
    return listed


def _total(hashes: Hashes) -> int:
    return int(hashes.sum(dtype=np.uint64))


def _digest(parts: Any) -> str:
    return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()
