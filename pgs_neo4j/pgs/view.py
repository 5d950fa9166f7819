"""Scans the mapped view of the user's graph: what partitioning needs, and its fingerprint.

One pass over the nodes and one over the relationships. Texts are hashed and measured as
they stream by and never held.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j import queries
from pgs_neo4j.db import Database
from pgs_neo4j.events import OnEvent, Progressed
from pgs_neo4j.llm.tokens import estimate
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.node_text import joined_text, number

RELATIONSHIP_GROUP = 20_000
REPORT_EVERY = 20_000
# Of a relationship that binds; the projection's limits, too. GDS fails far above and below.
MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e12

# Constants of the splitmix64 finalizer (Steele, Lea, Flood 2014), to mix endpoints.
MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A scan of the user's graph. All node arrays are (n,) and ordered by internal id.

    ``source`` and ``target`` (m,) index into them and ``weight`` (m,) is as it was found,
    NaN where it is no number. ``issues`` counts what was out of the ordinary.
    """

    ids: NDArray[np.int64]
    node_weight: NDArray[np.float64]
    tokens: NDArray[np.int64]
    text_hash: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]
    dimensions: dict[int, int]
    content_hash: str
    issues: dict[str, int] = field(default_factory=dict)

    @property
    def embedding_dimensions(self) -> int | None:
        """The vector length most nodes have, the longer one on a tie; None without vectors."""
        found = [(count, size) for size, count in self.dimensions.items() if size]
        return max(found)[1] if found else None

    def fingerprint(self, *parts: object) -> str:
        """What decides whether a generation still holds: the content, and ``parts``."""
        text = json.dumps([self.content_hash, *parts], sort_keys=True, default=str)
        return blake2b(text.encode(), digest_size=16).hexdigest()


async def scan(db: Database, mapping: GraphMapping, on_event: OnEvent) -> View:
    """Read the view once. Rows may come in any order; the result does not depend on it."""
    nodes = await _scan_nodes(db, mapping, on_event)
    edges = await _scan_relationships(db, mapping)
    order = np.argsort(nodes.ids, kind="stable")
    ids = nodes.ids[order]
    inside = np.isin(edges.source, ids) & np.isin(edges.target, ids)
    source = np.searchsorted(ids, edges.source[inside])
    target = np.searchsorted(ids, edges.target[inside])
    weight = edges.weight[inside]
    content = blake2b(digest_size=16)
    content.update(np.uint64(nodes.digest).tobytes())
    content.update(_edge_digest(edges).tobytes())
    content.update(json.dumps(asdict(mapping), sort_keys=True).encode())
    node_weight = nodes.weight[order]
    return View(
        ids=ids,
        node_weight=node_weight,
        tokens=nodes.tokens[order],
        text_hash=nodes.text_hash[order],
        source=source,
        target=target,
        weight=weight,
        dimensions=nodes.dimensions,
        content_hash=content.hexdigest(),
        issues=_issues(mapping, nodes, node_weight, source, target, weight),
    )


@dataclass(slots=True)
class _Nodes:
    ids: NDArray[np.int64]
    weight: NDArray[np.float64]
    tokens: NDArray[np.int64]
    text_hash: NDArray[np.int64]
    dimensions: dict[int, int]
    digest: int


@dataclass(slots=True)
class _Edges:
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]


async def _scan_nodes(db: Database, mapping: GraphMapping, on_event: OnEvent) -> _Nodes:
    ids: list[int] = []
    weights: list[float] = []
    tokens: list[int] = []
    hashes: list[int] = []
    dimensions: dict[int, int] = {}
    digest = 0
    async for row in db.stream(
        queries.get("partition/read_nodes"),
        labels=list(mapping.labels),
        text=list(mapping.text),
        weight=mapping.weight or "",
        embedding=mapping.embedding or "",
    ):
        text = joined_text(row["text"])
        ids.append(row["id"])
        weights.append(number(row["weight"]))
        tokens.append(estimate(text))
        dimensions[row["dimensions"]] = dimensions.get(row["dimensions"], 0) + 1
        hashes.append(_text_hash(text))
        facts = (row["id"], weights[-1], hashes[-1], row["dimensions"], *row["probe"])
        digest += _hash64(repr(facts).encode())
        if len(ids) % REPORT_EVERY == 0:
            on_event(Progressed("partition", len(ids), 0, "nodes read"))
    return _Nodes(
        ids=np.asarray(ids, dtype=np.int64),
        weight=np.asarray(weights, dtype=np.float64),
        tokens=np.asarray(tokens, dtype=np.int64),
        text_hash=np.asarray(hashes, dtype=np.int64),
        dimensions=dimensions,
        digest=digest % 2**64,
    )


