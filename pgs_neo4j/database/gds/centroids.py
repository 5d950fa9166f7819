"""Mean vectors of partitions, computed inside the database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.gds.catalog import project
from pgs_neo4j.database.gds.client import GDS

if TYPE_CHECKING:
    from graphdatascience.graph.graph_api import Graph

VECTOR = "vector"


async def compute_centroids(
    gds: GDS,
    generation: str,
    embedding: str,
    dimensions: int,
    *,
    weight: str | None = None,
    partition_ids: Sequence[int] = (),
    concurrency: int = 1,
) -> dict[int, NDArray[np.float32]]:
    """Return the mean stored embedding ``(dimensions,)`` per partition id.

    ``partition_ids`` selects the partitions; empty means all of the generation. Partitions without
    a usable vector are left out.

    k-means with k = 1 returns the exact mean. With ``weight``, a node property, each vector counts
    as often as its node weighs, or once where it has no weight. The result is then scaled to a
    largest component of 1: only its direction has a meaning. Nodes are left out if their vector
    has another length, or a component that is not a finite number.
    """
    async with project(
        gds,
        "database/gds/project_members",
        generation=generation,
        embedding=embedding,
        dimensions=dimensions,
        weight=weight or "",
        partitions=list(partition_ids),
        concurrency=concurrency,
    ) as graph:
        if graph is None:
            return {}
        labels = await gds.run(lambda: list(graph.node_labels()))
        means = {label: await gds.run(partial(_mean, gds, graph, label)) for label in labels}
    return {
        int(label.removeprefix("P")): (_direction(mean) if weight else mean).astype(np.float32)
        for label, mean in means.items()
    }


def _mean(gds: GDS, graph: Graph, label: str) -> NDArray[np.float64]:
    """Return the mean vector ``(d,)`` of the nodes with a label."""
    stats = gds.client.kmeans.stats(
        graph, VECTOR, k=1, max_iterations=1, node_labels=[label], concurrency=1
    )
    return np.asarray(stats.centroids[0], dtype=np.float64)


def _direction(mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a mean ``(d,)``, scaled to a largest component of 1."""
    scaled: NDArray[np.float64] = mean / (np.abs(mean).max() or 1.0)
    return scaled
