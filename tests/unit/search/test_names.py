"""Words of a question are found in the names of labels and types, and nodes gain by them."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping, Partition
from pgs_neo4j.search import names as node_names
from pgs_neo4j.search.names import (
    EACH,
    MOST_MEMBERS,
    NAME_SHARE,
    NamedNodes,
    Names,
    derivation,
    find_named_members,
    find_named_nodes,
    match_names,
    match_words,
)
from pgs_neo4j.search.nodes import Place
from pgs_neo4j.text.matching import Page, SearchTerms
from pgs_neo4j.text.ranking import rarity
from tests.fakes.database import FakeDatabase

TYPES = ("ACTED_IN", "RUNS", "CITES", "MOVED_TO", "USED_BY", "DIRECTED")
NAMES = Names({"Movie": Page.of("Movie")}, {name: Page.of(name) for name in TYPES})


@pytest.mark.parametrize(
    "family",
    [
        "act acts acted acting action actions actor actors",
        "run runs runner runners running",
        "cite cites cited citation citations citing",
        "own owns owner owners owned",
        "direct directs directed director directors",
    ],
)
def test_words_that_derive_from_each_other_have_the_same_in_common(family: str) -> None:
    assert len(set(map(derivation, family.split()))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("movies", "moved"),
        ("cities", "cited"),
        ("users", "us"),
        ("string", "strs"),
        ("акты", "акт"),
    ],
)
def test_words_that_only_begin_alike_have_nothing_in_common(one: str, other: str) -> None:
    assert derivation(one) != derivation(other)


@pytest.mark.parametrize(
    ("word", "held", "derived"),
    [
        ("acted", ["ACTED_IN"], ["ACTED_IN"]),
        ("actors", [], ["ACTED_IN"]),
        ("runner", [], ["RUNS"]),
        ("directors", ["DIRECTED"], ["DIRECTED"]),
        ("movies", ["Movie"], ["Movie"]),
        ("cities", [], []),
        ("famous actors", [], []),
    ],
)
def test_a_derived_word_counts_only_where_that_is_asked_for(
    word: str, held: list[str], derived: list[str]
) -> None:
    search = SearchTerms((word,), 1)

    def found(matches: list[str], *, loosely: bool) -> bool:
        named = match_names(NAMES, [search], derived=loosely)
        return [name for one in named for name in (*one.labels, *one.types)] == matches

    assert found(held, loosely=False)
    assert found(derived, loosely=True)


ROWS_OF_NAMES = {"labels": ["Movie", "Tracked"], "types": ["DIRECTED", "REVIEWED"]}
GROUPS = [
    {"names": ["Tracked"], "count": 6, "nodes": ["a", "b"]},
    {"names": ["Tracked", "Movie", "REVIEWED"], "count": 1, "nodes": ["m"]},
    {"names": ["Tracked", "REVIEWED"], "count": 3, "nodes": ["r", "s", "t"]},
]
MAPPING = GraphMapping(labels=("Movie", "Person"))


def database(**answers: Any) -> tuple[Database, FakeDatabase]:
    fake = FakeDatabase(**{"read_names": [ROWS_OF_NAMES], "find_named_in_view": GROUPS} | answers)
    return cast("Database", fake), fake


def partitions(size: int) -> list[Partition]:
    return [Partition(id=1, uid="g:1", size=size, tokens=1)]


async def test_a_word_in_a_name_counts_by_the_rarity_of_the_nodes_that_have_it() -> None:
    db, fake = database()
    named = await find_named_nodes(db, MAPPING, (), ["reviewers", "tracked", "zymurgy"], [], 9)
    gain = NAME_SHARE * rarity(10, 4)
    assert named.gains == pytest.approx(dict.fromkeys("mrst", gain))
    assert named.words == {"reviewers"}  # every node is tracked, which says nothing
    [asked] = fake.params("find_named_in_view")
    assert asked == {
        "chosen": ["Movie", "Person"], "labels": ["Tracked"], "types": ["REVIEWED"], "most": 9,
    }  # fmt: skip
    both = await find_named_nodes(db, MAPPING, (), ["reviewed", "movies"], [], 9)
    assert both.gains["m"] == pytest.approx(gain + NAME_SHARE * rarity(10, 1))


async def test_a_node_that_matches_already_gains_even_if_it_is_not_among_the_first() -> None:
    names = [{"element_id": "x", "names": ["Person", "REVIEWED"]}]
    db, fake = database(read_node_names=names)
    named = await find_named_nodes(db, MAPPING, (), ["reviewed"], ["x", "y"], 1)
    assert named.gains["x"] == named.gains["r"]
    assert "y" not in named.gains
    assert fake.params("read_node_names") == [{"nodes": ["x", "y"], "types": []}]


async def test_words_that_no_name_holds_cost_one_cheap_statement() -> None:
    db, fake = database()
    assert await find_named_nodes(db, MAPPING, (), ["zymurgy"], [], 9) == NamedNodes()
    assert [name for name, _ in fake.sent] == ["read_names"]
    assert await find_named_nodes(db, MAPPING, (), [], [], 9) == NamedNodes()
    assert len(fake.sent) == 1


async def test_members_gain_by_partition_and_in_a_large_graph_only_where_no_text_matches() -> None:
    rows = [
        {"partition": 1, "names": [], "count": 5, "ranks": []},
        {"partition": 1, "names": ["DIRECTED"], "count": 2, "ranks": [3, 4]},
    ]
    db, fake = database(find_named_members=rows)
    large = partitions(MOST_MEMBERS + 1)
    asked = await match_words(db, MAPPING, ["directed"])
    named = await find_named_members(db, MAPPING, large, asked, {})
    assert named.gains == pytest.approx(
        {Place(1, 3): NAME_SHARE * rarity(7, 2), Place(1, 4): NAME_SHARE * rarity(7, 2)}
    )
    assert fake.params("find_named_members")[0]["most"] == EACH
    texts = {Place(1, 0): "x"}
    assert await find_named_members(db, MAPPING, large, asked, texts) == NamedNodes()
    assert (await find_named_members(db, MAPPING, partitions(7), asked, texts)).gains
    assert await find_named_members(db, MAPPING, partitions(7), None, texts) == NamedNodes()
    assert await find_named_nodes(db, MAPPING, None, ["reviewed"], ["x"], 9) == NamedNodes()
    assert (await find_named_nodes(db, MAPPING, None, ["reviewed"], [], 9)).gains


async def test_names_that_take_too_long_count_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(FakeDatabase):
        async def read(self, query: Any, **params: Any) -> list[dict[str, Any]]:
            if not query.name.endswith("read_names"):
                await asyncio.Event().wait()
            return await super().read(query, **params)

    monkeypatch.setattr(node_names, "BESIDE_S", 0.0)
    db = cast("Database", Slow(read_names=[ROWS_OF_NAMES]))
    assert await find_named_nodes(db, MAPPING, (), ["reviewed"], ["x"], 9) == NamedNodes()


def test_gains_are_added_and_none_is_more_than_a_share_of_the_best_text() -> None:
    named = NamedNodes({"c": 0.5, "b": 2.0})
    added = named.add_to({"a": 10.0, "b": 8.5})
    assert list(added.items()) == [("b", 10.5), ("a", 10.0), ("c", 0.5)]
    small = named.add_to({"a": 1.0, "b": 0.5})
    assert small == pytest.approx({"a": 1.0, "b": 0.5 + NAME_SHARE, "c": NAME_SHARE / 4})
    assert named.add_to({}) == {"b": 2.0, "c": 0.5}
    nothing: NamedNodes[str] = NamedNodes()
    assert list(nothing.add_to({"b": 1.0, "a": 1.0})) == ["b", "a"]
