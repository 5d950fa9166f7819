"""The only door to Graph Data Science: project, detect communities, average vectors, drop.

The graphdatascience client is synchronous. It runs in a worker thread (``gds_calls``) on a
query runner that hands each statement back to ``Database``, so one pool serves both, and a
cancelled call is ended at the server. Projections are dropped even when the work inside fails.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j import queries
from pgs_neo4j.config import Algorithm
from pgs_neo4j.db import Database, parse_version
from pgs_neo4j.errors import (
    DatabaseError,
    DatabaseVersionError,
    EmptyGraphError,
    GDSMemoryError,
    GDSMissingError,
    QueryError,
)
from pgs_neo4j.gds_calls import supervised, to_the_end
from pgs_neo4j.model import GraphMapping

if TYPE_CHECKING:
    from graphdatascience import GraphDataScience
    from graphdatascience.graph.graph_api import Graph

    from pgs_neo4j.gds_runner import DatabaseRunner

MINIMUM_VERSION = (2, 13)
PREFIX = "pgs_"
NAME_PATTERN = f"{PREFIX}[0-9a-f]{{16}}"
CLEAN_UP_S = 4.0
PROPERTY = "community"
WEIGHT = "weight"
VECTOR = "vector"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Communities:
    """Community of each projected node: ``ids`` and ``labels`` are parallel, (n,) int64.

    ``ids`` are internal node ids that hold within one job and are never stored.
    """

    ids: NDArray[np.int64]
    labels: NDArray[np.int64]
    modularity: float


@dataclass(slots=True)
class GDS:
    """A Graph Data Science client on a database's own pool. Made by ``open_gds``."""

    db: Database
    client: GraphDataScience
    runner: DatabaseRunner
    version: str

    async def estimate(self, nodes: int, relationships: int, algorithm: Algorithm) -> int:
        """Bytes that projection and community detection need at most, before either runs."""

        def work() -> int:
            graph = {
                "nodeProjection": "*",
                "relationshipProjection": {"R": {"type": "*", "orientation": "UNDIRECTED"}},
                "nodeCount": nodes,
                "relationshipCount": relationships,
                "relationshipProperties": WEIGHT,
            }
            estimators = {"leiden": self.client.leiden, "louvain": self.client.louvain}
            return max(
                int(endpoints.estimate(graph, concurrency=1).bytes_max)
                for name, endpoints in estimators.items()
                if name in algorithm
            )

        return await self._run(work)

    async def refuse_if_too_large(
        self, nodes: int, relationships: int, algorithm: Algorithm
    ) -> None:
        """Raise GDSMemoryError with the figures when the server's heap cannot hold the work."""
        needed = await self.estimate(nodes, relationships, algorithm)
        heap = await self._max_heap()
        if heap is not None and needed > heap:
            raise GDSMemoryError(
                f"partitioning {nodes:,} nodes and {relationships:,} relationships needs up to "
                f"{needed / 2**20:,.0f} MiB and the server's heap is {heap / 2**20:,.0f} MiB; "
                "raise server.memory.heap.max_size or map fewer labels"
            )

    @asynccontextmanager
    async def project_view(
        self, mapping: GraphMapping, *, uniform: bool, concurrency: int
    ) -> AsyncIterator[Graph]:
        """A projection of the mapped view, undirected and weighted, dropped at the end.

        Raises EmptyGraphError when the view has no node.
        """
        async with self._projection(
            "partition/project_view",
            labels=list(mapping.labels),
            types=list(mapping.relationship_types),
            weight=mapping.relationship_weight or "",
            uniform=uniform,
            concurrency=concurrency,
        ) as graph:
            if graph is None:
                raise EmptyGraphError("the mapped labels have no node left to partition")
            yield graph

    async def detect(
        self, graph: Graph, algorithm: Algorithm, *, seed: int, concurrency: int
    ) -> Communities:
        """Communities of a projection.

        ``leiden-louvain`` polishes Leiden's result with a Louvain seeded by it. The result
        repeats for the same seed at concurrency 1 only; Louvain in GDS takes no seed.
        """
        weighted = {"relationship_weight_property": WEIGHT, "concurrency": concurrency}

        def leiden() -> float:
            result = self.client.leiden.mutate(graph, PROPERTY, random_seed=seed, **weighted)
            return float(result.modularity)

        def louvain(target: str, seeds: str | None) -> float:
            result = self.client.louvain.mutate(graph, target, seed_property=seeds, **weighted)
            return float(result.modularity)

        def components() -> float:
            self.client.wcc.mutate(graph, PROPERTY, concurrency=concurrency)
            return 0.0

        found = PROPERTY
        if not await self._run(graph.relationship_count):
            # Leiden in GDS 2.13 fails on a graph without relationships.
            modularity = await self._run(components)
        elif algorithm == "leiden":
            modularity = await self._run(leiden)
        elif algorithm == "louvain":
            modularity = await self._run(lambda: louvain(PROPERTY, None))
        else:
            await self._run(leiden)
            found = f"{PROPERTY}_polished"
            modularity = await self._run(lambda: louvain(found, PROPERTY))
        ids, labels = await self._labels(graph, found)
        return Communities(ids, labels, modularity)

    async def centroids(
        self,
        generation: str,
        embedding: str,
        dimensions: int,
        *,
        weight: str | None = None,
        concurrency: int = 1,
    ) -> dict[int, NDArray[np.float32]]:
        """Mean stored embedding per partition id; partitions without one are left out.

        k-means with k = 1 returns the exact mean. With ``weight``, a node property, each
        vector counts as often as its node weighs (1 where it has no weight), and the result
        is scaled to a largest component of 1: only its direction has a meaning. Nodes whose
        vector has another length, or a component that is no finite number, do not take part.
        """
        async with self._projection(
            "partition/project_members",
            generation=generation,
            embedding=embedding,
            dimensions=dimensions,
            weight=weight or "",
            concurrency=concurrency,
        ) as graph:
            if graph is None:
                return {}
            labels = await self._run(lambda: list(graph.node_labels()))

            def mean(label: str) -> NDArray[np.float32]:
                stats = self.client.kmeans.stats(
                    graph, VECTOR, k=1, max_iterations=1, node_labels=[label], concurrency=1
                )
                found = np.asarray(stats.centroids[0])
                scale = (np.abs(found).max() or 1.0) if weight else 1.0
                return np.asarray(found / scale, dtype=np.float32)

            return {
                int(label.removeprefix("P")): await self._run(partial(mean, label))
                for label in labels
            }

    async def leftovers(self, older_than_s: float = 0.0) -> list[str]:
        """Names of projections of ours that have been in the catalog for that long."""
        query = queries.get("partition/read_projections")
        rows = await self.db.read(query, pattern=NAME_PATTERN, older_than_s=older_than_s)
        return list(rows[0]["names"])

    async def drop_leftovers(self, older_than_s: float) -> list[str]:
        """Drop what killed jobs left behind, and tell the names.

        A projection cannot tell whether its job still runs: the age has to be more than the
        longest job takes. The catalog is the user's own, so other users' jobs are not seen.
        """
        names = await self.leftovers(older_than_s)
        await self._drop(names)
        return names

    async def _drop(self, names: list[str]) -> None:
        query = queries.get("partition/drop_projections")
        await self.db.call(query.text, {"names": names}, "read", CLEAN_UP_S)

    @asynccontextmanager
    async def _projection(self, query: str, **params: object) -> AsyncIterator[Graph | None]:
        """A projection, None when the statement found nothing to project."""
        name = f"{PREFIX}{uuid4().hex[:16]}"
        text = queries.get(query).text

        def work() -> Graph | None:
            made = self.runner.project(text, {"name": name, **params})
            return self.client.graph.get(name) if made else None

        try:
            yield await self._run(work)
        finally:
            # What cannot be dropped now is left to drop_leftovers: a result, or the error
            # that ended the work, is worth more than a complaint about cleaning up.
            with suppress(DatabaseError):
                await to_the_end(self._drop([name]))

    async def _labels(self, graph: Graph, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # Two lists in one row: 30 times faster than the client's row per node (FACTS).
        query = queries.get("partition/read_labels")
        rows = await self.db.read(query, name=graph.name(), property=name)
        ids = np.asarray(rows[0]["ids"], dtype=np.int64)
        labels = np.asarray(rows[0]["labels"], dtype=np.int64)
        order = np.argsort(ids, kind="stable")
        return ids[order], labels[order]

    async def _max_heap(self) -> int | None:
        try:
            rows = await self.db.read(queries.get("schema/read_heap"))
        except QueryError:
            return None  # not every user may ask; GDS has a guard of its own
        return int(rows[0]["max_bytes"]) if rows else None

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await supervised(self.db, work)


async def open_gds(db: Database) -> GDS:
    """Open the client on a database.

    Raises GDSMissingError when the library is not installed, DatabaseVersionError when it
    is too old.
    """
    version = await installed_version(db)
    if parse_version(version) < MINIMUM_VERSION:
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise DatabaseVersionError(
            f"Graph Data Science on the server is {version}; {wanted} or newer is needed, "
            "so upgrade the plugin"
        )
    client, runner = await supervised(db, lambda: _client(db))
    return GDS(db=db, client=client, runner=runner, version=version)


async def installed_version(db: Database) -> str:
    """Version of the server's GDS. Raises GDSMissingError when there is none."""
    try:
        rows = await db.read(queries.get("schema/read_gds_version"))
    except QueryError as error:
        raise GDSMissingError(
            f"Neo4j at {db.uri} has no Graph Data Science library; install the "
            "graph-data-science plugin and allow gds.* in dbms.security.procedures.unrestricted"
        ) from error
    return str(rows[0]["version"])


def _client(db: Database) -> tuple[GraphDataScience, DatabaseRunner]:
    # Imported here: the client brings pandas and pyarrow, seconds that other commands save.
    from graphdatascience import GraphDataScience

    from pgs_neo4j.gds_runner import DatabaseRunner

    runner = DatabaseRunner(db)
    return GraphDataScience(runner, arrow=False, show_progress=False), runner
