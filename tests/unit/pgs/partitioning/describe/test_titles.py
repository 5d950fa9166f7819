"""Titles of the heaviest nodes, and of what relationships to neighbors lead to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pgs_neo4j.model import Adjacent, GraphMapping, Partition
from pgs_neo4j.pgs.partitioning.describe import titles
from pgs_neo4j.pgs.partitioning.describe.titles import LENGTH, TITLES, add_titles
from pgs_neo4j.pgs.partitioning.membership import Membership
from tests.unit.pgs.partitioning.conftest import build_order, build_tools, ints, partition, view_of

MEMBERS = Membership(
    ints(10, 11, 12, 20, 21),
    ints(1, 1, 1, 2, 2),
    ints(1, 0, 2, 0, 1),
    ints(*range(5)),
    ints(*[0] * 5),
)
VIEW = view_of([10, 11, 12, 20, 21], [(0, 3), (1, 3), (2, 4), (3, 4)])
PARTS = [
    partition(1, 3, adjacent=(Adjacent(2, 3, 3.0),)),
    partition(2, 2, adjacent=(Adjacent(1, 3, 3.0),)),
]


def node_rows(named: dict[int, str]) -> Any:
    """Answer with these titles; other nodes have a text and a key."""

    def answer(params: dict[str, Any]) -> list[dict[str, Any]]:
        ids = params["ids"]
        return [
            {
                "ids": ids,
                "titles": [[named.get(i)] for i in ids],
                "texts": [[] if i in named else [f"first line {i}\nsecond"] for i in ids],
                "keys": [[i] for i in ids],
                "labels": ["Paper"] * len(ids),
            }
        ]

    return answer


async def titled(
    named: dict[int, str], mapping: GraphMapping | None = None, fresh: slice = slice(None)
) -> tuple[list[Partition], Any]:
    tools = build_tools(read_titles=node_rows(named))
    order = build_order(mapping=mapping)
    described = await add_titles(order, tools, VIEW, MEMBERS, PARTS, PARTS[fresh])
    return described, tools.db


async def test_titles_come_by_weight_and_neighbors_by_relationships() -> None:
    described, db = await titled({10: "ten", 11: "eleven", 12: "twelve", 20: "A", 21: "B"})
    assert [part.titles for part in described] == [("eleven", "ten", "twelve"), ("A", "B")]
    rows = {(r["source"], r["target"]): r["titles"] for r in db.params("write_reached")[0]["rows"]}
    assert rows == {
        ("g1:1", "g1:2"): ["A", "B"],
        ("g1:2", "g1:1"): ["eleven", "ten", "twelve"],
    }


async def test_the_same_title_comes_once_and_none_is_left_out() -> None:
    described, db = await titled({10: "same", 11: "same", 12: "", 20: "", 21: ""})
    assert [part.titles for part in described] == [("same", "Paper 12"), ("Paper 20", "Paper 21")]
    assert len(db.params("write_reached")[0]["rows"]) == 2


async def test_only_new_partitions_get_titles_but_all_links() -> None:
    described, db = await titled({20: "A"}, fresh=slice(1, 2))
    assert [part.id for part in described] == [2]
    assert described[0].titles == ("A", "first line 21")  # without a title, its first line
    assert len(db.params("write_reached")[0]["rows"]) == 2


async def test_without_text_or_title_nothing_is_read() -> None:
    described, db = await titled({}, GraphMapping(key="id"))
    assert described == PARTS
    assert db.sent == []


async def test_titles_are_short_and_few(monkeypatch: Any) -> None:
    monkeypatch.setattr(titles, "BATCH", 2)
    long = {i: f"{i} {'word ' * 40}" for i in (10, 11, 12, 20, 21)}
    described, db = await titled(long)
    assert all(len(title) <= LENGTH for part in described for title in part.titles)
    assert [len(params["ids"]) for params in db.params("read_titles")] == [2, 2, 1]
    many = replace(MEMBERS, partition_ids=ints(*[1] * 5), rank=ints(*range(5)))
    monkeypatch.setattr(titles, "TITLES", 3)
    tools = build_tools(read_titles=node_rows({}))
    one = [partition(1, 5)]
    (only,) = await add_titles(build_order(), tools, VIEW, many, one, one)
    assert len(only.titles) == 3 < TITLES
