"""Partitions come in pages, the largest first, also those of one unit of the map."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest

from pgs_neo4j.engine.browse.maps import MOST_PLACES, draw_map
from pgs_neo4j.model import Partition, PartitionMap, Unit
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.callers import Caller
from tests.fakes.records import StoredGraphs
from tests.in_process import in_process, serving_of

PATH = "/api/graphs/papers/partitions"
COUNT = MOST_PLACES + 5
"""So many that the map shows units first."""


def part(id_: int) -> Partition:
    """A partition; those of higher ids are smaller, and every second one is of unit 1."""
    return Partition(id=id_, size=COUNT - id_ + 1, tokens=1, keywords=(), parent=id_ % 2 + 1)


PARTS = tuple(part(id_) for id_ in range(1, COUNT + 1))
UNITS = tuple(Unit(level=1, id=id_, size=9, partitions=500, label=f"unit {id_}") for id_ in (1, 2))


class Partitions:
    """Many partitions of one generation."""

    async def __call__(self, graph: str) -> tuple[Partition, ...]:
        return PARTS

    async def generation(self, graph: str) -> Any:
        return SimpleNamespace(id="g1")


async def draw(graph: str, *, within: int | None, store: bool) -> PartitionMap:
    return draw_map("g1", PARTS, UNITS, within)


@pytest.fixture
async def web() -> AsyncIterator[httpx2.AsyncClient]:
    engine = SimpleNamespace(
        partitions=Partitions(),
        graphs=StoredGraphs(),
        browse=SimpleNamespace(map=draw),
    )
    serving = serving_of(engine, Caller("ann", "reader", True))
    async with in_process(serving, "ann") as client:
        yield client


async def page(web: httpx2.AsyncClient, **query: int) -> Json:
    answer = await web.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    return cast(Json, answer.json())


async def test_pages_hold_all_partitions_once_and_the_last_leads_nowhere(
    web: httpx2.AsyncClient,
) -> None:
    first = await page(web)
    assert [one["id"] for one in first["partitions"]] == [*range(1, 201)]
    assert (first["generation"], first["total"], first["after"]) == ("g1", COUNT, 200)
    ids: list[int] = []
    after: int | None = None
    while True:
        told = await page(web, limit=400, **({} if after is None else {"after": after}))
        ids += [one["id"] for one in told["partitions"]]
        after = told["after"]
        if after is None:
            break
    assert ids == [one.id for one in PARTS]
    last = await page(web, after=COUNT - 10, limit=10)
    assert (len(last["partitions"]), last["after"]) == (10, None)
    beyond = await page(web, after=COUNT)
    assert (beyond["partitions"], beyond["after"]) == ([], None)


async def test_a_unit_has_pages_of_its_own(web: httpx2.AsyncClient) -> None:
    first = await page(web, within=2, limit=3)
    assert [one["id"] for one in first["partitions"]] == [1, 3, 5]
    assert (first["total"], first["after"]) == ((COUNT + 1) // 2, 5)
    then = await page(web, within=2, limit=3, after=5)
    assert [one["id"] for one in then["partitions"]] == [7, 9, 11]


async def test_a_page_that_cannot_be_is_refused(web: httpx2.AsyncClient) -> None:
    for query, status, words in (
        ({"within": 9}, 404, "the map shows no unit 9"),
        ({"within": 2, "after": 2}, 404, "partition 2 is not listed any more"),
        ({"after": 10**6}, 404, "is not listed any more"),
        ({"limit": 0}, 422, "limit"),
        ({"limit": 1001}, 422, "limit"),
        ({"after": -1}, 422, "after"),
        ({"limits": 3}, 422, "limits is unknown; did you mean limit?"),
        ({"offset": 3}, 422, "the names are after, limit, within"),
    ):
        refused = await web.get(PATH, params=query)
        assert (refused.status_code, words in refused.json()["error"]) == (status, True), query
