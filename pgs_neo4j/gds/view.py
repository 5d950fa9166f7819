"""A graph's mapped view as a projection, with or without the partitions before as seeds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.errors import EmptyGraphError, GDSError, GDSMemoryError
from pgs_neo4j.gds.catalog import digest, dropped, new_name, projection
from pgs_neo4j.gds.client import GDS
from pgs_neo4j.model import GraphMapping

if TYPE_CHECKING:
    from graphdatascience.graph.graph_api import Graph

WEIGHT = "weight"
MEMBERSHIP = "PGS_IN"


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


def seed_label(graph: str) -> str:
    """The label that marks a graph's seeds."""
    return f"PgsSeed_{digest(graph)}"


@asynccontextmanager
async def project_view(
    gds: GDS,
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
        async with _direct(gds, mapping, len(ids), uniform, seeds, concurrency) as found:
            if found is not None:
                yield found
                return
    async with projection(
        gds,
        "gds/project_view",
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
    gds: GDS,
    mapping: GraphMapping,
    nodes: int,
    uniform: bool,
    seeds: Seeds | None,
    concurrency: int,
) -> AsyncIterator[Projection | None]:
    """A native projection; None when the view has nodes that it does not reach."""
    rows = await gds.db.read(queries.get("gds/read_view_names"))
    labels = [name for name in mapping.labels or rows[0]["labels"] if name in rows[0]["labels"]]
    types = [
        name for name in mapping.relationship_types or rows[0]["types"] if name in rows[0]["types"]
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
    name = new_name(gds)

    def work() -> tuple[Graph, int]:
        graph, _ = gds.client.graph.project.native(
            name,
            [*labels, *([seeds.label] if seeds else [])],
            relationships,
            read_concurrency=concurrency,
            log_progress=False,
        )
        return graph, graph.node_count()

    async with dropped(gds, name):
        try:
            graph, count = await gds.run(work)
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
