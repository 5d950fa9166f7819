"""Generations in the database: written in batches, and given up when the lease is lost."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.database.lease import Lease
from pgs_neo4j.errors import LeaseLostError
from pgs_neo4j.pgs.partitioning import generation
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import partition

LEASE = Lease(graph="papers", holder="here", fence=7)


@pytest.mark.parametrize("written", [[], [{"written": 1, "shared": 1}]], ids=["none", "in part"])
async def test_what_is_not_written_whole_loses_the_lease(written: list[dict[str, Any]]) -> None:
    def rows(*names: str) -> list[dict[str, Any]]:
        return [{name: row[name] for name in names} for row in written]

    db: Any = FakeDatabase(
        write_partitions=rows("written"),
        write_adjacents=rows("written"),
        write_shared=rows("shared"),
    )
    links = [("g1:1", "g1:2", 3, 1.5), ("g1:2", "g1:1", 3, 1.5)]
    for write in (
        generation.begin(db, LEASE, "g2", {}),
        generation.make_current(db, "papers", "g2", {}),
        generation.write_partitions(db, "papers", "g2", [partition(1), partition(2)]),
        generation.write_adjacents(db, "papers", "g2", links),
        generation.share(db, "papers", "g1", "g2", {1, 3}),
    ):
        with pytest.raises(LeaseLostError):
            await write


async def test_partitions_are_written_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "PARTITION_BATCH", 2)
    db: Any = FakeDatabase(write_partitions=lambda params: [{"written": len(params["rows"])}])
    await generation.write_partitions(db, "papers", "g2", [partition(n) for n in (1, 2, 3)])
    batches = [[row["id"] for row in params["rows"]] for params in db.params("write_partitions")]
    assert batches == [[1, 2], [3]]


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
