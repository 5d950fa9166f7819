"""Mean vectors of partitions, computed where the vectors are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.gds.catalog import projection
from pgs_neo4j.gds.client import GDS

VECTOR = "vector"


async def centroids(
    gds: GDS,
    generation: str,
    embedding: str,
    dimensions: int,
    *,
    weight: str | None = None,
    partitions: Sequence[int] = (),
    concurrency: int = 1,
) -> dict[int, NDArray[np.float32]]:
    """Mean stored embedding per partition id; partitions without one are left out.

    ``partitions`` are the ids wanted, all of the generation when there is none.

    k-means with k = 1 returns the exact mean. With ``weight``, a node property, each
    vector counts as often as its node weighs (1 where it has no weight), and the result
    is scaled to a largest component of 1: only its direction has a meaning. Nodes whose
    vector has another length, or a component that is no finite number, do not take part.
    """
    async with projection(
        gds,
        "gds/project_members",
        generation=generation,
        embedding=embedding,
        dimensions=dimensions,
        weight=weight or "",
        partitions=list(partitions),
        concurrency=concurrency,
    ) as graph:
        if graph is None:
            return {}
        labels = await gds.run(lambda: list(graph.node_labels()))

        def mean(label: str) -> NDArray[np.float32]:
            stats = gds.client.kmeans.stats(
                graph, VECTOR, k=1, max_iterations=1, node_labels=[label], concurrency=1
            )
            found = np.asarray(stats.centroids[0])
            scale = (np.abs(found).max() or 1.0) if weight else 1.0
            return np.asarray(found / scale, dtype=np.float32)

        return {
            int(label.removeprefix("P")): await gds.run(partial(mean, label)) for label in labels
        }
