"""The only door to Graph Data Science: project, detect communities, average vectors, drop.

The graphdatascience client is synchronous. It runs in a worker thread (``gds_calls``) on a
query runner that hands each statement back to ``Database``, so one pool serves both, and a
cancelled call is ended at the server. Projections are dropped even when the work inside fails.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar
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
    GDSError,
    GDSMemoryError,
    GDSMissingError,
    QueryError,
)
from pgs_neo4j.gds_calls import Owner, supervised, to_the_end
from pgs_neo4j.model import GraphMapping

if TYPE_CHECKING:
    from graphdatascience import GraphDataScience
    from graphdatascience.graph.graph_api import Graph

    from pgs_neo4j.gds_runner import DatabaseRunner

MINIMUM_VERSION = (2, 13)
PREFIX = "pgs_"
NAME_PATTERN = f"{PREFIX}[0-9a-f]{{8}}_[0-9]+_[0-9a-f]{{8}}"
CLEAN_UP_S = 4.0
PROPERTY = "community"
WEIGHT = "weight"
VECTOR = "vector"
SEED = "seed"
MEMBERSHIP = "PGS_IN"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Communities:
    """Community of each projected node: ``ids`` and ``labels`` are parallel, (n,) int64.

    ``ids`` are internal node ids that hold within one job and are never stored.
    """

    ids: NDArray[np.int64]
    labels: NDArray[np.int64]
    modularity: float


@dataclass(frozen=True, slots=True)
class Seeds:
    """Partitions to begin with: the label they are marked with, and how many there are."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Projection:
    """A projected view: which relationship types take part, and their weight if they have one.

    ``seeded``: the partitions of a generation and who belongs to them are in it, too, as nodes
    that no other type of relationship touches.
    """

    graph: Graph
    types: tuple[str, ...] = ("*",)
    weight: str | None = WEIGHT
    seeded: bool = False


