"""Named projections in the GDS catalog: made, dropped, and found again after a crash."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.gds.calls import Owner
from pgs_neo4j.gds.client import GDS

if TYPE_CHECKING:
    from graphdatascience.graph.graph_api import Graph

PREFIX = "pgs_"
NAME_PATTERN = f"{PREFIX}[0-9a-f]{{8}}_[0-9]+_[0-9a-f]{{8}}"
CLEAN_UP_S = 4.0


def digest(graph: str) -> str:
    """A graph's name in 8 letters that any name of a label or a projection may hold."""
    return blake2b(graph.encode(), digest_size=4).hexdigest()


def new_name(gds: GDS) -> str:
    """A name that tells whose graph and which fence of its lease a projection belongs to."""
    owner = gds.owner or Owner("", 0)
    return f"{_prefix(owner.graph)}{owner.fence}_{uuid4().hex[:8]}"


@asynccontextmanager
async def projection(gds: GDS, query: str, **params: object) -> AsyncIterator[Graph | None]:
    """What a statement projects, None when it found nothing to project; dropped at the end."""
    name = new_name(gds)
    text = queries.get(query).text

    def work() -> Graph | None:
        made = gds.runner.project(text, {"name": name, **params})
        return gds.client.graph.get(name) if made else None

    async with dropped(gds, name):
        yield await gds.run(work)


@asynccontextmanager
async def dropped(gds: GDS, name: str) -> AsyncIterator[None]:
    """Drop a projection at the end, if it was made."""
    try:
        yield
    finally:
        # What cannot be dropped now is left to drop_leftovers: a result, or the error
        # that ended the work, is worth more than a complaint about cleaning up.
        with suppress(DatabaseError):
            await to_the_end(_drop(gds, [name]))


async def leftovers(gds: GDS, older_than_s: float = 0.0, graph: str | None = None) -> list[str]:
    """Names of projections of ours, of one graph or all, that are at least that old."""
    rows = await gds.db.read(
        queries.get("gds/read_projections"),
        prefix=PREFIX if graph is None else _prefix(graph),
        pattern=NAME_PATTERN,
        older_than_s=older_than_s,
    )
    return list(rows[0]["names"])


async def drop_leftovers(gds: GDS, owner: Owner) -> list[str]:
    """End what jobs before this one still run on its graph, drop what they left in the
    catalog, and tell the names.

    The catalog is the user's own, so other users' jobs are not seen.
    """
    query = queries.get("gds/terminate_owned")
    await gds.db.call(query.text, {"graph": owner.graph, "fence": owner.fence}, "read", CLEAN_UP_S)
    names = [
        name
        for name in await leftovers(gds, graph=owner.graph)
        if int(name.split("_")[2]) < owner.fence
    ]
    await _drop(gds, names)
    return names


async def _drop(gds: GDS, names: list[str]) -> None:
    query = queries.get("gds/drop_projections")
    await gds.db.call(query.text, {"names": names}, "read", CLEAN_UP_S)


def _prefix(graph: str) -> str:
    return f"{PREFIX}{digest(graph)}_"
