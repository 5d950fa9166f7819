"""Named projections in the GDS catalog: create, drop, find after a crash."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.gds.calls import Owner
from pgs_neo4j.database.gds.client import GDS
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import DatabaseError

if TYPE_CHECKING:
    from graphdatascience.graph.graph_api import Graph

PREFIX = "pgs_"
NAME_PATTERN = f"{PREFIX}[0-9a-f]{{8}}_[0-9]+_[0-9a-f]{{8}}"
CLEAN_UP_S = 4.0


def name_digest(graph: str) -> str:
    """Return eight hexadecimal digits that represent a graph's name.

    Labels and projections are named by it.
    """
    return blake2b(graph.encode(), digest_size=4).hexdigest()


def make_name(gds: GDS) -> str:
    """Return a new projection name that carries its graph and lease fence."""
    owner = gds.owner or Owner("", 0)
    return f"{_prefix(owner.graph)}{owner.fence}_{uuid4().hex[:8]}"


@asynccontextmanager
async def project(gds: GDS, query: str, **params: object) -> AsyncIterator[Graph | None]:
    """Project by a statement and drop the projection at the end.

    Yields None when the statement matches nothing.
    """
    name = make_name(gds)
    text = queries.get(query).text

    def work() -> Graph | None:
        exists = gds.runner.project(text, {"name": name, **params})
        return gds.client.graph.get(name) if exists else None

    async with drop_at_end(gds, name):
        yield await gds.run(work)


@asynccontextmanager
async def drop_at_end(gds: GDS, name: str) -> AsyncIterator[None]:
    """Drop a projection at the end, if it exists."""
    try:
        yield
    finally:
        # drop_leftovers handles what cannot be dropped now. A result, or the error that ended
        # the work, matters more than a failed cleanup.
        with suppress(DatabaseError):
            await to_the_end(_drop(gds, [name]))


async def list_leftovers(
    gds: GDS, older_than_s: float = 0.0, graph: str | None = None
) -> list[str]:
    """Return this package's projections of at least that age in seconds.

    They belong to one graph, or to any graph with None.
    """
    rows = await gds.db.read(
        queries.get("database/gds/read_projections"),
        prefix=PREFIX if graph is None else _prefix(graph),
        pattern=NAME_PATTERN,
        older_than_s=older_than_s,
    )
    return list(rows[0]["names"])


async def drop_leftovers(gds: GDS, owner: Owner) -> list[str]:
    """End earlier jobs on the owner's graph and drop their projections.

    Earlier jobs are those with a lower fence. Returns the names of the dropped projections. Each
    user has a catalog, so the jobs of other users are not visible.
    """
    query = queries.get("database/gds/terminate_owned")
    await gds.db.call(query.text, {"graph": owner.graph, "fence": owner.fence}, "read", CLEAN_UP_S)
    names = [
        name
        for name in await list_leftovers(gds, graph=owner.graph)
        if int(name.split("_")[2]) < owner.fence
    ]
    await _drop(gds, names)
    return names


async def _drop(gds: GDS, names: list[str]) -> None:
    query = queries.get("database/gds/drop_projections")
    await gds.db.call(query.text, {"names": names}, "read", CLEAN_UP_S)


def _prefix(graph: str) -> str:
    return f"{PREFIX}{name_digest(graph)}_"