async def _scan_relationships(db: Database, mapping: GraphMapping) -> _Edges:
    parts = [
        (
            np.asarray(row["sources"], dtype=np.int64),
            np.asarray(row["targets"], dtype=np.int64),
            np.asarray(row["weights"], dtype=np.float64),
        )
        async for row in db.stream(
            queries.get("partition/read_relationships"),
            fetch=1,
            labels=list(mapping.labels),
            types=list(mapping.relationship_types),
            weight=mapping.relationship_weight or "",
            group_size=RELATIONSHIP_GROUP,
        )
    ]
    if not parts:
        empty = np.empty(0, dtype=np.int64)
        return _Edges(empty, empty.copy(), np.empty(0, dtype=np.float64))
    source, target, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Edges(source, target, weight)


def usable_weights(weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool]:
    """Relationship weights as the projection uses them, and whether all count alike.

    No finite number counts 1, a negative one 0, others lie within the limits. When
    nothing positive is left, every relationship counts 1: a graph whose weights are all zero
    still has a structure.
    """
    bounded = np.where(weight > 0, np.clip(weight, MIN_WEIGHT, MAX_WEIGHT), 0.0)
    cleaned = np.where(np.isfinite(weight), bounded, 1.0)
    if len(cleaned) and not (cleaned > 0).any():
        return np.ones_like(cleaned), True
    return cleaned, False


def _text_hash(text: str) -> int:
    """Signed 64 bits of a text, what Neo4j stores as an integer."""
    return _hash64(text.encode("utf-8", "surrogatepass")) - 2**63


def _hash64(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _edge_digest(edges: _Edges) -> np.uint64:
    # A sum of mixed triples: the order of rows does not matter, endpoints and weight do.
    mixed = edges.source.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for column in (edges.target.view(np.uint64), edges.weight.view(np.uint64)):
        mixed = mixed + column
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(MIX[0])
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(MIX[1])
        mixed = mixed ^ (mixed >> np.uint64(31))
    return np.uint64(mixed.sum(dtype=np.uint64)) + np.uint64(len(mixed))


def _issues(
    mapping: GraphMapping,
    nodes: _Nodes,
    node_weight: NDArray[np.float64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[np.float64],
) -> dict[str, int]:
    proper = source != target
    low, high = np.minimum(source, target)[proper], np.maximum(source, target)[proper]
    pairs = low * len(nodes.ids) + high
    linked = np.zeros(len(nodes.ids), dtype=bool)
    linked[source[proper]] = linked[target[proper]] = True
    counted = {
        "self_loops": int((~proper).sum()),
        "parallel_relationships": len(pairs) - len(np.unique(pairs)),
        "isolated_nodes": int((~linked).sum()),
        "nodes_without_text": int((nodes.tokens == 0).sum()),
    }
    if mapping.weight:
        counted["nodes_without_weight"] = int(np.isnan(node_weight).sum())
        counted["negative_node_weights"] = int((node_weight < 0).sum())
    if mapping.relationship_weight:
        counted["relationships_without_weight"] = int(np.isnan(weight).sum())
        counted["negative_relationship_weights"] = int((weight < 0).sum())
        counted["huge_relationship_weights"] = int((weight > MAX_WEIGHT).sum())
    if mapping.embedding:
        counted["nodes_without_embedding"] = nodes.dimensions.get(0, 0)
        sizes = [count for size, count in nodes.dimensions.items() if size]
        counted["embeddings_of_other_size"] = sum(sizes) - max(sizes, default=0)
    return {name: count for name, count in counted.items() if count}
