"""Nodes and relationships as they arrive in portions: measured, hashed, and put in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pgs_neo4j.database import portions
from pgs_neo4j.events import Event, OnEvent, Progressed, ignore
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning.scan import (
    FACT_BITS,
    NodeFacts,
    Nodes,
    Relationships,
    node_hashes,
    place_lookup,
    read_edges,
    scan_nodes,
    scan_relationships,
)
from tests.fakes.database import FakeDatabase
from tests.unit.pgs.partitioning.conftest import ints

MAPPING = GraphMapping(labels=("Paper",), text=("title",), weight="w", embedding="v")
NAN = float("nan")
Row = dict[str, Any]
# id: text, weight, length of the vector, components
STORED: dict[int, tuple[str, float, int, list[float]]] = {
    3: ("Ice", 2.0, 3, [0.1, 0.2, 0.2, 0.3]),
    5: ("Snow and ice", NAN, 0, []),
    8: ("", 1.0, 3, [0.5, 0.2, 0.2, 0.3]),
    9: ("Ice", 2.0, 3, [0.1, 0.2, 0.2, 0.3]),
}


def row_of(ids: list[int], stored: dict[int, tuple[str, float, int, list[float]]]) -> Row:
    there = [i for i in ids if i in stored]
    return {
        "ids": there,
        "texts": [[stored[i][0]] for i in there],
        "weights": [stored[i][1] for i in there],
        "dimensions": [stored[i][2] for i in there],
        "probes": [stored[i][3] for i in there],
    }


async def scan(
    stored: dict[int, tuple[str, float, int, list[float]]] = STORED,
    turn: int = 1,
    on_event: OnEvent = ignore,
) -> Nodes:
    db: Any = FakeDatabase(read_nodes=lambda params: [row_of(params["ids"][::turn], stored)])
    at = np.asarray([*STORED], dtype=np.int64)
    return await scan_nodes(db, MAPPING, at, np.ones_like(at), on_event)


async def test_texts_are_hashed_and_measured() -> None:
    events: list[Event] = []
    nodes = await scan(on_event=events.append)
    assert events[-1] == Progressed("partition", 4, 4, "nodes scanned")
    assert nodes.text_hash.tolist() == [text_hash(text) for text, *_ in STORED.values()]
    assert nodes.tokens[0] == nodes.tokens[3] > 0
    assert nodes.tokens[1] > nodes.tokens[0]
    assert nodes.tokens[2] == 0


async def test_equal_weights_and_embeddings_have_equal_facts_within_the_bits() -> None:
    facts = (await scan()).facts
    assert facts[0] == facts[3]
    assert len(set(facts.tolist())) == 3
    assert facts.min() >= 0
    assert facts.max() < 2**FACT_BITS


async def test_the_order_of_rows_and_portions_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = await scan()
    turned = await scan(turn=-1)
    monkeypatch.setattr(portions, "MOST_NODES", 1)
    single = await scan()
    for other in (turned, single):
        assert node_hashes(other).tolist() == node_hashes(plain).tolist()
        assert np.array_equal(other.weight, plain.weight, equal_nan=True)


def test_infinite_weights_count_as_missing() -> None:
    facts = NodeFacts.empty(2)
    row: Any = row_of([0, 1], {0: ("a", float("inf"), 0, []), 1: ("b", 3.0, 0, [])})
    facts.fill(np.arange(2), row)
    assert np.isnan(facts.weight[0])
    assert facts.weight[1] == 3.0


def test_hashes_tell_nodes_apart_by_id_text_and_facts() -> None:
    def hashed(node: int, text: int, facts: int) -> int:
        ints = [np.asarray([value], dtype=np.int64) for value in (node, 1, text, facts, 0)]
        one = Nodes(ints[0], ints[1], np.ones(1), ints[1], ints[2], ints[3], ints[4])
        return int(node_hashes(one)[0])

    texts = (text_hash("Ice"), text_hash("Snow"))
    hashes = {hashed(n, t, f) for n in (1, 2) for t in texts for f in (1, 2)}
    assert len(hashes) == 8


DENSE, SPARSE = ints(0, 1, 3, 4), ints(5, 10_000, 2_000_000)
LINKED = GraphMapping(relationship_types=("CITES",), relationship_weight="w")


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
    found = await scan_relationships(db, LINKED, DENSE, events.append)
    assert found.weight.tolist() == [1.0, 2.0, 3.0]
    assert found.target.tolist() == [1, 2, 3]
    assert events[-1] == Progressed("partition", 3, 0, "relationships scanned")
    (params,) = db.params("read_relationships")
    assert params == {"ids": [0, 1, 3, 4], "types": ["CITES"], "weight": "w"}
