"""Questions that a shape answers without a model, on a real database."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model.graph import GraphMapping
from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.shapes.read_by_shape import read_by_shape
from tests.database import alter

LIBRARY = r"""
CREATE (ann:Author:Person {name: 'Ann Smith', born: 1970}),
       (bob:Author:Person {name: 'Bob', born: 1980}),
       (eve:Author:Person {name: 'Eve "O\'Neil" `\\u0060` \\', born: 1990}),
       (cat:Author:Person {name: 'Cat'}), (:Author:Person {name: 'Cat'}),
       (kilns:Topic {name: 'Kilns'}), (glazes:Topic {name: 'glazes'}),
       (design:Paper {title: 'Kiln Design', year: 2018, pages: 12, rating: 4.5}),
       (on:Paper {title: 'On Glazes', year: 2020, pages: 30, rating: 3.5}),
       (fire:Paper {title: 'Fire', year: 2020, pages: 30, added: date('2021-06-06')}),
       (ash:Paper {title: 'Ash', year: 2021, pages: 7, rating: 2.5}),
       (design)<-[:WROTE]-(ann)-[:WROTE]->(on), (bob)-[:WROTE]->(on), (bob)-[:WROTE]->(fire),
       (eve)-[:WROTE]->(ash),
       (on)-[:CITES]->(design)<-[:CITES]-(fire), (ash)-[:CITES]->(fire),
       (on)-[:ABOUT]->(glazes)<-[:ABOUT]-(ash), (glazes)<-[:ABOUT]-(fire),
       (design)-[:ABOUT]->(kilns)<-[:ABOUT]-(fire)
SET design.added = date('2020-01-02'), on.added = date('2021-05-05')
"""


def make_label(label: str, **types: str) -> SchemaLabel:
    properties = (SchemaProperty(name=name, types=(type_,)) for name, type_ in types.items())
    return SchemaLabel(label=label, properties=tuple(properties))


SCHEMA = GraphSchema(
    labels=(
        make_label(
            "Paper", title="STRING", year="INTEGER", pages="INTEGER", rating="FLOAT", added="DATE"
        ),
        make_label("Author", name="STRING", born="INTEGER"),
        make_label("Person", name="STRING", born="INTEGER"),
        make_label("Topic", name="STRING"),
    ),
    types=(
        SchemaType(type="WROTE", ends=(("Author", "Paper"), ("Person", "Paper"))),
        SchemaType(type="CITES", ends=(("Paper", "Paper"),)),
        SchemaType(type="ABOUT", ends=(("Paper", "Topic"),)),
    ),
)


@pytest.fixture
async def library(db: Database) -> Database:
    await alter(db, LIBRARY)
    return db


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many papers are there?", [(4,)]),
        ("How many papers did Ann Smith write?", [(2,)]),
        ("How many papers per year?", [(2018, 1), (2020, 2), (2021, 1)]),
        ("How many papers are about the topic Glazes?", [(3,)]),
        ("How many papers with a rating above 3 are there?", [(2,)]),
        ("How many papers have between 10 and 30 pages?", [(3,)]),
        ("How many papers were added in 2021?", [(2,)]),
        ("List all topics", [("Kilns",), ("glazes",)]),
        ("Which papers cite Kiln Design?", [("Fire",), ("On Glazes",)]),
        ("Which papers are cited by Fire?", [("Kiln Design",)]),
        ("Which papers does 'Ash' cite?", [("Fire",)]),
        ("Who wrote On Glazes?", [("Ann Smith",), ("Bob",)]),
        (
            "Which papers by Bob are about Kilns?",
            [("Fire",)],
        ),
        (
            'Which papers were written by \u201cEve "O\'Neil" `\\u0060` \\\u201d?',
            [("Ash",)],
        ),
        ("What is the born of the author Bob?", [("Bob", 1980)]),
        ("Which author has the most papers?", [("Ann Smith", 2), ("Bob", 2)]),
        ("Which topic has the most papers?", [("glazes", 3)]),
        ("Which paper has the most pages?", [("Fire", 30), ("On Glazes", 30)]),
        ("Top 3 papers by rating", [("Kiln Design", 4.5), ("On Glazes", 3.5), ("Ash", 2.5)]),
        ("Which paper has the lowest rating?", [("Ash", 2.5)]),
        ("Who are the youngest authors?", [('Eve "O\'Neil" `\\u0060` \\', 1990)]),
        ("Number of papers by topic", [("glazes", 3), ("Kilns", 2)]),
        (
            "How many papers did each author write?",
            [("Ann Smith", 2), ("Bob", 2), ('Eve "O\'Neil" `\\u0060` \\', 1)],
        ),
        ("average pages of papers", [(19.75,)]),
        ("average number of pages of papers by Ann Smith", [(21.0,)]),
        ("average rating for each topic", [("Kilns", 4.5), ("glazes", 3.0)]),
        (
            "How are Ann Smith and Fire connected?",
            [
                (["Ann Smith", "Kiln Design", "Fire"], ["WROTE", "CITES"]),
            ],
        ),
        (
            "Find the shortest paths between Bob and the topic Kilns",
            [(["Bob", "Fire", "Kilns"], ["WROTE", "ABOUT"])],
        ),
    ],
)
async def test_a_question_has_its_rows(
    library: Database, question: str, rows: list[tuple[object, ...]]
) -> None:
    read = await read_by_shape(library, SCHEMA, GraphMapping(), question)
    assert read.rows is not None, read.reason
    assert list(read.rows.rows) == rows
    assert (read.reason, read.rows.truncated) == ("", False)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Which papers were written by Cat?", "several nodes Author are called \u201cCat\u201d"),
        ("Which papers were written by Charles?", "is called \u201cCharles\u201d"),
        ("How are Bob and Bob connected?", "both names are those of one node"),
        ("How many papers did Ann Smith not write?", "\u201cnot\u201d excludes"),
        ("How many papers did Ann Smith write in 2020?", "may be added or year of Paper"),
        ("How many papers were published in 2020?", "added or year of Paper"),
    ],
)
async def test_a_question_is_refused(library: Database, question: str, reason: str) -> None:
    read = await read_by_shape(library, SCHEMA, GraphMapping(), question)
    assert read.rows is None
    assert reason in read.reason


async def test_a_list_has_at_most_a_hundred_rows(db: Database) -> None:
    await alter(db, "UNWIND range(1, 101) AS n CREATE (:Topic {name: 'topic ' + n})")
    read = await read_by_shape(db, SCHEMA, GraphMapping(), "List all topics")
    assert read.rows is not None
    assert (len(read.rows.rows), read.rows.truncated) == (100, True)
    limited = await read_by_shape(db, SCHEMA, GraphMapping(), "Show 100 topics")
    assert limited.rows is not None
    assert (len(limited.rows.rows), limited.rows.truncated) == (100, False)


async def test_titles_come_from_the_mapping(db: Database) -> None:
    await alter(
        db, "CREATE (:Part {code: 'A1', name: 'bolt'})-[:FITS]->(:Part {code: 'B2', name: 'nut'})"
    )
    schema = GraphSchema(
        labels=(make_label("Part", name="STRING", code="STRING"),),
        types=(SchemaType(type="FITS", ends=(("Part", "Part"),)),),
    )
    read = await read_by_shape(db, schema, GraphMapping(title="code"), "Which parts fit nut?")
    assert read.rows is not None, read.reason
    assert read.rows.rows == (("A1",),)
