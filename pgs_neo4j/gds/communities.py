"""Communities of a projected view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.config import Algorithm
from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.gds.client import GDS
from pgs_neo4j.gds.view import MEMBERSHIP, Projection

if TYPE_CHECKING:
    from graphdatascience.graph.graph_api import Graph

PROPERTY = "community"
SEED = "seed"


@dataclass(frozen=True, slots=True)
class Communities:
    """Community of each projected node: ``ids`` and ``labels`` are parallel, (n,) int64.

    ``ids`` are internal node ids that hold within one job and are never stored.
    """

    ids: NDArray[np.int64]
    labels: NDArray[np.int64]
    modularity: float


async def detect(
    gds: GDS, projection: Projection, algorithm: Algorithm, *, seed: int, concurrency: int
) -> Communities:
    """Communities of a projection.

    ``leiden-louvain`` polishes Leiden's result with a Louvain seeded by it. A seeded
    projection begins with its partitions instead, and Louvain alone goes on from there:
    Leiden cannot in GDS 2.13. The result repeats for the same seed at concurrency 1 only;
    Louvain in GDS takes no seed.
    """
    graph = projection.graph
    weighted = {
        "relationship_types": list(projection.types),
        "relationship_weight_property": projection.weight,
        "concurrency": concurrency,
    }

    def leiden() -> float:
        result = gds.client.leiden.mutate(graph, PROPERTY, random_seed=seed, **weighted)
        return float(result.modularity)

    def louvain(target: str, seeds: str | None) -> float:
        result = gds.client.louvain.mutate(graph, target, seed_property=seeds, **weighted)
        return float(result.modularity)

    def components(target: str, **which: Any) -> float:
        gds.client.wcc.mutate(graph, target, concurrency=concurrency, **which)
        return 0.0

    found = PROPERTY
    if projection.seeded:
        await gds.run(lambda: components(SEED, relationship_types=[MEMBERSHIP]))
        modularity = await gds.run(lambda: louvain(PROPERTY, SEED))
    elif not await gds.run(graph.relationship_count):
        # Leiden in GDS 2.13 fails on a graph without relationships.
        modularity = await gds.run(lambda: components(PROPERTY))
    elif algorithm == "leiden":
        modularity = await gds.run(leiden)
    elif algorithm == "louvain":
        modularity = await gds.run(lambda: louvain(PROPERTY, None))
    else:
        await gds.run(leiden)
        found = f"{PROPERTY}_polished"
        modularity = await gds.run(lambda: louvain(found, PROPERTY))
    ids, labels = await _labels(gds.db, graph, found)
    return Communities(ids, labels, modularity)


async def _labels(
    db: Database, graph: Graph, name: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    # Two lists in one row: 30 times faster than the client's row per node (FACTS).
    query = queries.get("gds/read_labels")
    rows = await db.read(query, name=graph.name(), property=name)
    ids = np.asarray(rows[0]["ids"], dtype=np.int64)
    labels = np.asarray(rows[0]["communities"], dtype=np.int64)
    order = np.argsort(ids, kind="stable")
    return ids[order], labels[order]
