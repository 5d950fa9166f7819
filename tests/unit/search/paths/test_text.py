"""The words that a full-text index is asked for, and the indexes that are asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.model import FoundFinding, GraphMapping
from pgs_neo4j.search.known_indexes import covering_text_indexes, covering_vector_indexes
from pgs_neo4j.search.paths.text import MOST_WORDS, find_findings, words_to_search
from pgs_neo4j.search.paths.walk import Hits
from tests.fakes.database import FakeDatabase
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
    assert words_to_search(question) == words


@settings(max_examples=tries(20, 100))
@given(st.text(max_size=400))
def test_no_sign_of_the_query_language_is_left(question: str) -> None:
    words = words_to_search(question)
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


ROW: Row = {"id": "f1", "text": "Tea was cheap.", "run": "r1", "partition": 3, "count": 2}


async def findings_of(db: FakeDatabase, graph: str | None, question: str) -> Hits:
    return await find_findings(cast("Database", db), graph, question, 10)


async def test_a_score_is_the_share_of_the_words_that_a_finding_holds() -> None:
    hits = await findings_of(FakeDatabase(find_findings=[ROW]), "g", "Was tea cheap in London?")
    assert hits.things == (
        FoundFinding(id="f1", text="Tea was cheap.", run="r1", partition=3, score=2 / 3),
    )
    assert (hits.scores, hits.method) == ({}, "words in the findings of earlier runs")


@pytest.mark.parametrize(
    ("question", "words", "least"),
    [
        ("tea", ["tea"], 1),
        ("tea salt", ["tea", "salt"], 1),
        ("Did tea or salt or silk pay?", ["tea", "salt", "silk", "pay"], 2),
    ],
)
async def test_half_of_the_words_are_enough(question: str, words: list[str], least: int) -> None:
    db = FakeDatabase()
    await findings_of(db, "g", question)
    (params,) = db.params("find_findings")
    assert (params["graph"], params["words"], params["least"]) == ("g", words, least)


async def test_nothing_is_read_without_a_stored_graph_or_words() -> None:
    db = FakeDatabase()
    assert (await findings_of(db, None, "tea")).method == "no runs to look at"
    assert (await findings_of(db, "g", "?!")).method == "no words to search for"
    assert db.sent == []
