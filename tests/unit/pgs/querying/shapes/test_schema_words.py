"""Labels, types, and properties that words of a question spell."""

from __future__ import annotations

import pytest

from pgs_neo4j.model.graph import GraphMapping
from pgs_neo4j.model.graph_schema import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.shapes.question_words import ENGLISH
from pgs_neo4j.pgs.querying.shapes.schema_words import SchemaWords, find_titles, split_name

PROPERTIES = tuple(
    SchemaProperty(name=name, types=(type_,))
    for name, type_ in {
        "title": "STRING NOT NULL",
        "imdbRating": "FLOAT",
        "units_in_stock": "INTEGER",
        "year": "INTEGER",
        "releaseDate": "LOCAL DATETIME",
        "released": "STRING",
    }.items()
)
TYPES = ("ACTED_IN", "CITES", "WROTE", "INTERACTS1", "PART_OF", "HAS_CEO", "tagged", "WRITTEN_BY")
WORDS = SchemaWords(
    GraphSchema(
        labels=(
            SchemaLabel(label="Movie", properties=PROPERTIES),
            SchemaLabel(label="TimeZone"),
            SchemaLabel(label="Category"),
            SchemaLabel(label="Person"),
            SchemaLabel(label="Genre"),
            SchemaLabel(label="HTTPServer_v2"),
        ),
        types=tuple(SchemaType(type=one, ends=(("Person", "Movie"),)) for one in TYPES),
    ),
    {},
    ENGLISH,
)


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("movie", "Movie"),
        ("movies", "Movie"),
        ("time zones", "TimeZone"),
        ("timezone", "TimeZone"),
        ("categories", "Category"),
        ("people", "Person"),
        ("persons", "Person"),
        ("presons", "Person"),
        ("catgories", "Category"),
        ("http server v2", "HTTPServer_v2"),
        ("genes", ""),
        ("persona", ""),
        ("films", ""),
        ("directed", ""),
    ],
)
def test_labels(words: str, labels: str) -> None:
    assert " ".join(WORDS.find_labels(words.split())) == labels


@pytest.mark.parametrize(
    ("words", "types"),
    [
        ("acted", ["ACTED_IN"]),
        ("acting", ["ACTED_IN"]),
        ("cited", ["CITES"]),
        ("cite", ["CITES"]),
        ("written", ["WROTE", "WRITTEN_BY"]),
        ("tag", ["tagged"]),
        ("part", ["PART_OF"]),
        ("ceo", ["HAS_CEO"]),
        ("interacted", []),
        ("city", []),
    ],
)
def test_types(words: str, types: list[str]) -> None:
    assert [one.type for one in WORDS.find_types(words.split())] == types


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("imdb rating", (["imdbRating"], True)),
        ("imdbrating", (["imdbRating"], True)),
        ("rating", (["imdbRating"], False)),
        ("units in stock", (["units_in_stock"], True)),
        ("unit", ([], False)),
        ("stock", (["units_in_stock"], False)),
    ],
)
def test_properties(words: str, found: tuple[list[str], bool]) -> None:
    properties, whole = WORDS.find_properties("Movie", words.split())
    assert ([one.name for one in properties], whole) == found


@pytest.mark.parametrize(
    ("word", "type_"),
    [("interactions", "INTERACTS1"), ("actors", ""), ("writers", "WROTE"), ("raters", "")],
)
def test_nouns_that_are_made_of_a_verb(word: str, type_: str) -> None:
    assert WORDS.find_related_type("Movie", [word]) == type_
    assert WORDS.find_related_type("Genre", [word]) == ""


def test_times_are_dates_and_years() -> None:
    assert [one.name for one in WORDS.find_times("Movie")] == ["year", "releaseDate"]
    assert WORDS.find_times("Unknown") == ()


def test_a_title_names_nodes_and_else_their_own_key() -> None:
    def name_nodes(*names: str) -> str:
        texts = tuple(SchemaProperty(name=one, types=("STRING",)) for one in names)
        schema = GraphSchema(labels=(SchemaLabel(label="Order", properties=texts),))
        found = SchemaWords(schema, find_titles(schema, GraphMapping()), ENGLISH)
        return found.name_property("Order")

    assert name_nodes("shipName", "customerId", "orderId") == "orderId"
    assert name_nodes("id", "title") == "title"
    assert name_nodes("customerId", "note") == ""


def test_names_are_divided_at_humps_signs_and_digits() -> None:
    assert split_name("HTTPServer_v2") == ["http", "server", "v", "2"]
    assert split_name("originator_bankId") == ["originator", "bank", "id"]
