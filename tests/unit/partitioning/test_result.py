"""A generation is read with all of its partitions or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.model import Generation
from pgs_neo4j.partitioning.result import read_current, read_generation, read_partitions_of
from pgs_neo4j.partitioning.rows import generation_properties, partition_row
from tests.fakes.database import FakeDatabase
from tests.unit.partitioning.conftest import generation_of_sizes, partition

CURRENT = generation_of_sizes(3, 2)


def database(current: Generation | None = CURRENT, partitions: int = 2) -> Any:
    rows = []
    if current is not None:
        stored = {"id": current.id, "created_at": current.created_at}
        rows = [{"generation": stored | generation_properties(current)}]
    return FakeDatabase(
        read_current=rows,
        generation_by_id=[{"graph": "papers"} | row for row in rows],
        read_partitions=[
            {"partition": partition_row(partition(n)), "adjacent": [], "parent": None}
            for n in range(1, partitions + 1)
        ],
    )


async def test_the_current_generation_comes_with_its_partitions() -> None:
    result = await read_current(database(), "papers")
    assert result is not None
    assert result.generation == CURRENT
    assert [part.id for part in result.partitions] == [1, 2]
    assert (result.reused, result.seconds, result.steps, result.drift) == (True, 0.0, {}, None)


async def test_before_the_first_there_is_none() -> None:
    assert await read_current(database(None), "papers") is None


@pytest.mark.parametrize("partitions", [0, 1, 3])
async def test_partitions_that_do_not_add_up_are_refused(partitions: int) -> None:
    with pytest.raises(DatabaseError, match="graph papers were deleted"):
        await read_current(database(partitions=partitions), "papers")


async def test_a_generation_is_read_by_id_with_its_graph() -> None:
    db = database()
    result = await read_generation(db, "g1")
    assert result.generation.graph == "papers"
    assert db.params("generation_by_id") == [{"generation": "g1"}]


async def test_a_generation_that_is_gone_is_refused() -> None:
    with pytest.raises(DatabaseError, match="were deleted"):
        await read_generation(database(None), "g9")
    with pytest.raises(DatabaseError, match="graph papers"):
        await read_partitions_of(database(), "papers", None)
