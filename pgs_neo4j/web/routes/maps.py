"""The map of a graph: where its partitions stand, and what of them a session has read."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from pgs_neo4j.errors import UnknownPartitionError
from pgs_neo4j.model import (
    GraphDrift,
    PartitionAnalogy,
    PartitionFlag,
    PartitionMap,
    PartitionReading,
)
from pgs_neo4j.web.routes.router import GraphName, api_router
from pgs_neo4j.web.shared import AskerNow, CallerNow, Serving, ServingNow, visible_graph

router = api_router("partitions")

Within = Annotated[
    int | None, Query(ge=1, le=10**9, description="a unit of the map, to show its partitions")
]


@router.get("/graphs/{graph}/map")
async def show_map(
    graph: GraphName,
    serving: ServingNow,
    caller: CallerNow,
    within: Within = None,
) -> PartitionMap:
    """Return the map of the current generation. Large graphs show units of partitions first."""
    return await serving.drawings.find(await visible_graph(serving, caller, graph), within)


@router.get("/graphs/{graph}/read")
async def list_read(
    graph: GraphName,
    serving: ServingNow,
    caller: CallerNow,
    session: Annotated[str, Query(min_length=1, max_length=400)] = "default",
) -> list[PartitionReading]:
    """Return how much of each current partition a session of the caller has read, or was shown."""
    name = await visible_graph(serving, caller, graph)
    return list(await serving.pgs.browse.reading(name, caller.stored_session(session)))


@router.get("/graphs/{graph}/analogies")
async def list_analogies(
    graph: GraphName, serving: ServingNow, caller: CallerNow
) -> list[PartitionAnalogy]:
    """Return the pairs of current partitions that analogies link, most links first."""
    return list(await serving.pgs.browse.analogies(await visible_graph(serving, caller, graph)))


@router.get("/graphs/{graph}/flags")
async def list_flags(
    graph: GraphName,
    serving: ServingNow,
    caller: CallerNow,
    session: Annotated[str, Query(min_length=1, max_length=400)] = "default",
) -> list[PartitionFlag]:
    """Return the flags of a session of the caller between current partitions."""
    name = await visible_graph(serving, caller, graph)
    return list(await serving.pgs.browse.flags(name, caller.stored_session(session)))


@router.get("/graphs/{graph}/drift")
async def show_drift(graph: GraphName, serving: ServingNow, caller: AskerNow) -> GraphDrift:
    """Return how far each current partition has moved. The graph may have to be scanned."""
    name = await visible_graph(serving, caller, graph)
    async with serving.scanning:
        return await serving.pgs.browse.drift(name)


async def partitions_within(serving: Serving, graph: str, unit: int) -> set[int]:
    """Return the ids of the partitions beneath a unit of the map. Raises UnknownPartitionError."""
    drawn = await serving.drawings.find(graph)
    place = next((one for one in drawn.places if drawn.level and one.id == unit), None)
    if place is None:
        raise UnknownPartitionError(
            f"the map shows no unit {unit}; 'GET /api/graphs/{graph}/map' lists them"
        )
    return set(place.partitions)
