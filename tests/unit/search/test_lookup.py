"""An order of a lookup is data: what it searches first, and how far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.search.lookup import look_up
from pgs_neo4j.search.lookup_order import LookupOrder
from pgs_neo4j.text.matching import SearchResult, SearchTerms
from tests.fakes.database import FakeDatabase

ORDER = LookupOrder(
    mapping=GraphMapping(labels=("Note",), text=("text", "more"), title="text"),
    generation="g1",
    partitions=tuple(
        Partition(id=n, uid=f"g1:{n}", size=10, tokens=100, texts=10) for n in (1, 2, 3)
    ),
    first=frozenset({3}),
)


def test_a_property_that_is_text_and_title_is_searched_once() -> None:
    assert [own["property"] for own in ORDER.properties] == ["text", "more"]


@pytest.mark.parametrize(
    ("bounds", "fitting"),
    [
        ({}, [3, 1, 2]),
        ({"max_nodes": 20}, [3, 1]),
        ({"max_tokens": 250}, [3, 1]),
        ({"max_nodes": 9}, []),
    ],
)
def test_a_scan_reads_no_partition_beyond_its_bounds(
    bounds: dict[str, int], fitting: list[int]
) -> None:
    order = replace(ORDER, **bounds)
    assert [partition.id for partition in order.fitting] == fitting
    assert order.fits is (len(fitting) == 3)


async def test_nothing_to_search_reads_nothing() -> None:
    db: Any = FakeDatabase()
    asked = [SearchTerms((), 0), SearchTerms(("ammonia",), 2)]
    assert await look_up(db, ORDER, asked) == dict.fromkeys(asked, SearchResult())
    textless, search = replace(ORDER, mapping=GraphMapping()), SearchTerms(("ammonia",), 1)
    assert await look_up(db, textless, [search]) == {search: SearchResult()}
    assert await look_up(db, ORDER, []) == {}
    assert db.sent == []
