"""Partitions of a new generation: written once, or shared with the one before."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.model import Adjacent
from pgs_neo4j.partitioning import writing
from pgs_neo4j.partitioning.membership import Membership
from pgs_neo4j.partitioning.writing import Described, SharedPartitions
from tests.unit.partitioning.conftest import (
    build_order,
    build_tools,
    generation_of_sizes,
    ints,
    partition,
    view_of,
)

MEMBERS = Membership(
    ints(1, 2, 3, 4), ints(1, 1, 2, 2), ints(0, 1, 0, 1), ints(1, 2, 3, 4), ints(0, 0, 0, 0)
)
PARTS = [
    partition(1, 2, keywords=("ice",), adjacent=(Adjacent(2, 3, 1.5),)),
    partition(2, 2, uid="g2:2", adjacent=(Adjacent(1, 3, 1.5),)),
]
ORDER = build_order()
SHARED = SharedPartitions(generation_of_sizes(2, 2, common=("data",)), frozenset({1}))


def counted(params: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"written": len(params["rows"])}]


ANSWERS: dict[str, Any] = {
    "write_partitions": counted,
    "write_adjacents": counted,
    "write_parents": counted,
    "write_shared": lambda params: [{"shared": len(params["partitions"])}],
    "write_members": lambda params: [{"generation": "g2", "attached": len(params["rows"])}],
    "read_member_count": [{"members": 4}],
    "read_texts": lambda params: [
        {
            "ids": params["ids"],
            "titles": [[None]] * len(params["ids"]),
            "texts": [["courts decide"]] * len(params["ids"]),
        }
    ],
}


async def test_all_partitions_of_a_first_generation_are_written() -> None:
    tools = build_tools(**ANSWERS)
    assert await writing.write(ORDER, tools, PARTS, MEMBERS, None)
    db: Any = tools.db
    assert [row["id"] for row in db.params("write_partitions")[0]["rows"]] == [1, 2]
    assert [row["uid"] for row in db.params("write_members")[0]["rows"]] == ["g1:1", "g2:2"]
    assert db.params("write_shared") == []


async def test_shared_partitions_are_neither_written_nor_attached_again() -> None:
    tools = build_tools(**ANSWERS)
    assert await writing.write(ORDER, tools, PARTS, MEMBERS, SHARED)
    db: Any = tools.db
    assert db.params("write_shared") == [{"source": "g1", "generation": "g2", "partitions": [1]}]
    assert [row["id"] for row in db.params("write_partitions")[0]["rows"]] == [2]
    assert [row["nodes"] for row in db.params("write_members")[0]["rows"]] == [[3, 4]]


async def test_links_join_shared_and_new_partitions_by_their_own_keys() -> None:
    tools = build_tools(**ANSWERS)
    await writing.write(ORDER, tools, PARTS, MEMBERS, SHARED)
    db: Any = tools.db
    assert db.params("write_adjacents")[0]["rows"] == [
        {"source": "g1:1", "target": "g2:2", "edges": 3, "weight": 1.5},
        {"source": "g2:2", "target": "g1:1", "edges": 3, "weight": 1.5},
    ]


async def test_nothing_to_share_is_not_asked_for() -> None:
    tools = build_tools(**ANSWERS)
    nothing = SharedPartitions(SHARED.generation, frozenset())
    assert await writing.write(ORDER, tools, PARTS, MEMBERS, nothing)
    db: Any = tools.db
    assert db.params("write_shared") == []


async def test_a_node_that_vanished_is_noticed() -> None:
    tools = build_tools(**(ANSWERS | {"read_member_count": [{"members": 3}]}))
    assert not await writing.write(ORDER, tools, PARTS, MEMBERS, None)


async def test_only_new_partitions_are_described_and_units_over_all() -> None:
    tools = build_tools(**ANSWERS)
    described = await writing.describe(
        ORDER, tools, view_of([1, 2, 3, 4]), MEMBERS, PARTS, [ints(0, 0)], SHARED
    )
    assert [part.id for part in described.partitions] == [1, 2]
    assert described.partitions[0].keywords == ("ice",)
    assert set(described.partitions[1].keywords) == {"courts", "decide"}
    assert [(unit.level, unit.size) for unit in described.units] == [(1, 4)]
    assert described.common == ("data",)
    db: Any = tools.db
    assert [params["ids"] for params in db.params("read_texts")] == [[3, 4]]


@pytest.mark.parametrize(
    ("centroids", "dimensions"), [([None, None], None), ([None, 3], 3), ([2, None], 2)]
)
def test_the_first_centroid_tells_the_dimensions(
    centroids: list[int | None], dimensions: int | None
) -> None:
    parts = [
        partition(n, centroid=None if size is None else ints(*range(size)))
        for n, size in enumerate(centroids, start=1)
    ]
    assert Described(parts, (), ()).dimensions == dimensions
