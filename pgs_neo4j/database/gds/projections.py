"""Projects graphs into the GDS catalog, and drops them at the end or after a crash.

A projection contains either a graph's mapped view, optionally with earlier partitions as seeds, or
computed edges that the database does not store.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.gds.client import GDS, Owner
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import (
    DatabaseError,
    EmptyGraphError,
    GDSError,
    GDSMemoryError,
    GraphChangedError,
)
from pgs_neo4j.graph.csr import Edges
from pgs_neo4j.model import GraphMapping

if TYPE_CHECKING:
    from graphdatascience.graph.graph_api import Graph

if TYPE_CHECKING:
    from graphdatascience.graph.graph_api import Graph

WEIGHT = "weight"
MEMBERSHIP = "PGS_IN"
PREFIX = "pgs_"
NAME_PATTERN = f"{PREFIX}[0-9a-f]{{8}}_[0-9]+_[0-9a-f]{{8}}"
CLEAN_UP_S = 4.0


@dataclass(frozen=True, slots=True)
class Seeds:
    """Partitions with which a detection starts: the label that marks them, and their number."""

    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Projection:
    """A projected view, its relationship types, and its weight property if any.

    A ``seeded`` projection also contains the partitions of a generation as nodes, whose only
    relationships are ``MEMBERSHIP`` relationships to their members.
    """

    graph: Graph
    types: tuple[str, ...] = ("*",)
    weight: str | None = WEIGHT
    seeded: bool = False


def seed_label(graph: str) -> str:
    """Return the label that marks the seeds of a graph."""
    return f"PgsSeed_{name_digest(graph)}"


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
    """Project the mapped view, undirected and weighted; drop it at the end.

    ``ids`` ``(n,)`` are the view's nodes in ascending order. GDS numbers the nodes in this order,
    whether or not ``direct`` is set. With ``direct``, GDS reads the store itself, which is three
    times as fast. This requires that every relationship of the view has a usable weight, that no
    relationship is a loop, and that the database has no scope. ``seeds`` are projected with their
    memberships and require ``direct``. Raises EmptyGraphError when the view has no node.
    """
    if direct:
        weight = None if uniform else mapping.relationship_weight
        async with _project_directly(gds, mapping, len(ids), weight, seeds, concurrency) as view:
            if view is not None:
                yield view
                return
    async with project(
        gds,
        "database/gds/project_view",
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
async def _project_directly(
    gds: GDS,
    mapping: GraphMapping,
    node_count: int,
    weight: str | None,
    seeds: Seeds | None,
    concurrency: int,
) -> AsyncIterator[Projection | None]:
    """Project with GDS's native projection; yield None if it does not contain all nodes."""
    labels, types = await _read_names_in_use(gds, mapping)
    if not labels or not types:
        yield None
        return
    relationships = _make_relationship_options(types, weight)
    if seeds is not None:
        labels = [*labels, seeds.label]
        relationships[MEMBERSHIP] = {"orientation": "NATURAL"}
    name = make_name(gds)

    def work() -> tuple[Graph, int]:
        graph, _ = gds.client.graph.project.native(
            name, labels, relationships, read_concurrency=concurrency, log_progress=False
        )
        return graph, graph.node_count()

    async with drop_at_end(gds, name):
        try:
            graph, count = await gds.run(work)
        except GDSMemoryError:
            raise
        except (GDSError, GraphChangedError):
            graph, count = None, -1  # For instance, a weight has just become a string.
        # The native projection cannot contain nodes without a label. Nodes may also have been
        # created or deleted since ``ids`` was read.
        complete = count == node_count + (seeds.count if seeds else 0)
        # Without seeds, the algorithms use all types, since GDS is faster on a whole graph.
        chosen = ("*",) if seeds is None else tuple(types)
        view = Projection(graph, chosen, WEIGHT if weight else None, seeds is not None)
        yield view if complete else None


async def _read_names_in_use(gds: GDS, mapping: GraphMapping) -> tuple[list[str], list[str]]:
    """Return the labels and relationship types of the mapping that exist in the database.

    If the mapping names no labels, or no types, returns all that this package did not create.
    """
    rows = await gds.db.read(queries.get("database/gds/read_view_names"))
    labels, types = rows[0]["labels"], rows[0]["types"]
    return (
        [name for name in mapping.labels or labels if name in labels],
        [name for name in mapping.relationship_types or types if name in types],
    )


