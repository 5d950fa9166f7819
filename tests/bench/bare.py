"""Runs the Graph Data Science calls of the engine, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar
from uuid import uuid4

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import open_gds
from pgs_neo4j.database.gds.client import run_supervised
from pgs_neo4j.database.tasks import to_the_end
from tests.bench.store import LABEL, TYPE

CONCURRENCY = int(PGSConfig.model_fields["gds_concurrency"].default)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """Seconds of each call, and the modularity and number of communities that came of it."""

    projection: float
    leiden: float
    louvain: float
    modularity: float
    communities: int

    @property
    def seconds(self) -> float:
        """All calls together."""
        return self.projection + self.leiden + self.louvain


async def measured(database: Database, seed: int) -> Bare:
    """Time one run of the calls with the parameters of ``database.gds``, and drop its graph."""
    gds = await open_gds(database)
    client, name = gds.client, f"bench_{uuid4().hex}"
    weighted = {
        "relationship_weight_property": "weight",
        "relationship_types": [TYPE],
        "node_labels": [LABEL],
        "concurrency": CONCURRENCY,
    }
    weight = {"weight": {"property": "weight", "defaultValue": 1.0}}
    links = {TYPE: {"orientation": "UNDIRECTED", "properties": weight}}

    async def timed(work: Callable[[], Result]) -> tuple[float, Result]:
        began = perf_counter()
        result = await run_supervised(database, work)
        return perf_counter() - began, result

    try:
        projection, (graph, _) = await timed(
            lambda: client.graph.project.native(
                name, [LABEL], links, read_concurrency=CONCURRENCY, log_progress=False
            )
        )
        leiden, _ = await timed(
            lambda: client.leiden.mutate(graph, "community", random_seed=seed, **weighted)
        )
        louvain, polished = await timed(
            lambda: client.louvain.mutate(graph, "polished", seed_property="community", **weighted)
        )
    finally:
        drop = "CALL gds.graph.drop($name, false) YIELD graphName RETURN graphName"
        await to_the_end(database.call(drop, {"name": name}, "read"))
    return Bare(
        projection=projection,
        leiden=leiden,
        louvain=louvain,
        modularity=float(polished.modularity),
        communities=int(polished.community_count),
    )
