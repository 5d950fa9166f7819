"""Routes for the partitions, generations, and map of a graph, and for what sessions have read."""

from __future__ import annotations

from collections.abc import Sequence
from string import printable
from typing import Annotated
from urllib.parse import quote

from fastapi import Path, Query, Response
from pydantic import BaseModel

from pgs_neo4j.errors import (
    BudgetError,
    DatabaseUnavailableError,
    UnknownPageError,
    UnknownPartitionError,
)
from pgs_neo4j.model import (
    Generation,
    GraphDrift,
    LineageChange,
    Partition,
    PartitionAnalogy,
    PartitionFlag,
    PartitionMap,
    PartitionReading,
)
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.text.shown import one_line
from pgs_neo4j.web.routes.router import GraphName, Responses, api_router, failing
from pgs_neo4j.web.shared import AskerNow, CallerNow, Serving, ServingNow, visible_graph

router = api_router("partitions")
NOTE_HEADER = "PGS-Note"
"""The header with notes on a list of results, such as that the graph has changed."""
NOTED: Responses = {
    200: {
        "headers": {
            NOTE_HEADER: {
                "description": "A note on the results, such as that the graph has changed since it "
                "was partitioned; once for each note, absent without one. Characters beyond ASCII "
                "and the percent sign are percent-encoded as UTF-8.",
                "schema": {"type": "string"},
            }
        }
    }
}
PLAIN = printable.replace("%", "")  # characters of a header that need no encoding
PartitionId = Annotated[int, Path(ge=1, le=10**9)]
GenerationId = Annotated[str, Query(min_length=1, max_length=100, description="id of one")]
Within = Annotated[
    int | None, Query(ge=1, le=10**9, description="a unit of the map, to show its partitions")
]


class Border(BaseModel):
    """A partition that relationships lead to, and their weight."""

    partition: int
    relationships: int
    weight: float


class ListedPartition(BaseModel):
    """A partition as the map draws it."""

    id: int
    label: str
    nodes: int
    tokens: int
    texts: int | None
    pool: bool
    parent: int | None
    lineage: str
    keywords: tuple[str, ...]
    titles: tuple[str, ...]
    abstract: str
    adjacent: list[Border]


class PartitionPage(BaseModel):
    """Some partitions, and how many there are. ``after`` leads to the next page, null at the end.

    Pages of another ``generation`` do not fit together.
    """

    generation: str
    total: int
    partitions: list[ListedPartition]
    after: int | None


class ShownPartition(ListedPartition):
    """A partition with all that is known of it; ``labels`` are those of its neighbors by id."""

    terms: tuple[str, ...]
    gist: str
    labels: dict[int, str]


class FoundPartition(BaseModel):
    """A partition that some words lead to; the best one has the score 1."""

    id: int
    label: str
    nodes: int
    score: float


