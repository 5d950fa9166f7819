"""The text of a schema, and what a question keeps of a schema that is too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model import GraphSchema, SchemaLabel, SchemaProperty, SchemaType
from pgs_neo4j.pgs.querying.schema.index import index_schema, split_name
from pgs_neo4j.pgs.querying.schema.text import prune_schema, write_schema
from pgs_neo4j.text.tokens import estimate
from tests.published_statements import ARCHIVE
from tests.schema_needs import add_noise, find_needs, merge_schemas, read_pairs


def own(name: str, kind: str = "STRING", *examples: str) -> SchemaProperty:
    return SchemaProperty(name=name, types=(kind,), examples=examples)


MOVIES = GraphSchema(
    labels=(
        SchemaLabel(
            label="Movie",
            properties=(
                own("title", "STRING", 'The "Kiln"', "Heat"),
                own("year", "INTEGER", "1995"),
                own("plot"),
            ),
        ),
        SchemaLabel(label="Person", properties=(own("name", "STRING", "Ann"),)),
        SchemaLabel(label="Genre"),
        SchemaLabel(label="Lone Label"),
    ),
    types=(
        SchemaType(type="ACTED_IN", properties=(own("role"),), ends=(("Person", "Movie"),)),
        SchemaType(type="IN", ends=(("Movie", "Genre"),)),
        SchemaType(
            type="LIKES",
            properties=(own("stars", "FLOAT"),),
            ends=(("Person", "Movie"), ("Person", "Genre"), ("Movie", "Movie")),
        ),
    ),
)


def test_a_schema_is_written_line_by_line() -> None:
    assert write_schema(MOVIES).splitlines() == [
        '(:Movie {title: STRING "The \\"Kiln\\"" | "Heat", year: INTEGER 1995, plot: STRING})',
        '(:Person {name: STRING "Ann"})',
        "(:`Lone Label`)",
        "(:Person)-[:ACTED_IN {role: STRING}]->(:Movie)",
        "(:Movie)-[:IN]->(:Genre)",
        "(:Person)-[:LIKES {stars: FLOAT}]->(:Movie|Genre)",
        "(:Movie)-[:LIKES]->(:Movie)",
    ]


def test_a_type_without_known_ends_is_written() -> None:
    assert write_schema(GraphSchema(types=(SchemaType(type="a-b"),))) == "()-[:`a-b`]->()"


def test_a_schema_that_fits_stays_whole() -> None:
    assert prune_schema(MOVIES, "anything", 200) == MOVIES


def test_examples_go_first_and_then_types_and_then_names() -> None:
    names = [write_schema(prune_schema(MOVIES, "movies", size)) for size in range(90)]
    assert '"Heat"' in names[89]
    assert any("STRING" in text and '"Heat"' not in text for text in names)
    assert any("title" in text and "STRING" not in text for text in names)
    assert any("Movie" in text and "plot" not in text for text in names)


def test_an_example_that_the_question_names_stays() -> None:
    size = estimate(write_schema(MOVIES)) - 12
    kept = prune_schema(MOVIES, "Who acted in Heat?", size)
    assert '"Heat"' in write_schema(kept)
    assert '"Ann"' not in write_schema(kept)


def wide(count: int) -> GraphSchema:
    """Return a schema of many labels, the neighbors in the order connected."""
    labels = [
        SchemaLabel(label=f"Thing{place}Part", properties=(own(f"value{place}"), own("code")))
        for place in range(count)
    ]
    ends = [(labels[place].label, labels[place + 1].label) for place in range(count - 1)]
    types = [SchemaType(type=f"LINK_{place}", ends=(pair,)) for place, pair in enumerate(ends)]
    return merge_schemas([GraphSchema(labels=tuple(labels), types=tuple(types)), MOVIES])


@pytest.mark.parametrize(
    ("question", "needed"),
    [
        ("Who acted in The Kiln?", {"Person", "Movie"}),
        ("Which actors have the role of a potter?", {"Person", "Movie"}),
        ("List the genres of movies", {"Genre", "Movie"}),
        ("What was the plot?", {"Movie"}),
        ("movie_titles of persons", {"Movie", "Person"}),
        ("the value 40 of thing 40", {"Thing40Part"}),
    ],
)
def test_what_a_question_names_stays_among_many_labels(question: str, needed: set[str]) -> None:
    kept = prune_schema(wide(500), question, 400)
    assert needed <= {each.label for each in kept.labels}


def test_types_between_needed_labels_stay() -> None:
    kept = prune_schema(wide(500), "persons and genres", 400)
    assert ("Person", "Genre") in {pair for each in kept.types for pair in each.ends}


def test_a_label_between_two_needed_labels_stays() -> None:
    kept = prune_schema(wide(500), "from thing 40 part to thing 42 part", 300)
    assert {"Thing40Part", "Thing41Part", "Thing42Part"} <= {each.label for each in kept.labels}


def test_the_most_frequent_labels_stay_if_nothing_matches() -> None:
    kept = prune_schema(wide(500), "¿?", 100)
    assert kept.labels[0].label == "Thing0Part"
    assert kept.labels[0].properties


def test_a_very_long_name_does_not_displace_others() -> None:
    long = SchemaLabel(label="movie" * 2_000, count=9, properties=(own("title" * 2_000),))
    kept = prune_schema(GraphSchema(labels=(long, *MOVIES.labels), types=MOVIES.types), "movie")
    assert kept == MOVIES


NAMES = st.text(max_size=12)
PROPERTIES = st.lists(
    st.builds(
        SchemaProperty,
        name=NAMES,
        types=st.lists(st.sampled_from(["STRING", "INTEGER"]), max_size=2).map(tuple),
        examples=st.lists(NAMES, max_size=3).map(tuple),
    ),
    max_size=4,
).map(tuple)
SCHEMAS = st.builds(
    GraphSchema,
    labels=st.lists(st.builds(SchemaLabel, label=NAMES, properties=PROPERTIES), max_size=6).map(
        tuple
    ),
    types=st.lists(
        st.builds(
            SchemaType,
            type=NAMES,
            properties=PROPERTIES,
            ends=st.lists(st.tuples(NAMES, NAMES), max_size=4).map(tuple),
        ),
        max_size=6,
    ).map(tuple),
)


@given(SCHEMAS, st.text(max_size=40), st.integers(0, 120))
def test_every_schema_fits(schema: GraphSchema, question: str, tokens: int) -> None:
    kept = prune_schema(index_schema(schema), question, tokens)
    assert estimate(write_schema(kept)) <= tokens
    assert {each.label for each in kept.labels} <= {each.label for each in schema.labels}
    assert {each.type for each in kept.types} <= {each.type for each in schema.types}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("releaseDate", ("releas", "dat")),
        ("release_date", ("releas", "dat")),
        ("HAS_CEO", ("ceo",)),
        ("INTERACTS45", ("interact", "45")),
        ("HAS", ("has",)),
    ],
)
def test_names_are_split_into_roots(name: str, words: tuple[str, ...]) -> None:
    assert split_name(name) == words


def test_needs_are_the_names_that_a_statement_uses() -> None:
    needs = find_needs(
        "MATCH (p:Person {name: 'x'})-[l:LIKES]->(m:Movie) WHERE l.stars > 3 RETURN m.year", MOVIES
    )
    assert needs.labels == {"Person", "Movie"}
    assert needs.types == {"LIKES"}
    assert needs.properties == {("Person", "name"), ("LIKES", "stars"), ("Movie", "year")}
    assert needs.missing(GraphSchema(labels=MOVIES.labels)) == ["LIKES", "LIKES.stars"]


def test_published_statements_find_what_they_need(shared) -> None:
    schemas, pairs = read_pairs(shared / "data" / ARCHIVE)
    large = index_schema(add_noise(merge_schemas(schemas.values()), 300))
    asked = pairs[::150]
    alone = [not p.needs.missing(prune_schema(schemas[p.database], p.question)) for p in asked]
    among = [not p.needs.missing(prune_schema(large, p.question)) for p in asked]
    assert all(alone)
    assert sum(among) >= 0.96 * len(asked) > 50
