"""Misspelled strings of statements are replaced by the values that a real database stores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gate.reading import read_statement
from pgs_neo4j.database.gate.tokens import read_tokens, write_tokens
from pgs_neo4j.export.statement import describe_link
from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.statements import linking
from pgs_neo4j.pgs.querying.statements.linking import LinkedStatement, link_values
from pgs_neo4j.pgs.querying.statements.names import find_names
from tests.database import alter

SMALL_GRAPH = """
CREATE (tom:Person:Actor {name: 'Tom Hanks', langs: ['English', 'Español'], age: 68}),
  (:Person {name: 'Tom Hardy', vector: [x IN range(1, 64) | x / 2.0]}),
  (:Person {name: 'José Álvarez', bio: 'A very long text about José. ' + reduce(
     s = '', x IN range(1, 300) | s + 'word ')}),
  (tom)-[:ACTED_IN {role: 'Forrest'}]->(:Movie {title: 'Forrest Gump', code: 7}),
  (tom)-[:ACTED_IN {role: 'Chuck'}]->(:Movie {title: 'Cast Away'}),
  (:Movie {title: 'The Matrix'}), (:Movie {title: 'Rocky II'}), (:Movie {title: ['odd', 'list']}),
  (:Movie {title: 7}), (:Movie), (:PgsRun {name: 'Tom Hunks', id: 'r'})