@router.get("/graphs/{graph}/partitions")
async def list_partitions(
    graph: GraphName,
    serving: ServingNow,
    caller: CallerNow,
    within: Within = None,
    after: Annotated[
        int | None, Query(ge=1, le=10**9, description="`after` of the previous page")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> PartitionPage:
    """Return a page of the current partitions of a graph, largest first."""
    name = await visible_graph(serving, caller, graph)
    generation = (await serving.pgs.partitions.generation(name)).id
    parts = await serving.pgs.partitions(name)
    if within is not None:
        beneath = await partitions_within(serving, name, within)
        parts = tuple(part for part in parts if part.id in beneath)
    page, more = _cut_page(parts, after, limit)
    return PartitionPage(
        generation=generation,
        total=len(parts),
        partitions=[_make_entry(part) for part in page],
        after=page[-1].id if more else None,
    )


@router.get("/graphs/{graph}/partitions/search", responses=NOTED | failing(BudgetError))
async def search_partitions(
    graph: GraphName,
    serving: ServingNow,
    caller: CallerNow,
    q: Annotated[str, Query(min_length=1, max_length=2000, description="words to look for")],
    response: Response,
) -> list[FoundPartition]:
    """Return the partitions whose texts match some words best.

    Header ``PGS-Note`` says so if the graph has changed since it was partitioned.
    """
    name = await visible_graph(serving, caller, graph)
    parts = {part.id: part for part in await serving.pgs.partitions(name)}
    found = await serving.pgs.search(
        q, graph=name, mode="global", top_k=1, sessions_of=caller.own_prefix
    )
    if failed := [path.error for path in found.paths if path.name == "units" and path.error]:
        raise DatabaseUnavailableError(f"the partitions were not searched: {failed[0]}; try again")
    for note in found.warnings:
        response.headers.append(NOTE_HEADER, quote(one_line(note), safe=PLAIN))
    return [
        FoundPartition(id=unit.id, label=unit.label, nodes=unit.size, score=unit.score)
        for unit in found.units
        if unit.level == 0 and unit.id in parts
    ]


@router.get("/graphs/{graph}/partitions/{partition}")
async def show_partition(
    graph: GraphName, partition: PartitionId, serving: ServingNow, caller: CallerNow
) -> ShownPartition:
    """Return a current partition: what it is about, and what it borders on."""
    name = await visible_graph(serving, caller, graph)
    parts = {part.id: part for part in await serving.pgs.partitions(name)}
    part = parts.get(partition)
    if part is None:
        raise UnknownPartitionError(
            f"graph {name} has no partition {partition}; it has {len(parts):,}"
        )
    labels = {one.id: parts[one.id].label for one in part.adjacent if one.id in parts}
    return ShownPartition(
        **_make_entry(part).model_dump(),
        terms=part.terms,
        gist=part.gist,
        labels=labels,
    )


@router.get("/graphs/{graph}/generations")
async def list_generations(graph: GraphName, serving: ServingNow, caller: CallerNow) -> list[Json]:
    """Return the stored generations of a graph with their figures, the latest first.

    One that another program has damaged comes last: ``damaged`` says why it has no figures.
    """
    name = await visible_graph(serving, caller, graph)
    return [_show_figures(one) for one in await serving.pgs.partitions.generations(name)]


@router.get("/graphs/{graph}/generations/compare")
async def compare_generations(
    graph: GraphName,
    serving: ServingNow,
    caller: CallerNow,
    before: GenerationId,
    after: GenerationId,
) -> list[LineageChange]:
    """Return what became of each partition between two generations, the largest first."""
    name = await visible_graph(serving, caller, graph)
    return list(await serving.pgs.partitions.compare(before, after, name))


@router.get("/graphs/{graph}/generation")
async def show_generation(graph: GraphName, serving: ServingNow, caller: CallerNow) -> Json:
    """Return the current generation of a graph with its figures."""
    name = await visible_graph(serving, caller, graph)
    generation: Generation = await serving.pgs.partitions.generation(name)
    return _show_figures(generation)


def _cut_page(
    parts: Sequence[Partition], after: int | None, limit: int
) -> tuple[Sequence[Partition], bool]:
    """Return the page after the partition ``after``, and whether there are more.

    Raises UnknownPageError if this partition is not listed.
    """
    start = 0
    if after is not None:
        places = (place for place, part in enumerate(parts, 1) if part.id == after)
        start = next(places, 0)
        if not start:
            raise UnknownPageError(
                f"partition {after} is not listed any more; begin without 'after'"
            )
    return parts[start : start + limit], len(parts) > start + limit


def _show_figures(generation: Generation) -> Json:
    return {str(key): value for key, value in plain_data(generation).items() if key != "token"}


def _make_entry(part: Partition) -> ListedPartition:
    names = ("id", "label", "tokens", "texts", "pool", "parent", "lineage", "keywords", "titles")
    return ListedPartition(
        nodes=part.size,
        abstract=part.abstract,
        adjacent=[
            Border(partition=one.id, relationships=one.edges, weight=one.weight)
            for one in part.adjacent
        ],
        **{name: getattr(part, name) for name in names},
    )


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
