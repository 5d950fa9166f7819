"""Nodes found by their titles, on a real database."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.paths.titles import find_by_title

MAPPING = GraphMapping(labels=("Club",), text=("text",), title="name")
CLUBS = """
UNWIND ['Chelsea', 'CHELSEA ', 'chelsea', 'Chelsea', 'Chelsea F.C.', 'Chelsea Village',
        'History of Chelsea', 'Chelsea Art Club', 'Chelsea Headhunters', 'The Chelsea Hotel',
        'Arsenal'] AS name
CREATE (:Club {name: name, text: 'a club'}), (:Other {name: name})
CREATE (:Club {name: 7}), (:Club), (:Club {name: ['Chelsea']})
"""
NAMES = "MATCH (c:Club) RETURN elementId(c) AS id, c.name AS name"


async def found(db: Database, *keywords: str) -> list[tuple[str, float]]:
    _, rows = await db.call(NAMES, {}, "read")
    names = {row["id"]: str(row["name"]) for row in rows}
    hits = await find_by_title(db, MAPPING, keywords)
    return [(names[node], score) for node, score in hits.scores.items()]


@pytest.fixture
async def clubs(db: Database) -> Database:
    await db.call(CLUBS, {}, "write")
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


async def test_each_keyword_is_searched(clubs: Database) -> None:
    names = [name for name, _ in await found(clubs, "arsenal", "hotel", "nothing", "7")]
    assert names == ["Arsenal", "The Chelsea Hotel"]


async def test_nothing_is_searched_without_keywords_or_titles(db: Database) -> None:
    assert (await find_by_title(db, MAPPING, [])).scores == {}
    assert (await find_by_title(db, MAPPING, ["x"])).scores == {}
    untitled = GraphMapping(labels=("Club",), text=("text",))
    assert (await find_by_title(db, untitled, ["chelsea"])).method == "no titles to compare"
