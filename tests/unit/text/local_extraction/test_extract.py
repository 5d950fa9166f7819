from __future__ import annotations

import pydoc_data.topics
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.model.documents import DocumentText, ExtractedRelation, Extraction
from pgs_neo4j.text.chunking import chunk_document
from pgs_neo4j.text.extraction.ground import ground
from pgs_neo4j.text.local_extraction import extract_terms
from pgs_neo4j.text.local_extraction.extract import (
    MOST_TERMS,
    StatedRelation,
    find_headings,
    find_links,
    title_of,
    type_of,
)
from tests.unit.text.conftest import chunk_of

GUIDE = """# Graph databases

A graph database is a database that stores nodes. Neo4j is a graph database.

## Query languages

See [Cypher](https://opencypher.org) and [Gremlin][g] for more. Cypher was made by Neo4j.
Gremlin came later. Neo4j still likes Cypher most.
"""


def names(extraction: Extraction) -> set[str]:
    return {one.name for one in extraction.entities}


def stated(extraction: Extraction, keyword: str) -> set[tuple[str, str]]:
    return {(one.source, one.target) for one in extraction.relations if keyword in one.keywords}


def test_terms_are_entities_with_their_sentences() -> None:
    chunk = chunk_of(GUIDE)
    extraction = extract_terms(chunk)
    assert {"Neo4j", "Cypher", "Gremlin", "graph database", "nodes"} <= names(extraction)
    (cypher,) = [one for one in extraction.entities if one.name == "Cypher"]
    texts = [
        chunk.text[chunk.sentences[n - 1].start : chunk.sentences[n - 1].end]
        for n in cypher.sentences
    ]
    assert len(texts) == 3
    assert all("Cypher" in text for text in texts)


def test_a_definition_is_a_relation_and_a_description() -> None:
    extraction = extract_terms(chunk_of(GUIDE))
    assert ("Neo4j", "graph database") in stated(extraction, "is a")
    described = {one.name: one.description for one in extraction.entities}
    assert described["Neo4j"] == "Neo4j is a graph database."
    assert described["Gremlin"] == ""


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Rust is a language. We use Rust.", ("Rust", "language")),
        ("The planner (new) is the component of it.", ("planner", "component")),
        ("- `Moon` is a satellite.", ("Moon", "satellite")),
        ("On it, Moon is a satellite.", None),
        ("Tokens are the units of text.", ("Tokens", "units")),
        ("Ada was one of the pioneers.", ("Ada", "pioneers")),
        ("It is a language.", None),
        ("This long story about nothing at all is a language.", None),
    ],
)
def test_definitions(text: str, pair: tuple[str, str] | None) -> None:
    assert stated(extract_terms(chunk_of(text)), "is a") == ({pair} if pair else set())


def test_the_path_of_a_chunk_is_above_its_headings() -> None:
    last = replace(chunk_of("## Lower\n\nSee [Cypher](x).\n"), path=("Top",))
    extraction = extract_terms(last)
    assert stated(extraction, "part of") == {("Lower", "Top")}
    assert ground(extraction, last).dropped == {}


def test_terms_that_share_two_sentences_are_related() -> None:
    text = "Ada met Babbage. Later Ada wrote Babbage. Then Ada left. And Byron knew Babbage."
    extraction = extract_terms(chunk_of(text))
    (pair,) = [one for one in extraction.relations if one.keywords == ("occurs with",)]
    assert pair == ExtractedRelation(
        source="Ada", target="Babbage", keywords=("occurs with",), sentences=(1, 2), weight=2.0
    )
    grounded = ground(extraction, chunk_of(text))
    assert grounded.relations[0].fact == "Ada met Babbage."


def test_a_pair_weighs_its_sentences_less_for_words_that_stand_anywhere() -> None:
    text = "Near Oslo, the fjord, for people. By Oslo: a fjord and people. In Oslo, fjord, people."
    pairs = [one for one in extract_terms(chunk_of(text)).relations if one.weight > 0]
    weights = {frozenset((one.source, one.target)): one.weight for one in pairs}
    assert weights == {
        frozenset(("fjord", "Oslo")): 3 * 1.0 * 0.5,
        frozenset(("Oslo", "people")): 3 * 1.0 * 0.25,
        frozenset(("fjord", "people")): 3 * 0.5 * 0.25,
    }
    assert [*weights.values()] == sorted(weights.values(), reverse=True)


