"""Nodes found by their titles, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.search_indexes import SearchIndex, list_search_indexes
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.text import covering_title_indexes, find_by_title
from tests.database import alter, fetch

MAPPING = GraphMapping(labels=("Club",), text=("text",), title="name")
CLUBS = """
UNWIND ['Chelsea', 'CHELSEA ', 'chelsea', 'Chelsea', 'Chelsea F.C.', 'Chelsea Village',
        'History of Chelsea', 'Chelsea Art Club', 'Chelsea Headhunters', 'The Chelsea Hotel',
        'Arsenal'] AS name
CREATE (:Club {name: name, text: 'a club'}), (:Other {name: name})
CREATE (:Club {name: 7}), (:Club), (:Club {name: ['Chelsea']})
"""
INDEX = "CREATE FULLTEXT INDEX clubs FOR (c:Club) ON EACH [c.text, c.name]"
NAMES = "MATCH (c:Club) RETURN elementId(c) AS id, c.name AS name"


async def found(
    db: Database, *keywords: str, indexes: tuple[SearchIndex, ...] = ()
) -> list[tuple[str, float]]:
    rows = await fetch(db, NAMES)
    names = {row["id"]: str(row["name"]) for row in rows}
    hits = await find_by_title(db, indexes, MAPPING, keywords)
    return [(names[node], score) for node, score in hits.scores.items()]


@pytest.fixture
async def clubs(db: Database) -> Database:
    await alter(db, CLUBS)
    return db


async def test_equal_titles_come_first_and_then_the_shorter(clubs: Database) -> None:
    hits = await found(clubs, "chelsea")
    assert [score for _, score in hits[:3]] == [1.0, 1.0, 1.0]
    assert {name.strip().lower() for name, _ in hits[:3]} == {"chelsea"}
    assert [name for name, _ in hits[3:]] == [
        *("Chelsea F.C.", "Chelsea Village", "Chelsea Art Club"),
        *("The Chelsea Hotel", "History of Chelsea"),
    ]
    assert hits[3][1] == pytest.approx(7 / 12)


async def test_nothing_is_searched_without_keywords_or_titles(db: Database) -> None:
    assert (await find_by_title(db, (), MAPPING, [])).scores == {}
    assert (await find_by_title(db, (), MAPPING, ["x"])).scores == {}
    untitled = GraphMapping(labels=("Club",), text=("text",))
    assert (await find_by_title(db, (), untitled, ["chelsea"])).method == "no titles to compare"


@pytest.fixture
async def indexed(clubs: Database) -> AsyncIterator[tuple[SearchIndex, ...]]:
    await clubs.call(INDEX, {}, "schema")
    await fetch(clubs, "CALL db.awaitIndexes(60)")
    yield tuple(index for index in await list_search_indexes(clubs) if index.name == "clubs")
    await clubs.call("DROP INDEX clubs", {}, "schema")


@pytest.mark.schema
@pytest.mark.parametrize("keywords", [("chelsea",), ("arsenal", "hotel", "nothing", "7")])
async def test_a_full_text_index_finds_the_same_titles(
    clubs: Database, indexed: tuple[SearchIndex, ...], keywords: tuple[str, ...]
) -> None:
    plain = await found(clubs, *keywords)
    assert await found(clubs, *keywords, indexes=indexed) == plain
    if "arsenal" in keywords:  # each keyword is searched
        assert [name for name, _ in plain] == ["Arsenal", "The Chelsea Hotel"]


async def test_no_sign_of_a_keyword_is_an_operator(
    clubs: Database, indexed: tuple[SearchIndex, ...]
) -> None:
    hostile = [
        *('f.c."', "chelsea f.c.", '"', "text:club", "chel*"),
        *("art~ OR [a TO b]", "/art/", "\\"),
    ]
    names = [name for name, _ in await found(clubs, *hostile, indexes=indexed)]
    assert names == ["Chelsea F.C."]


def test_an_index_must_hold_the_titles_of_every_label() -> None:
    index = SearchIndex(
        name="i", kind="text", entity="node", labels=("Club",), properties=("name", "text")
    )
    assert covering_title_indexes((index,), MAPPING) == (index,)
    assert covering_title_indexes((index,), replace(MAPPING, title="text")) == (index,)
    for other in ({"labels": ("Club", "Band")}, {"title": "motto"}, {"title": "full name"}):
        assert covering_title_indexes((index,), replace(MAPPING, **other)) == ()  # type: ignore[arg-type]
    text_only = replace(index, properties=("text",))
    assert covering_title_indexes((text_only,), MAPPING) == ()
