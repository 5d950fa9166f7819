"""Generations in the database: written in batches, and given up when the lease is lost."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.database.lease import Lease
from pgs_neo4j.errors import LeaseLostError
from pgs_neo4j.model import Unit
from pgs_neo4j.partitioning import generation
from pgs_neo4j.partitioning.rows import generation_properties, partition_row
from tests.fakes.database import FakeDatabase
from tests.unit.partitioning.conftest import generation_of_sizes, partition

LEASE = Lease(graph="papers", holder="here", fence=7)


def written(params: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"written": len(params["rows"])}]


async def test_a_generation_begins_under_the_fence_of_its_lease() -> None:
    db: Any = FakeDatabase(create_generations=[{"id": "g2"}])
    await generation.begin(db, LEASE, "g2", {"algorithm": "louvain"})
    assert db.params("create_generations") == [
        {"graph": "papers", "fence": 7, "id": "g2", "properties": {"algorithm": "louvain"}}
    ]


async def test_without_a_row_the_lease_is_lost() -> None:
    db: Any = FakeDatabase()
    with pytest.raises(LeaseLostError):
        await generation.begin(db, LEASE, "g2", {})
    with pytest.raises(LeaseLostError):
        await generation.make_current(db, "papers", "g2", {})
    with pytest.raises(LeaseLostError):
        await generation.write_partitions(db, "papers", "g2", [partition(1)])
    with pytest.raises(LeaseLostError):
        await generation.share(db, "papers", "g1", "g2", [1])


async def test_partitions_are_written_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "PARTITION_BATCH", 2)
    db: Any = FakeDatabase(write_partitions=written)
    await generation.write_partitions(db, "papers", "g2", [partition(n) for n in (1, 2, 3)])
    batches = [[row["id"] for row in params["rows"]] for params in db.params("write_partitions")]
    assert batches == [[1, 2], [3]]


async def test_a_batch_that_was_written_in_part_loses_the_lease() -> None:
    db: Any = FakeDatabase(write_adjacents=[{"written": 1}])
    with pytest.raises(LeaseLostError):
        links = [("g1:1", "g1:2", 3, 1.5), ("g1:2", "g1:1", 3, 1.5)]
        await generation.write_adjacents(db, "papers", "g2", links)


async def test_links_name_both_ends_and_what_they_share() -> None:
    db: Any = FakeDatabase(write_adjacents=written)
    await generation.write_adjacents(db, "papers", "g2", [("g1:1", "g1:2", 3, 1.5)])
    (params,) = db.params("write_adjacents")
    assert params["rows"] == [{"source": "g1:1", "target": "g1:2", "edges": 3, "weight": 1.5}]


async def test_units_are_written_with_links_to_the_level_above() -> None:
    db: Any = FakeDatabase(write_partitions=written, write_parents=written)
    parts = [partition(1, parent=1), partition(2, parent=1), partition(3)]
    units = [
        Unit(id=1, level=1, size=2, partitions=2, parent=1),
        Unit(id=1, level=2, size=2, partitions=2),
    ]
    await generation.write_units(db, "papers", "g2", parts, units)
    (params,) = db.params("write_parents")
    assert params["rows"] == [
        {"child": "g1:1", "parent": "g2:1:1"},
        {"child": "g1:2", "parent": "g2:1:1"},
        {"child": "g2:1:1", "parent": "g2:2:1"},
    ]


async def test_partitions_are_shared_by_id() -> None:
    db: Any = FakeDatabase(write_shared=[{"shared": 2}])
    await generation.share(db, "papers", "g1", "g2", {1, 3})
    (params,) = db.params("write_shared")
    assert sorted(params["partitions"]) == [1, 3]
    with pytest.raises(LeaseLostError):
        await generation.share(db, "papers", "g1", "g2", {1, 2, 3})


async def test_generations_and_partitions_are_read_back() -> None:
    stored = {"id": "g1", "created_at": "2026-01-02T03:04:05Z"}
    whole = generation_of_sizes(3, 2)
    stored |= generation_properties(whole)
    row: Any = {"partition": partition_row(partition(1, 3)), "adjacent": [], "parent": None}
    db: Any = FakeDatabase(
        read_current=[{"generation": stored}],
        generation_by_id=[{"graph": "papers", "generation": stored}],
        read_partitions=[{"partitions": [row]}],
    )
    assert await generation.read_current(db, "papers") == whole
    assert await generation.read(db, "g1") == whole
    (part,) = await generation.read_partitions(db, "g1")
    assert (part.id, part.size) == (1, 3)


async def test_what_is_not_there_is_none() -> None:
    db: Any = FakeDatabase()
    assert await generation.read_current(db, "papers") is None
    assert await generation.read(db, "g9") is None
    assert await generation.read_units(db, "g9") == []


@pytest.mark.parametrize(
    ("rows", "deleted"), [([], []), ([{"ids": []}], []), ([{"ids": ["g1"]}], ["g1"])]
)
async def test_only_what_was_marked_is_deleted(rows: Any, deleted: list[str]) -> None:
    db: Any = FakeDatabase(
        mark_disposable=rows,
        mark_abandoned=rows,
        read_disposable=[{"uids": [], "members": []}],
    )
    await generation.prune(db, "papers", 3)
    await generation.abandon(db, "g1")
    wanted = [{"generations": deleted}] * 2 if deleted else []
    assert db.params("delete_generations") == wanted


async def test_members_are_detached_before_their_generation_goes() -> None:
    db: Any = FakeDatabase(
        read_generations=[{"ids": ["g1", "g2"]}],
        read_disposable=[{"uids": ["g1:1"], "members": [3]}],
    )
    await generation.delete_all(db, "papers")
    assert [name for name, _ in db.sent] == [
        "read_generations",
        "read_disposable",
        "delete_members",
        "delete_generations",
        "delete_segments",
    ]


@pytest.mark.parametrize(("keep", "surplus"), [(1, True), (2, False), (3, False)])
async def test_surplus_is_what_exceeds_the_number_to_keep(keep: int, surplus: bool) -> None:
    db: Any = FakeDatabase(read_generations=[{"ids": ["g1", "g2"]}])
    assert await generation.has_surplus(db, "papers", keep) is surplus


async def test_a_valid_generation_takes_the_token() -> None:
    db: Any = FakeDatabase()
    await generation.verify(db, "g1", None)
    assert db.params("set_verified") == [{"generation": "g1", "token": None}]
