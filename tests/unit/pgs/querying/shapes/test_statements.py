"""Statements of shapes: names and values become tokens, whatever they contain."""

from __future__ import annotations

import pytest

from pgs_neo4j.database.gate.tokens import read_tokens, write_tokens
from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.shapes.parts import Condition, End, Group, Link, Route, Shape
from pgs_neo4j.pgs.querying.shapes.question_words import ENGLISH
from pgs_neo4j.pgs.querying.shapes.schema_words import SchemaWords
from pgs_neo4j.pgs.querying.shapes.statements import write_statement, write_value

WROTE = Route("WROTE", False, "Author")


def make_schema(label: str = "Paper", title: str = "title", type_: str = "WROTE") -> SchemaWords:
    schema = GraphSchema(
        labels=(
            SchemaLabel(label=label, properties=(SchemaProperty(name=title, types=("STRING",)),)),
            SchemaLabel(label="Author"),
            SchemaLabel(label="Note"),
        ),
        types=(SchemaType(type=type_, ends=(("Author", label),)), SchemaType(type="CITES")),
    )
    return SchemaWords(schema, {label: (title,), "Author": ("name",)}, ENGLISH)


@pytest.mark.parametrize(
    ("shape", "statement"),
    [
        (
            Shape(kind="count", labels=("Paper",)),
            "MATCH (asked:`Paper`) RETURN count(asked) AS count",
        ),
        (
            Shape(
                kind="count", labels=("Paper", "Note"), conditions=(Condition(("year",), ">=", 2),)
            ),
            "MATCH (asked:`Paper`|`Note`) WHERE asked.`year` >= 2 RETURN count(asked) AS count",
        ),
        (
            Shape(
                kind="list",
                labels=("Paper",),
                links=(Link((WROTE,), "Ann", "name"), Link((Route("ABOUT", True, "Topic"),))),
                conditions=(Condition(("at",), "=", 2020, of_year=True),),
            ),
            "MATCH (asked:`Paper`)<-[:`WROTE`]-(named:`Author`) "
            "MATCH (asked:`Paper`)-[:`ABOUT`]->(named2:`Topic`) "
            "WHERE named.`name` = 'Ann' AND asked.`at`.year = 2020 WITH DISTINCT asked "
            "RETURN asked.`title` AS title ORDER BY title, elementId(asked) LIMIT 101",
        ),
        (
            Shape(kind="list", labels=("Note",), limit=3),
            "MATCH (asked:`Note`) RETURN asked ORDER BY elementId(asked) LIMIT 3",
        ),
        (
            Shape(kind="list", labels=("Paper",), shown="pages"),
            "MATCH (asked:`Paper`) RETURN asked.`title` AS title, asked.`pages` AS pages "
            "ORDER BY title, elementId(asked) LIMIT 101",
        ),
        (
            Shape(kind="top", labels=("Paper",), measure="pages", descending=False, limit=2),
            "MATCH (asked:`Paper`) WHERE asked.`pages` IS NOT NULL "
            "RETURN asked.`title` AS title, asked.`pages` AS pages "
            "ORDER BY pages ASC, title, elementId(asked) LIMIT 2",
        ),
        (
            Shape(kind="top", labels=("Paper",), counted=Link((WROTE,))),
            "MATCH (asked:`Paper`) MATCH (asked)<-[:`WROTE`]-(other:`Author`) "
            "WITH asked, count(DISTINCT other) AS count RETURN asked.`title` AS title, count "
            "ORDER BY count DESC, title, elementId(asked) LIMIT 1",
        ),
        (
            Shape(
                kind="count",
                labels=("Paper",),
                conditions=(Condition(("at",), ">", 2000, of_year=True),),
                group=Group("at", of_year=True),
            ),
            "MATCH (asked:`Paper`) WHERE asked.`at`.year > 2000 "
            "RETURN asked.`at`.year AS at, count(asked) AS count ORDER BY at LIMIT 101",
        ),
        (
            Shape(
                kind="aggregate",
                labels=("Paper",),
                function="max",
                measure="pages",
                group=Group(link=Link((WROTE,))),
            ),
            "MATCH (asked:`Paper`) MATCH (asked)<-[:`WROTE`]-(other:`Author`) "
            "WITH DISTINCT asked, other WITH other, max(asked.`pages`) AS result "
            "RETURN other.`name` AS title, result "
            "ORDER BY result DESC, title, elementId(other) LIMIT 101",
        ),
        (
            Shape(
                kind="paths", ends=(End("Ann", "Author", "name"), End("Kilns", "Paper", "title"))
            ),
            "MATCH (first:`Author`) WHERE first.`name` = 'Ann' "
            "MATCH (second:`Paper`) WHERE second.`title` = 'Kilns' "
            "MATCH path = allShortestPaths((first)-[:`WROTE`|`CITES`*..4]-(second)) "
            "RETURN [node IN nodes(path) | coalesce(node.`title`,node.`name`)] AS titles, "
            "[one IN relationships(path) | type(one)] AS types ORDER BY types, titles LIMIT 5",
        ),
    ],
)
def test_a_shape_becomes_a_complete_statement(shape: Shape, statement: str) -> None:
    assert write_statement(make_schema(), shape) == statement


HOSTILE = [
    "O'Neil",
    'a "b"',
    "`x`",
    "\\",
    "\\'",
    "\\u0060",
    "\\\\u0027 OR true",
    "$name",
    "// x",
    "é\n",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_ends_its_token(text: str) -> None:
    shape = Shape(kind="count", labels=("Paper",), links=(Link((WROTE,), text, "name"),))
    plain = Shape(kind="count", labels=("Paper",), links=(Link((WROTE,), "x", "name"),))
    tokens = read_tokens(write_statement(make_schema(), shape))
    expected = read_tokens(write_statement(make_schema(), plain))
    assert [token.kind for token in tokens] == [token.kind for token in expected]
    (value,) = [token for token in tokens if token.kind == "string"]
    assert value.text == write_value(text).text


@pytest.mark.parametrize("name", [*HOSTILE, "Asked", "LINK", "title", "Named", "measure", "DESC"])
def test_no_name_is_taken_for_anything_else(name: str) -> None:
    schema = make_schema(label=name, title=name, type_=name)
    link = Link((Route(name, False, name),), "x", name)
    shape = Shape(kind="top", labels=(name,), links=(link,), measure=name, limit=2)
    plain_link = Link((Route("L", False, "P"),), "x", "t")
    plain = Shape(kind="top", labels=("P",), links=(plain_link,), measure="t", limit=2)
    statement = write_statement(schema, shape)
    expected = write_statement(make_schema("P", "t", "L"), plain)
    tokens, like = read_tokens(statement), read_tokens(expected)
    assert [token.text for token in tokens if token.kind == "name"].count(name) >= 6
    assert len(tokens) == len(like)
    assert write_tokens(tokens) == statement
