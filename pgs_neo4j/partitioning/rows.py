"""Generations, partitions, and units as they are stored: to properties, and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Row
from pgs_neo4j.model import Adjacent, Generation, Partition, Unit


def uid(generation: str, partition: int, level: int = 0) -> str:
    """The key of a partition, or of a unit above, that was made with a generation."""
    return f"{generation}:{partition}" if not level else f"{generation}:{level}:{partition}"


def properties(generation: Generation, **more: Any) -> Row:
    """What is stored on the generation's node: its figures, and ``more``."""
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
        "origin": generation.origin,
        "raw_modularity": generation.raw_modularity,
        "conductance": generation.conductance,
        "split": generation.split,
        "merged": generation.merged,
        "pools": generation.pools,
        "levels": list(generation.levels),
        "seconds": json.dumps({k: round(v, 3) for k, v in generation.seconds.items()}),
        "token": generation.token,
        "settings": generation.settings,
        "common": list(generation.common),
        "grown": generation.grown,
        **more,
    }


def generation_of(graph: str, stored: dict[str, Any]) -> Generation:
    """A generation from its stored properties."""
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
        origin=stored.get("origin", "cold"),
        raw_modularity=stored.get("raw_modularity", 0.0),
        conductance=stored.get("conductance", 0.0),
        split=stored.get("split", 0),
        merged=stored.get("merged", 0),
        pools=stored.get("pools", 0),
        levels=tuple(stored.get("levels", ())),
        seconds=json.loads(stored.get("seconds", "{}")),
        token=stored.get("token"),
        settings=stored.get("settings", ""),
        common=tuple(stored.get("common", ())),
        grown=stored.get("grown", 0.0),
    )


def partition_row(partition: Partition) -> Row:
    """What is stored on a partition's node."""
    return {
        "uid": partition.uid,
        "id": partition.id,
        "level": 0,
        "lineage": partition.lineage,
        "size": partition.size,
        "tokens": partition.tokens,
        "keywords": list(partition.keywords),
        "summary": partition.summary,
        "pool": partition.pool,
        "centroid": _listed(partition.centroid),
    }


def partition_of(
    stored: dict[str, Any], adjacent: list[list[Any]], parent: int | None
) -> Partition:
    """A partition from its properties, ``[id, edges, weight]`` of those near, and its parent."""
    links = sorted((Adjacent(i, edges, weight) for i, edges, weight in adjacent), key=_nearness)
    return Partition(
        id=stored["id"],
        size=stored["size"],
        tokens=stored["tokens"],
        keywords=tuple(stored["keywords"]),
        summary=stored["summary"],
        adjacent=tuple(links),
        centroid=_array(stored.get("centroid")),
        pool=stored["pool"],
        uid=stored["uid"],
        lineage=stored["lineage"],
        parent=parent,
    )


def unit_row(generation: str, unit: Unit) -> Row:
    """What is stored on a unit's node."""
    return {
        "uid": uid(generation, unit.id, unit.level),
        "id": unit.id,
        "level": unit.level,
        "size": unit.size,
        "partitions": unit.partitions,
        "keywords": list(unit.keywords),
        "centroid": _listed(unit.centroid),
    }


def unit_of(stored: dict[str, Any], parent: int | None) -> Unit:
    """A unit from its stored properties, and its parent."""
    return Unit(
        id=stored["id"],
        level=stored["level"],
        size=stored["size"],
        partitions=stored["partitions"],
        keywords=tuple(stored["keywords"]),
        centroid=_array(stored.get("centroid")),
        parent=parent,
    )


def _listed(centroid: NDArray[np.float32] | None) -> list[float] | None:
    return None if centroid is None else centroid.tolist()


def _array(stored: list[float] | None) -> NDArray[np.float32] | None:
    return None if stored is None else np.asarray(stored, dtype=np.float32)


def _nearness(adjacent: Adjacent) -> tuple[int, float, int]:
    return -adjacent.edges, -adjacent.weight, adjacent.id
