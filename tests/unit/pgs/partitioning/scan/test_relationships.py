"""Relationships as they arrive: placed among the nodes, and hashed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.events import Event, Progressed
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.scan import (
    Relationships,
    place_lookup,
    read_edges,
    scan_relationships,
)
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import ints

DENSE, SPARSE = ints(0, 1, 3, 4), ints(5, 10_000, 2_000_000)
MAPPING = GraphMapping(relationship_types=("CITES",), relationship_weight="w")


@pytest.mark.parametrize("ids", [DENSE, SPARSE, ints(7)], ids=["dense", "sparse", "single"])
def test_each_id_is_found_at_its_place(ids: Any) -> None:
    assert place_lookup(ids)(ids).tolist() == list(range(len(ids)))


@pytest.mark.parametrize("ids", [DENSE, SPARSE], ids=["dense", "sparse"])
def test_an_id_that_is_missing_has_no_place(ids: Any) -> None:
    assert place_lookup(ids)(ints(2, 6, 9_999, 3_000_000)).tolist() == [-1] * 4


def edges(**changes: Any) -> Relationships:
    row: Any = {
        "type": "CITES",
        "sources": [1, 3, 4],
        "targets": [3, 4, 99],
        "weights": [0.5, float("nan"), 1.0],
    } | changes
    return read_edges(row, place_lookup(DENSE))


def test_relationships_that_leave_the_view_are_dropped() -> None:
    inside = edges()
    assert (inside.source.tolist(), inside.target.tolist()) == ([1, 2], [2, 3])
    assert inside.weight[0] == 0.5
    assert np.isnan(inside.weight[1])
    assert len(inside.hash) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "LINKS"},
        {"sources": [0, 3, 4]},
        {"targets": [4, 4, 99]},
        {"weights": [0.25, float("nan"), 1.0]},
    ],
    ids=["type", "source", "target", "weight"],
)
def test_each_part_of_a_relationship_is_in_its_hash(changes: dict[str, Any]) -> None:
    assert edges().hash[0] != edges(**changes).hash[0]


def test_every_form_of_nan_hashes_alike() -> None:
    other = float(np.array([0xFFF8000000000001], dtype=np.uint64).view(np.float64)[0])
    assert np.isnan(other)
    odd = edges(weights=[0.5, other, 1.0])
    assert odd.hash.tolist() == edges().hash.tolist()


async def test_rows_of_all_types_are_joined_and_counted() -> None:
    rows = [
        {"type": "A", "sources": [0, 1], "targets": [1, 3], "weights": [1.0, 2.0]},
        {"type": "B", "sources": [3], "targets": [4], "weights": [3.0]},
    ]
    db: Any = FakeDatabase(read_relationships=rows)
    events: list[Event] = []
    found = await scan_relationships(db, MAPPING, DENSE, events.append)
    assert found.weight.tolist() == [1.0, 2.0, 3.0]
    assert found.target.tolist() == [1, 2, 3]
    assert events[-1] == Progressed("partition", 3, 0, "relationships scanned")
    (params,) = db.params("read_relationships")
    assert params == {"ids": [0, 1, 3, 4], "types": ["CITES"], "weight": "w"}
