"""The words that a full-text index is asked for, and the indexes that are asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.model import GraphMapping
from pgs_neo4j.retrieval.indexes.search_index import SearchIndex
from pgs_neo4j.retrieval.paths.indexes import covering_text_indexes
from pgs_neo4j.retrieval.paths.text import MOST_WORDS, searched_words

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
        ("Ruß 東京", ["ruß", "東京"]),
    ],
)
def test_only_words_are_searched(question: str, words: list[str]) -> None:
    assert searched_words(question) == words


@given(st.text(max_size=400))
def test_no_sign_of_the_query_language_is_left(question: str) -> None:
    words = searched_words(question)
    assert len(words) <= MOST_WORDS
    assert all(character.isalnum() for word in words for character in word)
    assert not {"AND", "OR", "NOT", "TO"} & set(words)


def test_every_label_needs_an_index_on_its_texts() -> None:
    papers, authors = index("p", "Paper", "abstract"), index("a", "Author", "name")
    assert covering_text_indexes([papers, authors], PAPERS) == (papers, authors)
    assert covering_text_indexes([papers], PAPERS) == ()
    assert covering_text_indexes([papers, index("a", "Author", "email")], PAPERS) == ()


def test_the_index_with_most_of_the_texts_is_taken() -> None:
    both = index("both", "Paper Author", "abstract note name")
    titles = index("titles", "Paper", "name")
    assert covering_text_indexes([titles, both], PAPERS) == (both,)


def test_a_view_of_all_labels_has_no_index() -> None:
    assert covering_text_indexes([index("p", "Paper", "abstract")], GraphMapping(text=("a",))) == ()
