"""Generations in the database: written beside the current one, flipped in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j import queries
from pgs_neo4j.db import Database, Row
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.events import OnEvent, Progressed
from pgs_neo4j.model import Adjacent, Generation, Partition

MEMBER_BATCH = 50_000
PARTITION_BATCH = 500


@dataclass(frozen=True, slots=True)
class Membership:
    """Which partition each node belongs to and where it stands in it; parallel (n,) int64.

    ``nodes`` are internal ids that hold within one job; ``hash`` is that of each text.
    """

    nodes: NDArray[np.int64]
    partition: NDArray[np.int64]
    rank: NDArray[np.int64]
    hash: NDArray[np.int64]


def uid(generation: str, partition: int) -> str:
    """The key of a partition across all generations."""
    return f"{generation}:{partition}"


async def begin(db: Database, graph: str, generation: str, properties: Row) -> None:
    """Create a generation that nobody sees yet; harmless to repeat.

    Raises DatabaseError when the graph was removed meanwhile.
    """
    rows = await db.write(
        queries.get("partition/create_generations"),
        graph=graph,
        id=generation,
        properties=properties,
    )
    if not rows:
        raise DatabaseError(f"graph {graph} was removed meanwhile; add it again to go on")


async def write_partitions(db: Database, generation: str, partitions: Sequence[Partition]) -> None:
    """Create partitions, or update what is known of them, with their adjacent ones."""
    rows = [_partition_row(generation, partition) for partition in partitions]
    for start in range(0, len(rows), PARTITION_BATCH):
        await db.write(
            queries.get("partition/write_partitions"),
            generation=generation,
            rows=rows[start : start + PARTITION_BATCH],
        )
    links = [
        {
            "source": uid(generation, partition.id),
            "target": uid(generation, adjacent.id),
            "edges": adjacent.edges,
            "weight": adjacent.weight,
        }
        for partition in partitions
        for adjacent in partition.adjacent
    ]
    for start in range(0, len(links), PARTITION_BATCH):
        await db.write(
            queries.get("partition/write_adjacents"), rows=links[start : start + PARTITION_BATCH]
        )


async def write_members(
    db: Database, generation: str, members: Membership, on_event: OnEvent
) -> int:
    """Attach the nodes in batches; returns how many are attached.

    Fewer than asked for when nodes were deleted since the scan.
    """
    written = 0
    total = len(members.nodes)
    for start in range(0, total, MEMBER_BATCH):
        part = slice(start, start + MEMBER_BATCH)
        rows = await db.write(
            queries.get("partition/write_members"),
            nodes=members.nodes[part].tolist(),
            partitions=[uid(generation, p) for p in members.partition[part].tolist()],
            ranks=members.rank[part].tolist(),
            hashes=members.hash[part].tolist(),
        )
        written += int(rows[0]["written"])
        on_event(Progressed("partition", written, total, "nodes written"))
    return written


async def make_current(db: Database, graph: str, generation: str, properties: Row) -> None:
    """Flip: one transaction, so a reader sees all of the old generation or all of the new.

    Raises DatabaseError when somebody gave the new one up meanwhile.
    """
    rows = await db.write(
        queries.get("partition/set_current"),
        graph=graph,
        generation=generation,
        properties=properties,
    )
    if not rows:
        raise DatabaseError(
            f"generation {generation} of graph {graph} was taken away before it was finished, by "
            "a purge or a removal; partition it again"
        )


async def read_current(db: Database, graph: str) -> Generation | None:
    """The current generation of a graph, None before the first."""
    rows = await db.read(queries.get("partition/read_current"), graph=graph)
    return _generation(graph, rows[0]["generation"]) if rows else None


async def read_partitions(db: Database, generation: str) -> list[Partition]:
    """The partitions of a generation, by id."""
    rows = await db.read(queries.get("partition/read_partitions"), generation=generation)
    return [_partition(row["partition"], row["adjacent"]) for row in rows]


async def prune(db: Database, graph: str, keep: int) -> None:
    """Delete generations beyond the newest ``keep`` and unfinished ones of yesterday.

    Those that a session or a run under way needs stay.
    """
    rows = await db.write(queries.get("partition/mark_disposable"), graph=graph, keep=keep)
    if rows and rows[0]["ids"]:
        await _delete(db, rows[0]["ids"])


async def abandon(db: Database, generation: str) -> None:
    """Delete a generation unless it was made current after all."""
    rows = await db.write(queries.get("partition/mark_abandoned"), generations=[generation])
    if rows and rows[0]["ids"]:
        await _delete(db, rows[0]["ids"])


async def _delete(db: Database, generations: Iterable[str]) -> None:
    listed = list(generations)
    await db.batch(queries.get("partition/delete_members"), generations=listed)
    await db.write(queries.get("partition/delete_generations"), generations=listed)


async def delete_all(db: Database, graph: str) -> None:
    """Delete every generation of a graph."""
    rows = await db.read(queries.get("partition/read_generations"), graph=graph)
    await _delete(db, rows[0]["ids"])


def properties(generation: Generation, seconds: dict[str, float]) -> Row:
    """What is stored on the generation's node."""
    return {
        "algorithm": generation.algorithm,
        "fingerprint": generation.fingerprint,
        "node_count": generation.node_count,
        "relationship_count": generation.relationship_count,
        "partition_count": generation.partition_count,
        "modularity": generation.modularity,
        "sizes": list(generation.sizes),
        "pooled_nodes": generation.pooled_nodes,
        "embedder": generation.embedder,
        "dimensions": generation.dimensions,
        "issues": json.dumps(generation.issues, sort_keys=True),
        "seconds": json.dumps({name: round(value, 3) for name, value in seconds.items()}),
    }


def _generation(graph: str, stored: dict[str, Any]) -> Generation:
    return Generation(
        id=stored["id"],
        graph=graph,
        created_at=stored["created_at"],
        algorithm=stored["algorithm"],
        fingerprint=stored["fingerprint"],
        node_count=stored["node_count"],
        relationship_count=stored["relationship_count"],
        partition_count=stored["partition_count"],
        modularity=stored["modularity"],
        sizes=tuple(stored["sizes"]),
        pooled_nodes=stored["pooled_nodes"],
        embedder=stored.get("embedder"),
        dimensions=stored.get("dimensions"),
        issues=json.loads(stored["issues"]),
    )


def _partition_row(generation: str, partition: Partition) -> Row:
    return {
        "uid": uid(generation, partition.id),
        "id": partition.id,
        "size": partition.size,
        "tokens": partition.tokens,
        "keywords": list(partition.keywords),
        "summary": partition.summary,
        "pool": partition.pool,
        "centroid": None if partition.centroid is None else partition.centroid.tolist(),
    }


def _partition(stored: dict[str, Any], adjacent: list[list[Any]]) -> Partition:
    centroid = stored.get("centroid")
    links = sorted((Adjacent(i, edges, weight) for i, edges, weight in adjacent), key=_nearness)
    return Partition(
        id=stored["id"],
        size=stored["size"],
        tokens=stored["tokens"],
        keywords=tuple(stored["keywords"]),
        summary=stored["summary"],
        adjacent=tuple(links),
        centroid=None if centroid is None else np.asarray(centroid, dtype=np.float32),
        pool=stored["pool"],
    )


def _nearness(adjacent: Adjacent) -> tuple[int, float, int]:
    return -adjacent.edges, -adjacent.weight, adjacent.id