def _make_relationship_options(types: Sequence[str], weight: str | None) -> dict[str, Row]:
    """Return the options of the native projection for each relationship type."""
    options: Row = {"orientation": "UNDIRECTED"}
    if weight is not None:
        options["properties"] = {WEIGHT: {"property": weight, "defaultValue": 1.0}}
    return dict.fromkeys(types, options)


@asynccontextmanager
async def project_edges(
    gds: GDS, ids: NDArray[np.int64], edges: Edges, *, concurrency: int = 1
) -> AsyncIterator[Projection]:
    """Project weighted edges that the database does not store; drop the projection at the end.

    ``edges`` connect positions in ``ids`` ``(n,)``, which are the ids of the nodes in GDS. Edges of
    weight 0 connect nothing and are left out.
    """
    binding = edges.weight > 0
    async with project(
        gds,
        "database/gds/project_arrays",
        ids=ids.tolist(),
        sources=ids[edges.source[binding]].tolist(),
        targets=ids[edges.target[binding]].tolist(),
        weights=edges.weight[binding].tolist(),
        concurrency=concurrency,
    ) as graph:
        if graph is None:
            raise EmptyGraphError("there is no node to partition")
        yield Projection(graph)


@asynccontextmanager
async def project(gds: GDS, query: str, **params: object) -> AsyncIterator[Graph | None]:
    """Run a statement that projects a graph, and drop the projection at the end.

    Yields None when the statement matches nothing.
    """
    name, statement = make_name(gds), queries.get(query)
    bound = gds.db.bind(statement, {"name": name, **params})

    def work() -> Graph | None:
        exists = gds.runner.project(statement.text, bound)
        return gds.client.graph.get(name) if exists else None

    async with drop_at_end(gds, name):
        yield await gds.run(work)


@asynccontextmanager
async def drop_at_end(gds: GDS, name: str) -> AsyncIterator[None]:
    """Drop a projection at the end, if it exists."""
    try:
        yield
    finally:
        # A failed cleanup must hide neither the result nor the error of the work. If the drop
        # fails, ``drop_leftovers`` removes the projection later.
        with suppress(DatabaseError):
            await to_the_end(_drop_projections(gds, [name]))


async def list_leftovers(
    gds: GDS, older_than_s: float = 0.0, graph: str | None = None
) -> list[str]:
    """Return the names of this package's projections.

    Only projections that are at least ``older_than_s`` seconds old are listed. ``graph`` selects
    the projections of one graph; None selects the projections of all graphs.
    """
    rows = await gds.db.read(
        queries.get("database/gds/read_projections"),
        prefix=PREFIX if graph is None else _make_prefix(graph),
        pattern=NAME_PATTERN,
        older_than_s=older_than_s,
    )
    return list(rows[0]["names"])


async def drop_leftovers(gds: GDS, owner: Owner) -> list[str]:
    """End earlier jobs on the owner's graph and drop their projections.

    Earlier jobs are jobs with a lower fence. Returns the names of the dropped projections. Each
    user has a separate catalog, so the jobs of other users are not visible.
    """
    query = queries.get("database/gds/terminate_owned")
    await gds.db.call(query.text, {"graph": owner.graph, "fence": owner.fence}, "read", CLEAN_UP_S)
    names = [
        name
        for name in await list_leftovers(gds, graph=owner.graph)
        if int(name.split("_")[2]) < owner.fence
    ]
    await _drop_projections(gds, names)
    return names


async def _drop_projections(gds: GDS, names: list[str]) -> None:
    query = queries.get("database/gds/drop_projections")
    await gds.db.call(query.text, {"names": names}, "read", CLEAN_UP_S)


def make_name(gds: GDS) -> str:
    """Return a new projection name that carries its graph and lease fence."""
    owner = gds.owner or Owner("", 0)
    return f"{_make_prefix(owner.graph)}{owner.fence}_{uuid4().hex[:8]}"


def name_digest(graph: str) -> str:
    """Return eight hexadecimal digits that stand for a graph in names of labels and projections."""
    return blake2b(graph.encode(), digest_size=4).hexdigest()


def _make_prefix(graph: str) -> str:
    return f"{PREFIX}{name_digest(graph)}_"
