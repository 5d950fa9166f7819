"""Which indexes a graph wants, and which of those that exist serve."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.errors import QueryError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search import indexes
from pgs_neo4j.search.indexes import (
    compare,
    make_indexes,
    want_facts,
    want_text,
    want_vectors,
)

GRAPH = GraphMapping(labels=("A", "B"), text=("x", "y"), title="x", embedding="v")
(TEXT,) = want_text(GRAPH)
(VECTOR,) = want_vectors(replace(GRAPH, labels=("A",)), 3)


def text(name: str, labels: str, properties: str, **more: Any) -> SearchIndex:
    given = {"labels": tuple(labels.split()), "properties": tuple(properties.split())}
    return SearchIndex(name=name, kind="text", entity="node", **given, **more)


def vector(name: str = "v", **more: Any) -> SearchIndex:
    plain = SearchIndex(
        name=name, kind="vector", entity="node", labels=("A",), properties=("v",), dimensions=3,
        similarity="COSINE",
    )  # fmt: skip
    return replace(plain, **more)


def test_a_text_index_holds_every_label_and_text_once() -> None:
    assert (TEXT.labels, TEXT.properties) == (("A", "B"), ("x", "y"))
    (turned,) = want_text(replace(GRAPH, labels=("B", "A"), text=("y",)))
    assert turned.name == TEXT.name  # the same index, in another order
    assert want_text(replace(GRAPH, text=("z",)))[0].name != TEXT.name


def test_each_label_needs_an_index_on_all_texts() -> None:
    first, second = text("one", "A", "x y z"), text("two", "B C", "y x")
    assert compare(TEXT, [first, second]).serving == (first, second)
    assert compare(TEXT, [first, text("two", "B", "y")]).serving == ()
    assert compare(TEXT, [first, replace(second, state="FAILED")]).serving == ()
    filling = replace(second, state="POPULATING")
    assert compare(TEXT, [first, filling]).serving == (first, filling)


def test_what_has_the_same_schema_but_does_not_serve_is_in_the_way() -> None:
    failed = text(TEXT.name, "B A", "y x", state="FAILED", failure="disk\nfull")
    standing = compare(TEXT, [failed])
    assert "failed (disk full); 'pgs index drop' drops it, then" in standing.obstacle
    assert "failed; drop it, then" in compare(VECTOR, [vector(state="FAILED")]).obstacle
    assert compare(VECTOR, [vector(entity="relationship")]) == compare(VECTOR, [])
    assert compare(VECTOR, [vector()]).serving == (vector(),)


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (vector(dimensions=4), "4 dimensions by cosine"),
        (vector(dimensions=None), "any length by cosine"),
    ],
)
def test_a_vector_index_of_another_kind_is_in_the_way(index: SearchIndex, words: str) -> None:
    standing = compare(VECTOR, [index])
    assert words in standing.obstacle
    assert standing.obstacle.endswith("drop it, then run 'pgs index create' again")


def test_facts_are_indexed_by_type_in_the_most_frequent_length() -> None:
    mapping = GraphMapping(relationship_embedding="v")
    sizes = {("CITES", 3): 5, ("KNOWS", 3): 1, ("ODD", 4): 5}
    wanted = want_facts(mapping, sizes)
    assert [(one.labels, one.dimensions) for one in wanted] == [(("CITES",), 3), (("KNOWS",), 3)]


class Filling:
    """A database whose index is filled step by step, or fails."""

    timeout_s = 0.2

    def __init__(self, *states: str) -> None:
        self.states = list(states)

    async def write(self, query: Any, **params: Any) -> list[Any]:
        return []

    async def list(self, db: Any) -> list[SearchIndex]:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if not state:
            return []
        return [text(TEXT.name, "A B", "x y", state=state, population=40.0, failure="no room")]


@pytest.mark.parametrize(
    ("states", "notes"),
    [(("", "POPULATING", "POPULATING", "ONLINE"), 0), (("", "POPULATING"), 1)],
)
async def test_the_wait_for_an_index_is_bounded(
    monkeypatch: pytest.MonkeyPatch, states: tuple[str, ...], notes: int
) -> None:
    db = Filling(*states)
    monkeypatch.setattr(indexes, "list_search_indexes", db.list)
    outcome = await make_indexes(db, [TEXT])
    assert [index.name for index in outcome.created] == [TEXT.name]
    assert len(outcome.notes) == notes
    assert all("is 40 % filled" in note for note in outcome.notes)


async def test_an_index_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for states in (("", "POPULATING", "FAILED"), ("", "FAILED")):
        db = Filling(*states)
        monkeypatch.setattr(indexes, "list_search_indexes", db.list)
        with pytest.raises(QueryError, match=r"failed \(no room\); 'pgs index drop' drops it"):
            await make_indexes(db, [TEXT])