@dataclass(frozen=True, slots=True)
class GDS:
    """A Graph Data Science client on a database's own pool. Made by ``open_gds``.

    What an ``owner`` projects and runs carries its name, so that who takes over can end it.
    """

    db: Database
    client: GraphDataScience
    runner: DatabaseRunner
    version: str
    owner: Owner | None = None

    def owned_by(self, owner: Owner) -> GDS:
        """The same client, working for a job."""
        return replace(self, owner=owner)

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
        self,
        mapping: GraphMapping,
        ids: NDArray[np.int64],
        *,
        uniform: bool = False,
        direct: bool = False,
        seeds: Seeds | None = None,
        concurrency: int = 1,
    ) -> AsyncIterator[Projection]:
        """A projection of the mapped view, undirected and weighted, dropped at the end.

        ``ids`` (n,) ascending are the view's nodes; in this order GDS numbers them, whichever
        way they are read. With ``direct`` GDS reads the store itself, three times as fast:
        for a view in which every relationship has a usable weight and none is a loop.
        ``seeds`` are projected along with who belongs to them; only the direct way can.
        Raises EmptyGraphError when the view has no node.
        """
        if direct:
            async with self._direct(mapping, len(ids), uniform, seeds, concurrency) as found:
                if found is not None:
                    yield found
                    return
        async with self._projection(
            "partition/project_view",
            ids=ids.tolist(),
            labels=list(mapping.labels),
            types=list(mapping.relationship_types),
            weight=mapping.relationship_weight or "",
            uniform=uniform,
            concurrency=concurrency,
        ) as graph:
            if graph is None:
                raise EmptyGraphError("the mapped labels have no node left to partition")
            yield Projection(graph)

    @asynccontextmanager
    async def _direct(
        self,
        mapping: GraphMapping,
        nodes: int,
        uniform: bool,
        seeds: Seeds | None,
        concurrency: int,
    ) -> AsyncIterator[Projection | None]:
        """A native projection; None when the view has nodes that it does not reach."""
        rows = await self.db.read(queries.get("partition/read_view_names"))
        labels = [name for name in mapping.labels or rows[0]["labels"] if name in rows[0]["labels"]]
        types = [
            name
            for name in mapping.relationship_types or rows[0]["types"]
            if name in rows[0]["types"]
        ]
        weight = None if uniform else mapping.relationship_weight
        if not labels or not types:
            yield None
            return
        given: dict[str, Any] = {"orientation": "UNDIRECTED"}
        if weight is not None:
            given["properties"] = {WEIGHT: {"property": weight, "defaultValue": 1.0}}
        relationships = dict.fromkeys(types, given)
        if seeds is not None:
            relationships[MEMBERSHIP] = {"orientation": "NATURAL"}
        name = self._name()

        def work() -> tuple[Graph, int]:
            graph, _ = self.client.graph.project.native(
                name,
                [*labels, *([seeds.label] if seeds else [])],
                relationships,
                read_concurrency=concurrency,
                log_progress=False,
            )
            return graph, graph.node_count()

        async with self._dropped(name):
            try:
                graph, count = await self._run(work)
            except GDSMemoryError:
                raise
            except GDSError:
                graph, count = None, -1  # a weight that has just become a word, for instance
            # Nodes without a label are out of reach, and nodes may have come or gone.
            complete = count == nodes + (seeds.count if seeds else 0)
            # All types where there are no seeds: GDS is quicker on a graph as it is.
            only = ("*",) if seeds is None else tuple(types)
            found = Projection(graph, only, WEIGHT if weight else None, seeds is not None)
            yield found if complete else None

    async def detect(
        self, projection: Projection, algorithm: Algorithm, *, seed: int, concurrency: int
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
            result = self.client.leiden.mutate(graph, PROPERTY, random_seed=seed, **weighted)
            return float(result.modularity)

        def louvain(target: str, seeds: str | None) -> float:
            result = self.client.louvain.mutate(graph, target, seed_property=seeds, **weighted)
            return float(result.modularity)

        def components(target: str, **which: Any) -> float:
            self.client.wcc.mutate(graph, target, concurrency=concurrency, **which)
            return 0.0

        found = PROPERTY
        if projection.seeded:
            await self._run(lambda: components(SEED, relationship_types=[MEMBERSHIP]))
            modularity = await self._run(lambda: louvain(PROPERTY, SEED))
        elif not await self._run(graph.relationship_count):
            # Leiden in GDS 2.13 fails on a graph without relationships.
            modularity = await self._run(lambda: components(PROPERTY))
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
        async with self._projection(
            "partition/project_members",
            generation=generation,
            embedding=embedding,
            dimensions=dimensions,
            weight=weight or "",
            partitions=list(partitions),
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

    async def leftovers(self, older_than_s: float = 0.0, graph: str | None = None) -> list[str]:
        """Names of projections of ours, of one graph or all, that are at least that old."""
        query = queries.get("partition/read_projections")
        rows = await self.db.read(
            query,
            prefix=PREFIX if graph is None else _prefix(graph),
            pattern=NAME_PATTERN,
            older_than_s=older_than_s,
        )
        return list(rows[0]["names"])

    async def drop_leftovers(self, owner: Owner) -> list[str]:
        """End what jobs before this one still run on its graph, drop what they left in the
        catalog, and tell the names.

        The catalog is the user's own, so other users' jobs are not seen.
        """
        query = queries.get("partition/terminate_owned")
        await self.db.call(
            query.text, {"graph": owner.graph, "fence": owner.fence}, "read", CLEAN_UP_S
        )
        names = [
            name
            for name in await self.leftovers(graph=owner.graph)
            if int(name.split("_")[2]) < owner.fence
        ]
        await self._drop(names)
        return names

    async def _drop(self, names: list[str]) -> None:
        query = queries.get("partition/drop_projections")
        await self.db.call(query.text, {"names": names}, "read", CLEAN_UP_S)

    @asynccontextmanager
    async def _projection(self, query: str, **params: object) -> AsyncIterator[Graph | None]:
        """A projection, None when the statement found nothing to project."""
        name = self._name()
        text = queries.get(query).text

        def work() -> Graph | None:
            made = self.runner.project(text, {"name": name, **params})
            return self.client.graph.get(name) if made else None

        async with self._dropped(name):
            yield await self._run(work)

    @asynccontextmanager
    async def _dropped(self, name: str) -> AsyncIterator[None]:
        try:
            yield
        finally:
            # What cannot be dropped now is left to drop_leftovers: a result, or the error
            # that ended the work, is worth more than a complaint about cleaning up.
            with suppress(DatabaseError):
                await to_the_end(self._drop([name]))

    def _name(self) -> str:
        owner = self.owner or Owner("", 0)
        return f"{_prefix(owner.graph)}{owner.fence}_{uuid4().hex[:8]}"

    async def _labels(self, graph: Graph, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        # Two lists in one row: 30 times faster than the client's row per node (FACTS).
        query = queries.get("partition/read_labels")
        rows = await self.db.read(query, name=graph.name(), property=name)
        ids = np.asarray(rows[0]["ids"], dtype=np.int64)
        labels = np.asarray(rows[0]["communities"], dtype=np.int64)
        order = np.argsort(ids, kind="stable")
        return ids[order], labels[order]

    async def _max_heap(self) -> int | None:
        try:
            rows = await self.db.read(queries.get("schema/read_heap"))
        except QueryError:
            return None  # not every user may ask; GDS has a guard of its own
        return int(rows[0]["max_bytes"]) if rows else None

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await supervised(self.db, work, self.owner)


def _prefix(graph: str) -> str:
    """How the names of a graph's projections begin."""
    return f"{PREFIX}{blake2b(graph.encode(), digest_size=4).hexdigest()}_"


def seed_label(graph: str) -> str:
    """The label that marks a graph's seeds."""
    return f"PgsSeed_{blake2b(graph.encode(), digest_size=4).hexdigest()}"


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
