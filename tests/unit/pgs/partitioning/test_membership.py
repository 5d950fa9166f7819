"""Who belongs where, in which order, and in which portions it is written and read.

Gaps in weights are filled by degree, and ranks follow weight, then index.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.errors import LeaseLostError
from pgs_neo4j.events import Event, Progressed
from pgs_neo4j.pgs.partitioning import membership
from pgs_neo4j.pgs.partitioning.membership import (
    Membership,
    complete_weights,
    count_degrees,
    delete_members,
    join_members,
    members_of,
    rank_by_weight,
    rank_members,
    read_members,
    write_members,
)
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import generation_of_sizes, ints, view_of

# Nodes 1..5; partition 2 holds 2, 4, 5, ranked 5, 2, 4.
MEMBERS = Membership(
    ints(1, 2, 3, 4, 5),
    ints(1, 2, 1, 2, 2),
    ints(1, 1, 0, 2, 0),
    ints(10, 20, 30, 40, 50),
    ints(0, 1, 2, 3, 4),
)


def test_members_rank_by_weight_within_their_partition() -> None:
    view = view_of([3, 5, 8, 9], node_weight=np.array([1.0, 7.0, 2.0, 2.0]))
    members = rank_members(view, ints(0, 1, 0, 0))
    assert members.partition_ids.tolist() == [1, 2, 1, 1]
    assert members.rank.tolist() == [2, 0, 0, 1]
    assert members.nodes is view.ids
    assert members.hash is view.text_hash


def test_without_weights_members_rank_by_degree() -> None:
    view = view_of([1, 2, 3, 4], [(0, 1), (1, 2), (1, 3), (2, 2)])
    assert rank_members(view, ints(0, 0, 0, 0)).rank.tolist() == [1, 0, 2, 3]


async def test_large_partitions_are_written_one_at_a_time_heaviest_nodes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(membership, "MEMBER_BATCH", 2)
    db: Any = FakeDatabase(write_members=[{"generation": "g2", "attached": 1}])
    events: list[Event] = []
    await write_members(db, "papers", "g2", ["a", "b"], MEMBERS, events.append)
    rows = [
        [(r["uid"], r["nodes"]) for r in params["rows"]] for params in db.params("write_members")
    ]
    assert rows == [[("a", [3, 1])], [("b", [5, 2, 4])]]
    assert events == [Progressed("partition", at, 5, "nodes written") for at in (1, 2)]


async def test_an_abandoned_generation_ends_the_writing() -> None:
    db: Any = FakeDatabase(write_members=[])
    with pytest.raises(LeaseLostError):
        await write_members(db, "papers", "g2", ["a", "b"], MEMBERS, lambda event: None)


async def test_members_are_read_in_portions_and_sorted_by_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(membership, "READ_BATCH", 3)

    def rows(params: dict[str, Any]) -> list[dict[str, Any]]:
        part = params["partitions"]
        return [
            {"partition": p, "ids": [9 - p, p], "ranks": [0, 1], "hashes": [p, -p], "facts": [5, 6]}
            for p in part
        ]

    db: Any = FakeDatabase(read_membership=rows)
    members = await read_members(db, generation_of_sizes(2, 2, 2))
    assert [params["partitions"] for params in db.params("read_membership")] == [[1], [2], [3]]
    columns = [getattr(members, field.name).tolist() for field in fields(Membership)]
    assert columns == [
        [1, 2, 3, 6, 7, 8],
        [1, 2, 3, 3, 2, 1],
        [1, 1, 1, 0, 0, 0],
        [-1, -2, -3, 3, 2, 1],
        [6, 6, 6, 5, 5, 5],
    ]


def test_no_rows_are_no_members_of_the_right_type() -> None:
    nothing = join_members([])
    assert len(nothing.nodes) == 0
    assert nothing.partition_ids.dtype == np.int64
    empty = members_of({"partition": 3, "ids": [], "ranks": [], "hashes": [], "facts": []})
    assert len(join_members([empty, empty]).facts) == 0


async def test_members_are_detached_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "DELETE_BATCH", 10)
    db: Any = FakeDatabase(
        read_disposable=[{"uids": ["a", "b", "c", "d"], "members": [4, 6, 3, 20]}]
    )
    await delete_members(db, ["g1"])
    assert [params["uids"] for params in db.params("delete_members")] == [["a", "b"], ["c"], ["d"]]


NAN = float("nan")


def test_degrees_leave_self_loops_out_and_count_parallels() -> None:
    source, target = np.array([0, 0, 1, 2]), np.array([1, 1, 2, 2])
    assert count_degrees(source, target, 4).tolist() == [2, 3, 1, 0]


def test_without_any_weight_the_degree_counts_and_an_isolate_weighs_1() -> None:
    weight = np.array([NAN, NAN, NAN])
    assert complete_weights(weight, np.array([4.0, 0.0, 1.0])).tolist() == [4, 1, 1]


def test_known_weights_stay_and_negative_ones_become_0() -> None:
    weight = np.array([2.0, -5.0, 0.0])
    assert complete_weights(weight, np.ones(3)).tolist() == [2, 0, 0]


def test_a_gap_is_filled_by_degree_within_the_known_range() -> None:
    weight = np.array([1.0, 2.0, 3.0, NAN, NAN, NAN])
    filled = complete_weights(weight, np.array([2.0, 2.0, 2.0, 100.0, 0.0, 2.0]))
    assert filled[3] == 3.0
    assert filled[4] == 1.0
    assert 1.0 <= filled[5] <= 3.0


def test_ranks_count_from_0_in_each_part_heaviest_first_ties_by_index() -> None:
    label = np.array([0, 1, 0, 0, 1])
    weight = np.array([1.0, 5.0, 3.0, 3.0, 9.0])
    assert rank_by_weight(label, weight).tolist() == [2, 1, 0, 1, 0]


def test_empty_arrays_are_fine() -> None:
    empty = np.empty(0)
    assert complete_weights(empty, empty).tolist() == []
    assert rank_by_weight(np.empty(0, dtype=np.int64), empty).tolist() == []
