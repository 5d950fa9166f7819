"""The schema that a model sees, read from a real database."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import QueryError
from pgs_neo4j.model import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.schema import read_schema as reading
from pgs_neo4j.pgs.querying.schema.read_schema import read_schema
from pgs_neo4j.pgs.querying.schema.text import write_schema
from tests.database import alter

GRAPH = """
CREATE (a:Person:Actor {name: 'Ann', born: date('1970-02-01')})
CREATE (b:Person {name: 'Bob', `home town`: 'Oslo', born: 1971})
CREATE (m:Movie {title: 'The Kiln', plot: 'Two potters argue about glazes all winter long',
                 votes: [1, 2], vector: [x IN range(1, 64) | x / 2.0], seen: true})
CREATE (a)-[:ACTED_IN {role: 'potter'}]->(m), (b)-[:SAW]->(m), (b)-[:SAW {day: 3}]->(a)
CREATE ()-[:LOST]->(m), (b)-[:PGS_IN]->(:PgsPartition {uid: 'p'}), (:Gone)
"""


@pytest.fixture
async def graph(db: Database) -> Database:
    await alter(db, GRAPH)
    await alter(db, "MATCH (n:Gone) DELETE n")
    return db


def text(name: str, *examples: str) -> SchemaProperty:
    return SchemaProperty(name=name, types=("STRING",), examples=examples)


async def test_labels_types_properties_and_ends_are_read(graph: Database) -> None:
    found = await read_schema(graph)
    person, actor, movie = found.labels
    assert (person.label, person.count, actor.label, actor.count) == ("Person", 2, "Actor", 1)
    born, name, town = person.properties
    assert (born.name, born.types, set(born.examples)) == (
        "born",
        ("DATE", "INTEGER"),
        {"1970-02-01", "1971"},
    )
    assert (name.name, name.types, set(name.examples)) == ("name", ("STRING",), {"Ann", "Bob"})
    assert town == text("home town", "Oslo")
    assert movie.properties == (
        text("plot", "Two potters argue about glazes all…"),
        SchemaProperty(name="seen", types=("BOOLEAN",)),
        text("title", "The Kiln"),
        SchemaProperty(name="vector", types=("LIST<FLOAT>",)),
        SchemaProperty(name="votes", types=("LIST<INTEGER>",)),
    )
    assert found.types == (
        SchemaType(
            type="SAW",
            count=2,
            properties=(SchemaProperty(name="day", types=("INTEGER",), examples=("3",)),),
            ends=(("Person", "Actor"), ("Person", "Movie"), ("Person", "Person")),
        ),
        SchemaType(
            type="ACTED_IN",
            count=1,
            properties=(text("role", "potter"),),
            ends=(("Actor", "Movie"), ("Person", "Movie")),
        ),
        SchemaType(type="LOST", count=1),
    )
    assert "(:Person)-[:SAW {day: INTEGER 3}]->(:Actor|Movie|Person)" in write_schema(found)


async def test_a_label_with_many_nodes_is_sampled_at_its_beginning(
    graph: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await read_schema(graph)
    monkeypatch.setattr(reading, "SCAN", 1)
    found = await read_schema(graph)
    assert [each.label for each in found.labels] == [each.label for each in whole.labels]
    assert [each.count for each in found.types] == [each.count for each in whole.types]
    assert [each.name for each in found.labels[0].properties] == ["born", "name"]
    assert sum(len(each.ends) for each in found.types) < sum(len(t.ends) for t in whole.types)


async def test_a_user_without_the_count_store_gets_the_same_schema(
    graph: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = await read_schema(graph)
    read = Database.read

    async def refuse(self, query, **params):
        if query.name.endswith("read_schema/read_counts"):
            raise QueryError("the procedure is not allowed")
        return await read(self, query, **params)

    monkeypatch.setattr(Database, "read", refuse)
    assert await read_schema(graph) == whole


async def test_an_empty_database_has_an_empty_schema(db: Database) -> None:
    assert await read_schema(db) == GraphSchema()


async def test_a_name_of_any_characters_is_read(db: Database) -> None:
    await alter(db, "CREATE (:`a``b\\u005Cu0060 c` {`x: y`: 1})-[:`is ``of`]->(:Plain)")
    found = await read_schema(db)
    assert SchemaLabel(label="Plain", count=1) in found.labels
    assert [each.type for each in found.types] == ["is `of"]
    assert [own.name for each in found.labels for own in each.properties] == ["x: y"]
