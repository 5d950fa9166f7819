"""The words that a full-text index is asked for, and the indexes that are asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.paths.indexes import covering_text_indexes, covering_vector_indexes
from pgs_neo4j.search.paths.text import MOST_WORDS, searched_words
from tests.thorough import tries

PAPERS = GraphMapping(labels=("Paper", "Author"), text=("abstract", "note"), title="name")


def index(name: str, labels: str, properties: str) -> SearchIndex:
    return SearchIndex(
        name=name,
        kind="text",
        entity="node",
        labels=tuple(labels.split()),
        properties=tuple(properties.split()),
    )


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is TCP/IP?", ["tcp", "ip"]),
        ('title:"a b" AND (NOT c*) ~2 ^3', ["title", "b", "c", "2", "3"]),
        ("HttpServer", ["httpserver", "http", "server"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("???", []),
        ("Ruß 東京", ["ruß", "東京", "russ"]),
    ],
)
def test_only_words_are_searched(question: str, words: list[str]) -> None:
    assert searched_words(question) == words


@settings(max_examples=tries(20, 100))
@given(st.text(max_size=400))
def test_no_sign_of_the_query_language_is_left(question: str) -> None:
    words = searched_words(question)
    assert len(words) <= MOST_WORDS
    assert all(any(map(str.isalnum, word)) for word in words)
    # Marks belong to the letters that they stand on.
    letters = (sign for word in words for sign in word if category(sign)[0] != "M")
    assert all(map(str.isalnum, letters))
    assert not {"AND", "OR", "NOT", "TO"} & set(words)


ABSTRACTS, NAMES = index("p", "Paper", "abstract"), index("a", "Author", "name")
BOTH = index("both", "Paper Author", "abstract note name")


@pytest.mark.parametrize(
    ("indexes", "chosen"),
    [
        ([ABSTRACTS, NAMES], (ABSTRACTS, NAMES)),
        ([ABSTRACTS], ()),
        ([ABSTRACTS, index("a", "Author", "email")], ()),
        ([index("titles", "Paper", "name"), BOTH], (BOTH,)),
    ],
    ids=["each label", "a label without one", "other properties", "most of the texts"],
)
def test_every_label_needs_an_index_and_the_one_with_most_texts_is_taken(
    indexes: list[SearchIndex], chosen: tuple[SearchIndex, ...]
) -> None:
    assert covering_text_indexes(indexes, PAPERS) == chosen
    assert covering_text_indexes(indexes, replace(PAPERS, labels=())) == ()


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"dimensions": 3},
        {"properties": ("w",)},
        {"state": "POPULATING"},
        {"state": "FAILED"},
        {"similarity": "EUCLIDEAN"},
        {"entity": "relationship"},
    ],
)
def test_only_an_index_of_the_same_vectors_serves(other: dict[str, Any]) -> None:
    mapping = GraphMapping(labels=("Paper",), embedding="v")
    plain = SearchIndex(
        name="mine", kind="vector", entity="node", labels=("Paper",), properties=("v",),
        dimensions=2, similarity="COSINE",
    )  # fmt: skip
    made = replace(plain, **other)
    assert covering_vector_indexes([made], mapping, 2) == (() if other else (made,))
    assert covering_vector_indexes([made], replace(mapping, labels=("Paper", "B")), 2) == ()
