"""How the benchmark of question shapes reads what is published."""

from __future__ import annotations

from dataclasses import replace

from pgs_neo4j.model.graph import GraphMapping
from pgs_neo4j.pgs.querying.shapes.names import Place
from pgs_neo4j.pgs.querying.shapes.question_words import ENGLISH
from pgs_neo4j.pgs.querying.shapes.schema_words import SchemaWords, find_titles
from tests.bench.question_shapes import find_compared, find_shape
from tests.published_statements import Pair, parse_schema

SCHEMA = """Node properties:
- **Film**
  - `title`: STRING Example: "Kiln"
  - `year`: INTEGER Min: 1902, Max: 2016
- **Person**
  - `name`: STRING
Relationship properties:
- **ACTED_IN**
  - `role: STRING` Example: "Potter"
The relationships:
(:Person)-[:ACTED_IN]->(:Film)
"""


def test_a_published_schema_is_read() -> None:
    schema = parse_schema(SCHEMA)
    assert [(one.label, [own.name for own in one.properties]) for one in schema.labels] == [
        ("Film", ["title", "year"]),
        ("Person", ["name"]),
    ]
    ((acted,),) = [schema.types]
    assert (acted.type, acted.ends) == ("ACTED_IN", (("Person", "Film"),))
    assert [(own.name, own.types) for own in acted.properties] == [("role", ("STRING",))]


def test_compared_texts_have_their_labels() -> None:
    cypher = """MATCH (p:Person {name: "Ann"})-[:ACTED_IN]->(f:Film) WHERE f.title = 'Kiln'"""
    assert list(find_compared(cypher)) == [
        (Place("Person", "name"), "Ann"),
        (Place("Film", "title"), "Kiln"),
    ]


def test_a_question_has_its_statement_or_its_reason() -> None:
    schema = parse_schema(SCHEMA)
    words = SchemaWords(schema, find_titles(schema, GraphMapping()), ENGLISH)
    statement = "MATCH (p:Person)-[:ACTED_IN]->(:Film {title: 'Kiln'}) RETURN p.name"
    pair = Pair("Who acted in 'Kiln'?", statement, "films", (), False, True)
    found = find_shape(words, pair)
    assert found.shape is not None
    assert "(asked:`Person`)-[:`ACTED_IN`]->(named:`Film`)" in found.text
    refused = find_shape(words, replace(pair, statement="MATCH (p:Person) RETURN p.name"))
    assert (refused.shape, "\u201cKiln\u201d" in refused.text) == (None, True)
