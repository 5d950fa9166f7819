"""Relationships around the best nodes, scored by the formulas of triplet search."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.model import FoundFact, GraphMapping
from pgs_neo4j.search.paths.facts import ENTRIES, WIDTH, find_facts, find_facts_by_vector
from pgs_neo4j.search.paths.walk import Hits
from tests.fakes.database import FakeDatabase

MAPPING = GraphMapping(labels=("Doc",), title="name", embedding="vector")
QUESTION = np.array([1.0, 0.0], np.float32)


def link(one: str, other: str, **changed: Any) -> Row:
    """A row of the statement; its id tells both ends, unless it is changed."""
    given: Row = {
        "id": f"{one}-{other}", "type": "CITES", "forward": True, "near_id": one, "far_id": other,
        "near": None, "far": None, "fact": None, "weight": None, "name": None, "text": None,
        "feedback": None,
        "near_title": one.upper(), "far_title": other.upper(),
    }  # fmt: skip
    return given | changed


def graph_of(*links: Row) -> FakeDatabase:
    """A database whose nodes have these relationships, seen from either end."""

    def at(params: Row) -> list[Row]:
        return [{"facts": [row for row in links if row["near_id"] in params["nodes"]]}]

    return FakeDatabase(find_facts=at)


async def facts_of(db: FakeDatabase, entries: dict[str, float], **changed: Any) -> Hits:
    given: dict[str, Any] = {"vector": QUESTION, "hops": 1, "k": 20} | changed
    vector = given.pop("vector")
    return await find_facts(cast("Database", db), MAPPING, entries, vector, **given)


def lines(hits: Hits) -> list[tuple[str, int, Any]]:
    facts = [fact for fact in hits.things if isinstance(fact, FoundFact)]
    return [(fact.line, fact.hops, pytest.approx(fact.score)) for fact in facts]


def score(*distances: float, importance: float = 0.5, feedback: float = 0.5) -> float:
    near = 1 - sum(min(1.0, distance) for distance in distances) / len(distances)
    return 0.7 * (0.8 * near + 0.2 * importance) + 0.3 * feedback


CITES = "A --[CITES]--> B"


@pytest.mark.parametrize(
    ("changed", "line", "expected"),
    [
        ({}, CITES, score(0.1, 0.3 + 0.15)),
        ({"far": None}, CITES, score(0.1, 1.0)),  # as far as can be
        ({"forward": False}, "B --[CITES]--> A", score(0.1, 0.45)),
        ({"feedback": 0.0}, CITES, score(0.1, 0.45, feedback=0.0)),
        ({"feedback": 1.0}, CITES, score(0.1, 0.45, feedback=1.0)),
        (
            {"fact": 0.5, "name": "quotes", "text": "A quotes\nB at length."},
            "A --[quotes]--> B: A quotes B at length.",
            score(0.1, 0.45, 0.5),
        ),
        (
            {"near_title": "two\nlines\x1b[2J", "far_title": None},
            "two lines --[CITES]--> ?",
            score(0.1, 0.45),
        ),
    ],
)
async def test_a_relationship_is_told_and_scored_by_distances_and_feedback(
    changed: Row, line: str, expected: float
) -> None:
    db = graph_of(link("a", "b", near=0.9, far=0.7) | changed)
    assert lines(await facts_of(db, {"a": 1.0})) == [(line, 1, expected)]


async def test_a_found_far_end_has_no_penalty_and_weights_rank() -> None:
    db = graph_of(link("a", "b", near=0.9, far=0.7), link("b", "a", id="a-b", near=0.7, far=0.9))
    assert lines(await facts_of(db, {"a": 1.0, "b": 0.5})) == [(CITES, 1, score(0.1, 0.3))]
    weights = {"b": 3, "c": 1.5, "d": "heavy"}
    db = graph_of(
        *(link("a", end, near=0.9, far=0.7, weight=weight) for end, weight in weights.items())
    )
    assert lines(await facts_of(db, {"a": 1.0})) == [
        (CITES, 1, score(0.1, 0.45, importance=1.0)),
        ("A --[CITES]--> D", 1, score(0.1, 0.45, importance=0.5)),
        ("A --[CITES]--> C", 1, score(0.1, 0.45, importance=0.0)),
    ]


async def test_each_hop_adds_to_the_distance() -> None:
    db = graph_of(link("a", "b", near=0.9, far=0.7), link("b", "c", near=0.7, far=0.8))
    assert lines(await facts_of(db, {"a": 1.0}, hops=2)) == [
        ("A --[CITES]--> B", 1, score(0.1, 0.45)),
        ("B --[CITES]--> C", 2, score(0.45, 0.2 + 0.3)),
    ]
    assert len(db.sent) == 2


async def test_parallel_relationships_are_several_facts_and_no_entries_none() -> None:
    both = (link("a", "b"), link("a", "b", id="other", type="QUOTES"))
    assert {line for line, _, _ in lines(await facts_of(graph_of(*both), {"a": 1.0}))} == {
        "A --[CITES]--> B",
        "A --[QUOTES]--> B",
    }
    db = graph_of()
    hits = await facts_of(db, {})
    assert (hits.method, hits.things, db.sent) == ("no nodes to walk from", (), [])


async def test_without_embeddings_the_scores_of_the_entries_decide() -> None:
    db = graph_of(link("a", "x"), link("b", "y"), link("c", "z"))
    hits = await facts_of(db, {"a": 9.0, "b": 5.0, "c": 1.0}, vector=None)
    assert [(line, found) for line, _, found in lines(hits)] == [
        ("A --[CITES]--> X", score(0.0, 1.0)),
        ("B --[CITES]--> Y", score(1 / 3, 1.0)),
        ("C --[CITES]--> Z", score(2 / 3, 1.0)),
    ]
    assert [*hits.scores] == ["a", "x", "b", "y", "c", "z"]
    assert db.params("find_facts")[0]["vector"] == []


async def test_only_the_best_nodes_are_walked_from() -> None:
    entries = {f"e{i:02}": 1.0 - i / 100 for i in range(30)}
    db = graph_of(*(link("e00", f"m{i:03}", far=i / 1000) for i in range(100)))
    await facts_of(db, entries, hops=2)
    first, second = db.params("find_facts")
    assert first["nodes"] == [*entries][:ENTRIES]
    assert second["nodes"] == [f"m{i:03}" for i in range(99, 99 - WIDTH, -1)]


async def test_the_best_relationships_are_returned_and_their_ends() -> None:
    db = graph_of(*(link("a", f"m{i}", near=0.5, far=i / 10) for i in range(10)))
    hits = await facts_of(db, {"a": 1.0}, k=3)
    assert [line for line, _, _ in lines(hits)] == [f"A --[CITES]--> M{i}" for i in (9, 8, 7)]
    assert [*hits.scores] == ["m9", "a", "m8", "m7"]


FACTS = (
    SearchIndex(name="f", kind="vector", entity="relationship", labels=("T",), properties=("v",)),
)


@pytest.mark.parametrize(
    ("cosines", "count"),
    [([0.9, 0.5, 0.3, 0.25, 0.2], 4), ([0.9, 0.2, 0.1, 0.0], 3), ([0.1], 1), ([0.9] * 15, 12)],
)
async def test_the_nearest_facts_are_kept(cosines: list[float], count: int) -> None:
    rows = [link(f"a{i}", f"b{i}", fact=cosine, near=0.1) for i, cosine in enumerate(cosines)]
    db = FakeDatabase(find_facts_by_vector=[{"facts": rows}])
    hits = await find_facts_by_vector(cast("Database", db), FACTS, MAPPING, QUESTION)
    assert len(hits.things) == count
    assert lines(hits)[0] == ("A0 --[CITES]--> B0", 0, score(0.9, 1.0, 1 - cosines[0]))
    assert (hits.method, len(hits.scores)) == ("vector index f", 2 * count)
