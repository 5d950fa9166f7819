"""What the doctor tells about the indexes that searches of a graph use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.database.search_indexes import SearchIndex
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.engine.doctor.graphs import check_search
from pgs_neo4j.model import GraphMapping

WORDS = GraphMapping(labels=("Paper", "Author"), text=("abstract",), title="name")
VECTORS = replace(WORDS, embedding="v")
FACTS = replace(WORDS, relationship_embedding="v", relationship_types=("CITES",))
PREFIX = "pgs index create --graph papers "


def text(labels: str, properties: str, name: str = "words", **more: Any) -> SearchIndex:
    return SearchIndex(
        name=name,
        kind="text",
        entity="node",
        labels=tuple(labels.split()),
        properties=tuple(properties.split()),
        **more,
    )


def vector(label: str, entity: Any = "node", **more: Any) -> SearchIndex:
    plain = SearchIndex(
        name=f"on_{label}",
        kind="vector",
        entity=entity,
        labels=(label,),
        properties=("v",),
        dimensions=3,
        similarity="COSINE",
    )
    return replace(plain, **more)


def check(mapping: GraphMapping, *indexes: SearchIndex, **more: Any) -> tuple[str, str]:
    """What is told on a graph of that mapping, and the command."""
    result = check_search(StoredGraph("papers", mapping, **more), indexes)
    assert (result.name, result.status, result.fix) == ("search of papers", "ok", "")
    detail, _, command = result.detail.partition("; optional: ")
    return detail, command


@pytest.mark.parametrize(
    ("indexes", "detail", "options"),
    [
        ([text("Paper Author", "abstract name")], "words by index words", ""),
        (
            [text("Paper Author", "name")],
            "words by index words, which lacks some texts of Paper, Author",
            "--text",
        ),
        (
            [text("Paper", "abstract name")],
            "words by reading every text, because no full-text index holds texts of Author",
            "--text",
        ),
        (
            [text("Paper Author", "abstract name", state="POPULATING")],
            "words by reading every text, because no full-text index holds texts of Paper, Author",
            "--text",
        ),
    ],
)
def test_words(indexes: list[SearchIndex], detail: str, options: str) -> None:
    assert check(WORDS, *indexes) == (detail, f"{PREFIX}{options}" if options else "")


def test_the_text_index_of_the_partitions_stands_in_and_a_lack_is_explained() -> None:
    detail, _ = check(WORDS, generation="g1")
    assert detail.startswith("words by the text index of the partitions, because no full-text")
    detail, _ = check(WORDS, generation="g1", redefined=True)
    assert detail.startswith("words by reading every text")
    detail, fix = check(replace(VECTORS, labels=()))
    assert "because the mapping names no label for a full-text index" in detail
    assert detail.endswith("; embeddings without an index, because the mapping names no label")
    assert fix == ""
    detail, fix = check(GraphMapping(labels=("Paper",)))
    assert (detail, fix) == ("no words, because the mapping names neither text nor title", "")


def test_embeddings_and_facts() -> None:
    words = text("Paper Author", "abstract name")
    detail, fix = check(VECTORS, words, vector("Paper"))
    assert detail.endswith("; embeddings without an index on Author")
    assert fix == f"{PREFIX}--vectors"
    detail, fix = check(VECTORS, words, vector("Paper"), vector("Author"))
    assert (detail, fix) == ("words by index words; embeddings by index on_Paper, on_Author", "")
    unlike = [vector("Paper", similarity="EUCLIDEAN"), vector("Author", dimensions=None)]
    assert check(VECTORS, words, *unlike)[0].endswith("without an index on Paper, Author")
    words = text("Paper Author", "abstract name")
    assert check(FACTS, words) == (
        "words by index words; facts without an index",
        PREFIX + "--facts",
    )
    other = vector("KNOWS", "relationship")
    assert check(FACTS, words, other, vector("CITES"))[1] == PREFIX + "--facts"
    own = vector("CITES", "relationship")
    assert check(FACTS, words, own, other)[0].endswith("facts by index on_CITES")
    every = replace(FACTS, relationship_types=())
    assert check(every, words, own, other)[0].endswith("facts by index on_CITES, on_KNOWS")