def test_a_phrase_is_not_related_to_its_own_words() -> None:
    text = "The Nobel Prize in Oslo. A Nobel Prize from Oslo. Nobel Prize and Oslo."
    pairs = stated(extract_terms(chunk_of(text)), "occurs with")
    assert pairs == {("Nobel Prize", "Oslo")}


def test_code_relates_nothing() -> None:
    text = "```\nalpha beta\n\nalpha beta\n\nalpha beta\n```\n"
    assert extract_terms(chunk_of(text)).relations == ()


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("University of Oslo", "Organization"),
        ("Dr Smith", "Person"),
        ("World War I", "Event"),
        ("Hudson River", "Location"),
        ("7 November 1867", "Date"),
        ("graph database", "Concept"),
    ],
)
def test_types_follow_from_the_name_alone(name: str, type_: str) -> None:
    assert type_of(name) == type_


def test_real_texts_are_grounded_wholly() -> None:
    topics = random.Random(4).sample(sorted(pydoc_data.topics.topics.values()), 6)
    extracted = grounded = exact = 0
    for topic in topics:
        for chunk in chunk_document(DocumentText(text=topic[:9000])):
            extraction = extract_terms(chunk)
            assert len(extraction.entities) <= MOST_TERMS
            entities = ground(extraction, chunk).entities
            extracted += len(extraction.entities)
            grounded += len(entities)
            exact += sum(not one.implicit for one in entities)
    assert extracted > 300
    assert grounded >= 0.99 * extracted
    assert exact >= 0.97 * grounded


TEXTS = st.lists(
    st.one_of(
        st.sampled_from(
            ["# A b\n", "[x y](z) ", "Ada is a nurse. ", "`f` ", "\n\n", "| a | b |\n"]
        ),
        st.text(max_size=12),
    ),
    max_size=20,
).map(lambda parts: "".join(parts).replace("\r", "\n"))


@settings(deadline=None)
@given(TEXTS)
def test_any_text_has_terms_within_bounds(text: str) -> None:
    for chunk in chunk_document(DocumentText(text=text)):
        extraction = extract_terms(chunk, 10)
        assert len(extraction.entities) <= 10
        known = names(extraction)
        assert len(known) == len(extraction.entities)
        for relation in extraction.relations:
            assert relation.source != relation.target
            assert all(1 <= n <= len(chunk.sentences) for n in relation.sentences)
        ground(extraction, chunk)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# Title\n", "Title"),
        ("## Title ##\n", "Title"),
        ("# **Bold** and `code`\n", "Bold and code"),
        ("# [Link](http://x.y) here\n", "Link here"),
        ("# snake_case _marked_\n", "snake_case marked"),
        ("# Arrow \u2192\n", "Arrow"),
        ("# " + "x" * 90 + "\n", ""),
    ],
)
def test_titles_have_no_marks(heading: str, title: str) -> None:
    assert title_of(heading) == title


def test_a_heading_is_part_of_the_nearest_above() -> None:
    chunk = chunk_of("# A\n\n## B\n\n### C\n\n## D\n\n# E\n")
    assert list(find_headings(chunk)) == [
        StatedRelation("B", "part of", "A", 2),
        StatedRelation("C", "part of", "B", 3),
        StatedRelation("D", "part of", "A", 4),
    ]


def test_links_come_from_the_heading_above_them() -> None:
    chunk = chunk_of("# A\nSee [one](x) and ![image](y).\n\n## B\n[two][t], [B](z), [!!](w).\n")
    assert list(find_links(chunk)) == [
        StatedRelation("A", "links to", "one", 2),
        StatedRelation("B", "links to", "two", 4),
    ]
    assert list(find_links(chunk_of("See [Cypher](https://x.y)."))) == []