"""
SCHEMA = GraphSchema(
    labels=(
        SchemaLabel(
            label="Person",
            properties=(
                SchemaProperty(name="name", types=("STRING",)),
                SchemaProperty(name="bio"),
                SchemaProperty(name="langs", types=("LIST<STRING NOT NULL>",)),
                SchemaProperty(name="vector", types=("LIST<FLOAT NOT NULL>",)),
                SchemaProperty(name="age", types=("INTEGER",)),
            ),
        ),
        SchemaLabel(label="Actor", properties=(SchemaProperty(name="name"),)),
        SchemaLabel(label="Movie", properties=(SchemaProperty(name="title"),)),
    ),
    types=(SchemaType(type="ACTED_IN", ends=(("Person", "Movie"), ("Actor", "Movie"))),),
)


@pytest.fixture
async def graph(db: Database) -> Database:
    await alter(db, SMALL_GRAPH)
    return db


async def link(db: Database, statement: str) -> LinkedStatement:
    """A statement with the values that its strings mean."""
    tokens = read_tokens(statement)
    return await link_values(db, tokens, find_names(tokens), SCHEMA)


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        ("MATCH (p:Person {name: 'tom hank'}) RETURN p.name",
         ['"tom hank" was read as "Tom Hanks" (Person.name)']),
        ("MATCH (p:Person|Actor) WHERE 'Jose Alvares' = p.name RETURN p.name",
         ['"Jose Alvares" was read as "José Álvarez" (Person.name)']),
        ("MATCH (m:Movie) WHERE m.title IN ['Matrix, The', 'Cast Away', 'castaway'] RETURN m.title",
         ['"Matrix, The" was read as "The Matrix" (Movie.title)',
          '"castaway" was read as "Cast Away" (Movie.title)']),
        ("MATCH (p:Person) WHERE toLower(p.name) = 'Tom Hank' RETURN p.name",
         ['"Tom Hank" was read as "tom hanks" (Person.name)']),
        ("MATCH (p:Person) WHERE 'espanol' IN p.langs RETURN p.name",
         ['"espanol" was read as "Español" (Person.langs)']),
        ("MATCH (m:Movie)<-[:ACTED_IN]-(p) WHERE p.name = 'Tom Hnaks' RETURN p.name",
         ['"Tom Hnaks" was read as "Tom Hanks" (Person.name)']),
        ("MATCH (m:Movie) WHERE m.title CONTAINS 'gump' RETURN m.title",
         ['"gump" was read as "Gump" (Movie.title)']),
        ("MATCH (m:Movie) WHERE m.title STARTS WITH 'CAST' RETURN m.title",
         ['"CAST" was read as "Cast" (Movie.title)']),
        ("MATCH (p:Person) WHERE toUpper(p.name) ENDS WITH 'hanks' RETURN p.name",
         ['"hanks" was read as "HANKS" (Person.name)']),
        ("MATCH (m:Movie) WITH m.title AS title WHERE title = 'forest gump' RETURN title",
         ['"forest gump" was read as "Forrest Gump" (Movie.title)']),
    ],
)  # fmt: skip
async def test_a_misspelled_value_is_replaced_and_then_found(
    graph: Database, statement: str, changes: list[str]
) -> None:
    linked = await link(graph, statement)
    assert [*map(describe_link, linked.changes)] == changes
    assert (await read_statement(graph, write_tokens(linked.tokens))).rows


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (p:Person {name: 'Tom Hanks'}) RETURN p",
        "MATCH (p:Person {name: 'Tom'}) RETURN p",
        "MATCH (p:Person {name: 'Tom Ha'}) RETURN p",
        "MATCH (p:Person {name: 'Tom Hunks x'}) RETURN p",
        "MATCH (m:Movie {title: 'Rocky III'}) RETURN m",
        "MATCH (m:Movie {title: '8'}) RETURN m",
        "MATCH (p:Person) WHERE p.name CONTAINS 'Tam' OR p.name STARTS WITH 'Tom' RETURN p",
        "MATCH (p:Person) WHERE toLower(p.name) = 'tom hanks' RETURN p",
        "MATCH (p:Person) WHERE p.bio = 'A very long text about Jose' RETURN p",
        "MATCH (p:Person) WHERE p.vector = 'x' OR p.nothing = 'tom hank' OR p.age = '6' RETURN p",
        "MATCH ()-[r:ACTED_IN {role: 'forest'}]->(m:Movie) RETURN m",
        "MATCH (p {name: 'tom hank'}) RETURN p",
        "MATCH (p:Person) WHERE 'English' IN p.langs RETURN p",
        "MATCH (p:Nobody {name: 'tom hank'}) RETURN p",
        "MATCH (p:PgsRun {name: 'tom hunk'}) RETURN p",
        "MATCH (p:Person) WHERE p.name = '' OR p.name = ' ' OR p.name CONTAINS '' RETURN p",
    ],
)
async def test_a_string_stays_if_it_is_stored_or_means_nothing(
    graph: Database, statement: str
) -> None:
    linked = await link(graph, statement)
    assert linked.changes == ()
    assert linked.tokens == read_tokens(statement)


async def test_a_value_that_two_stored_values_are_equally_near_to_stays(graph: Database) -> None:
    await alter(graph, "CREATE (:Person {name: 'Tom Hankz'})")
    assert (await link(graph, "MATCH (p:Person {name: 'Tom Hank'}) RETURN p")).changes == ()


async def test_too_many_candidates_allow_no_wrong_letters(
    graph: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "CANDIDATES", 2)
    assert (await link(graph, "MATCH (p:Person {name: 'Tom Hank'}) RETURN p")).changes == ()


async def test_all_look_ups_of_a_statement_share_a_limit_of_time(
    graph: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linking, "LINK_S", 0.0)
    assert (await link(graph, "MATCH (p:Person {name: 'Tom Hank'}) RETURN p")).changes == ()


async def test_a_rare_spelling_is_kept_if_it_is_the_written_one(graph: Database) -> None:
    await alter(graph, "UNWIND range(1, 9) AS x CREATE (:Movie {title: 'GUMP ' + x})")
    statement = "MATCH (m:Movie) WHERE m.title CONTAINS 'Gump' RETURN m"
    assert (await link(graph, statement)).changes == ()
    linked = await link(graph, statement.replace("Gump", "gump"))
    assert [change.linked for change in linked.changes] == ["GUMP"]


async def test_a_look_up_that_takes_too_long_leaves_the_statement_as_it_is(
    graph: Database,
) -> None:
    hurried = replace(graph, timeout_s=0.0)
    statement = "MATCH (p:Person {name: 'tom hank'}) WHERE p.name CONTAINS 'tom' RETURN p"
    assert (await link(hurried, statement)).tokens == read_tokens(statement)
