"""Detects the communities of a projected view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.config import Algorithm
from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds.client import GDS
from pgs_neo4j.database.gds.view import MEMBERSHIP, Projection

if TYPE_CHECKING:
    from graphdatascience.graph.graph_api import Graph

PROPERTY = "community"
SEED = "seed"


@dataclass(frozen=True, slots=True)
class Communities:
    """Community of each projected node: ``ids`` and ``labels`` ``(n,)`` int64.

    ``ids`` ascend. They are internal node ids that hold within one job and are never stored.
    """

    ids: NDArray[np.int64]
    labels: NDArray[np.int64]
    modularity: float


async def detect_communities(
    gds: GDS, projection: Projection, algorithm: Algorithm, *, seed: int, concurrency: int
) -> Communities:
    """Detect the communities of a projection.

    ``leiden-louvain`` refines Leiden's result with Louvain, which is seeded by it. A seeded
    projection begins with its partitions instead, and Louvain alone continues from there: Leiden
    takes no seeds in GDS 2.13. The result repeats for the same seed at concurrency 1 only; Louvain
    in GDS takes no seed.
    """
    run = _Algorithms(gds, projection, seed, concurrency)
    target = PROPERTY
    if projection.seeded:
        await run.components(SEED, relationship_types=[MEMBERSHIP])
        modularity = await run.louvain(PROPERTY, SEED)
    elif not await gds.run(projection.graph.relationship_count):
        # Leiden in GDS 2.13 fails on a graph without relationships.
        modularity = await run.components(PROPERTY)
    elif algorithm == "leiden":
        modularity = await run.leiden(PROPERTY)
    elif algorithm == "louvain":
        modularity = await run.louvain(PROPERTY, None)
    else:
        await run.leiden(PROPERTY)
        target = f"{PROPERTY}_polished"
        modularity = await run.louvain(target, PROPERTY)
    ids, labels = await _labels(gds.db, projection.graph, target)
    return Communities(ids, labels, modularity)


@dataclass(frozen=True, slots=True)
class _Algorithms:
    """The client's algorithms on one projection, with their shared options.

    Each writes ``target`` on the nodes and returns the modularity, 0 if it has none.
    """

    gds: GDS
    projection: Projection
    seed: int
    concurrency: int

    async def leiden(self, target: str) -> float:
        mutate = self.gds.client.leiden.mutate
        return await self._modularity(mutate, target, random_seed=self.seed)

    async def louvain(self, target: str, seed_property: str | None) -> float:
        mutate = self.gds.client.louvain.mutate
        return await self._modularity(mutate, target, seed_property=seed_property)

    async def components(self, target: str, **options: object) -> float:
        mutate = self.gds.client.wcc.mutate
        graph, concurrency = self.projection.graph, self.concurrency
        await self.gds.run(lambda: mutate(graph, target, concurrency=concurrency, **options))
        return 0.0

    async def _modularity(
        self, mutate: Callable[..., Any], target: str, **options: object
    ) -> float:
        def work() -> float:
            result = mutate(
                self.projection.graph,
                target,
                relationship_types=list(self.projection.types),
                relationship_weight_property=self.projection.weight,
                concurrency=self.concurrency,
                **options,
            )
            return float(result.modularity)

        return await self.gds.run(work)


async def _labels(
    db: Database, graph: Graph, name: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    # Two lists in one row: 30 times faster than the client's row per node (FACTS).
    query = queries.get("database/gds/read_labels")
    rows = await db.read(query, name=graph.name(), property=name)
    ids = np.asarray(rows[0]["ids"], dtype=np.int64)
    labels = np.asarray(rows[0]["communities"], dtype=np.int64)
    order = np.argsort(ids, kind="stable")
    return ids[order], labels[order]
