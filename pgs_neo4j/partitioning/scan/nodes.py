"""Scans the nodes of a view. Texts are hashed and measured as they come by and never held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.portions import in_order, portions
from pgs_neo4j.events import OnEvent, Progressed
from pgs_neo4j.graph.hashes import encoded, hash64, mixed_with, text_hash
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.text.node_text import joined_text
from pgs_neo4j.text.tokens import estimate_bytes

PROBES = 4  # components of a vector that tell whether it changed
FACT_BITS = 56  # Neo4j stores a number of up to 58 bits in half the room of a longer one


@dataclass(frozen=True, slots=True)
class Nodes:
    """What was found of the nodes, all (n,) in the order of ``ids``, which ascend."""

    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    weight: NDArray[np.float64]
    tokens: NDArray[np.int64]
    text_hash: NDArray[np.int64]
    facts: NDArray[np.int64]
    dimensions: NDArray[np.int64]


async def read_ids(
    db: Database, mapping: GraphMapping
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Internal ids (n,) of the view's nodes, ascending, and about the characters of each text."""
    found = await db.read(
        queries.get("partitioning/read_node_sizes"),
        labels=list(mapping.labels),
        text=list(mapping.text),
    )
    ids = np.asarray(found[0]["ids"], dtype=np.int64)
    order = np.argsort(ids)
    return ids[order], np.asarray(found[0]["sizes"], dtype=np.int64)[order]


async def scan_nodes(
    db: Database,
    mapping: GraphMapping,
    ids: NDArray[np.int64],
    sizes: NDArray[np.int64],
    on_event: OnEvent,
) -> Nodes:
    """Read the nodes of these ids; one that has vanished is left out."""
    text = list(mapping.text)
    facts = _NodeFacts.empty(len(ids))

    async def use(rows: list[Row]) -> None:
        facts.fill(ids, rows[0])
        on_event(Progressed("partition", facts.seen, len(ids), "nodes scanned"))

    query = queries.get("partitioning/read_nodes")
    await in_order(
        (
            db.read(
                query,
                ids=ids[part].tolist(),
                text=text,
                weight=mapping.weight or "",
                embedding=mapping.embedding or "",
            )
            for part in portions(sizes)
        ),
        use,
    )
    kept = facts.there
    return Nodes(
        ids=ids[kept],
        sizes=sizes[kept],
        weight=facts.weight[kept],
        tokens=facts.tokens[kept],
        text_hash=facts.text_hash[kept],
        facts=facts.hashed()[kept],
        dimensions=facts.dimensions[kept],
    )


@dataclass(slots=True)
class _NodeFacts:
    """Arrays (n,) that fill as portions arrive; ``there`` marks the nodes that did."""

    there: NDArray[np.bool_]
    weight: NDArray[np.float64]
    tokens: NDArray[np.int64]
    text_hash: NDArray[np.int64]
    dimensions: NDArray[np.int64]
    mix: NDArray[np.uint64]
    seen: int = 0

    @staticmethod
    def empty(count: int) -> _NodeFacts:
        whole = np.zeros(count, dtype=np.int64)
        return _NodeFacts(
            there=np.zeros(count, dtype=np.bool_),
            weight=np.full(count, np.nan),
            tokens=whole,
            text_hash=np.full(count, text_hash("")),
            dimensions=whole.copy(),
            mix=np.zeros(count, dtype=np.uint64),
        )

    def fill(self, ids: NDArray[np.int64], row: Row) -> None:
        place = np.searchsorted(ids, np.asarray(row["ids"], dtype=np.int64))
        self.seen += len(place)
        self.there[place] = True
        weight = np.asarray(row["weights"], dtype=np.float64)
        self.weight[place] = np.where(np.isfinite(weight), weight, np.nan)
        self.dimensions[place] = row["dimensions"]
        if any(row["texts"]):
            self._measure(place, row["texts"])
        probes = _probes(row["probes"])
        for column in range(probes.shape[1]):
            self.mix[place] = mixed_with(self.mix[place], probes[:, column].view(np.uint64))

    def _measure(self, place: NDArray[np.int64], texts: list[list[Any]]) -> None:
        for at, values in zip(place.tolist(), texts, strict=True):
            if text := joined_text(values):
                data = encoded(text)
                self.tokens[at] = estimate_bytes(len(data))
                self.text_hash[at] = hash64(data)

    def hashed(self) -> NDArray[np.int64]:
        mix = mixed_with(self.mix, self.weight.view(np.uint64))
        mix = mixed_with(mix, self.dimensions.view(np.uint64))
        return (mix >> np.uint64(64 - FACT_BITS)).astype(np.int64)


def _probes(rows: list[list[float]]) -> NDArray[np.float64]:
    """The components (k, PROBES), 0 where there is no vector; no column when none has one."""
    if not any(rows):
        return np.empty((len(rows), 0))
    return np.asarray([row or [0.0] * PROBES for row in rows], dtype=np.float64)


def node_hashes(nodes: Nodes) -> NDArray[np.uint64]:
    """One hash (n,) of all that is known of each node."""
    mix = mixed_with(nodes.ids.view(np.uint64), nodes.text_hash.view(np.uint64))
    return mixed_with(mix, nodes.facts.view(np.uint64))
