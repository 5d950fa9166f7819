"""A generation is read with all of its partitions or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.model import Generation
from pgs_neo4j.pgs.partitioning.result import (
    KnownGenerations,
    add_centroids,
    read_current,
    read_generation,
    read_partitions_of,
)
from tests.fakes.database import FakeDatabase, Row
from tests.unit.pgs.partitioning.conftest import generation_of_sizes, partition, stored_partitions

CURRENT = generation_of_sizes(3, 2)


def database(current: Generation | None = CURRENT, partitions: int = 2) -> Any:
    answers = stored_partitions(CURRENT, partitions)
    if current is None:
        answers["read_current"] = []
    rows: Any = answers["read_current"]
    answers["read_fences"] = [fences("t1")]
    return FakeDatabase(generation_by_id=[{"graph": "papers"} | row for row in rows], **answers)


def fences(token: str, **deletion: Any) -> Row:
    none = {"raised": None, "former": None, "runs": None, "sizes": None, "ended": False}
    return {"token": token} | none | deletion


@pytest.mark.parametrize("partitions", [0, 1, 3])
async def test_partitions_that_do_not_add_up_are_refused_and_not_kept(partitions: int) -> None:
    known = KnownGenerations()
    with pytest.raises(DatabaseError, match="graph papers were deleted"):
        await read_current(database(partitions=partitions), "papers", centroids=False, known=known)
    assert not known.partitions.values


async def test_a_generation_that_is_gone_is_refused() -> None:
    with pytest.raises(DatabaseError, match="were deleted"):
        await read_generation(database(None), "g9")
    with pytest.raises(DatabaseError, match="graph papers"):
        await read_partitions_of(database(), "papers", None)


async def test_centroids_are_added_by_uid() -> None:
    rows = [{"uid": "g1:2", "centroid": None}, {"uid": "g1:1", "centroid": [0.5, 1.0]}]
    db: Any = FakeDatabase(read_centroids=rows)
    parts = [partition(1), partition(2)]
    first, second = await add_centroids(db, "papers", parts)
    assert db.params("read_centroids") == [{"uids": ["g1:1", "g1:2"]}]
    assert first.centroid is not None
    assert first.centroid.dtype == np.float32
    assert first.centroid.tolist() == [0.5, 1.0]
    assert [replace(first, centroid=None), second] == parts


async def test_centroids_of_a_partition_that_is_gone_are_refused() -> None:
    db: Any = FakeDatabase(read_centroids=[{"uid": "g1:1", "centroid": None}])
    with pytest.raises(DatabaseError, match="graph papers were deleted"):
        await add_centroids(db, "papers", [partition(1), partition(2)])


async def test_an_engine_reads_the_partitions_of_a_generation_once() -> None:
    db, known = database(), KnownGenerations()
    first = await read_current(db, "papers", centroids=False, known=known)
    again = await read_generation(db, "g1", centroids=False, known=known)
    assert first is not None
    assert (first.generation, first.reused) == (CURRENT, True)
    assert again.partitions is first.partitions
    assert len(db.params("read_partitions")) == 1
    await read_current(db, "papers", known=known)  # with centroids, they are others
    await read_generation(db, "g1")
    sent = [params["centroids"] for params in db.params("read_partitions")]
    assert sent == [False, True, True]


async def test_known_partitions_of_a_deleted_generation_are_not_used() -> None:
    known = KnownGenerations()
    known.partitions.keep("g1 t1", (partition(1), partition(2)))
    assert await read_current(database(None), "papers", centroids=False, known=known) is None
    with pytest.raises(DatabaseError, match="were deleted"):
        await read_generation(database(None), "g1", centroids=False, known=known)


async def test_what_is_known_is_read_again_after_a_deletion_and_during_one() -> None:
    db, known = database(), KnownGenerations()
    await read_current(db, "papers", centroids=False, known=known)
    db.answers["read_fences"] = [fences("t2", raised="t2", runs=b"", sizes=[])]
    for _ in range(2):
        await read_current(db, "papers", centroids=False, known=known)
    assert len(db.params("read_partitions")) == 3
    db.answers["read_fences"] = [fences("t2")]
    for _ in range(2):
        await read_current(db, "papers", centroids=False, known=known)
    assert len(db.params("read_partitions")) == 4
