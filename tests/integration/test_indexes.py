"""Indexes on request: made once, used by searches, whatever the names, and only ours dropped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.doctor.graphs import check_search
from pgs_neo4j.errors import MappingError, UsageError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.indexes import (
    drop_indexes,
    make_indexes,
    read_fact_sizes,
    want_facts,
    want_text,
    want_vectors,
)
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on
from tests.graphs import MAPPING, checksum, papers

FACTS = replace(
    MAPPING, embedding="vector", relationship_text="fact", relationship_embedding="vector"
)
FILL = """
MATCH (p:Paper) SET p.vector = [toFloat(p.topic), 1.0, p.score]
WITH collect(p) AS papers
CREATE (:Draft {title: 'Draft of fact101', abstract: 'fact101 fact101 fact101'})
WITH papers UNWIND papers[..20] AS p MATCH (p)-[r:CITES]->()
SET r.fact = 'cites', r.vector = [1.0, p.score]
"""
pytestmark = pytest.mark.usefixtures("no_search_indexes")
SIGNS = 'What of "fact101"? (and/or) fact101~ [x TO y] +-&|!{}^*:\\ AND NOT'
ODD = ("La`bel", "\\u0060) DETACH DELETE n //", 'it\'s "a"\nlabel\\', "b")
ODD_TEXTS = ("te`xt", "\\u0060]", "p'\"\\u005C", "t")


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    await papers(db)
    await alter(db, FILL)
    async with engine_on(endpoint, embedder="none") as opened:
        await opened.graphs.add("papers", FACTS)
        yield opened


@pytest.mark.thorough
async def test_all_kinds_are_made_once_and_dropped(pgs: PGS, db: Database) -> None:
    before, graph = await checksum(db), await pgs.graphs.get("papers")
    detail = check_search(graph, await pgs.indexes()).detail
    assert detail.endswith("pgs index create --graph papers --text --vectors --facts")
    await asyncio.gather(*(make_indexes(db, want_text(FACTS)) for _ in range(4)))
    assert len(await pgs.indexes.drop()) == 1, "of four requests at once"
    made = await pgs.indexes.create(text=True, facts=True, vectors=True)
    assert made.dimensions == 3
    assert [(i.kind, i.entity, i.labels, i.properties, i.dimensions) for i in made.created] == [
        ("text", "node", ("Paper",), ("title", "abstract"), None),
        ("vector", "node", ("Paper",), ("vector",), 3),
        ("vector", "relationship", ("CITES",), ("vector",), 2),
    ]
    assert {(i.state, i.own) for i in made.created} == {("ONLINE", True)}
    assert made.created[0].analyzer == "english"
    detail = check_search(graph, await pgs.indexes()).detail
    assert "optional" not in detail
    assert all(name in detail for name in made.names)
    again = await pgs.indexes.create(text=True, facts=True, vectors=True)
    assert again.names == ()
    assert again.existing == made.created
    # Without a choice, as before: those on embeddings of nodes.
    assert (await pgs.indexes.create()).existing == made.created[1:2]
    await alter(db, "CREATE FULLTEXT INDEX pgs_text_mine FOR (n:A) ON EACH [n.b]")
    assert {index.name for index in await pgs.indexes()} == {*made.names, "pgs_text_mine"}
    assert set(await pgs.indexes.drop()) == set(made.names)
    assert [(index.name, index.own) for index in await pgs.indexes()] == [("pgs_text_mine", False)]
    assert await checksum(db) == before


@pytest.mark.thorough
async def test_searches_use_the_text_index_at_once_and_find_no_other_label(
    pgs: PGS, db: Database
) -> None:
    before = await pgs.search("fact101", top_k=50)
    assert before.paths[1].method == "shared words"
    # An index on some of the texts does not serve.
    await alter(db, "CREATE FULLTEXT INDEX titles FOR (n:Paper) ON EACH [n.title]")
    (name,) = (await pgs.indexes.create(text=True)).names
    found = await pgs.search("fact101", top_k=50)
    assert found.paths[1].method == f"full-text index {name}"
    assert found.items[0].key == "doi/101"
    assert {label for item in found.items for label in item.labels} == {"Paper"}
    # The english analyzer finds other forms of a word.
    assert (await pgs.search("a study of sleeping", top_k=5)).items[0].scores["text"] > 0
    await pgs.indexes.drop()
    await alter(db, "DROP INDEX titles")
    assert (await pgs.search("fact101")).paths[1].method == "shared words"
    # A wider one of the user's serves, and other labels stay out.
    text = "CREATE FULLTEXT INDEX mine FOR (n:Paper|Draft) ON EACH [n.title, n.abstract, n.doi]"
    await alter(db, text)
    made = await pgs.indexes.create(text=True)
    assert (made.names, [index.name for index in made.existing]) == ((), ["mine"])
    found = await pgs.search(SIGNS, top_k=50)
    assert (found.paths[1].method, found.paths[1].error) == ("full-text index mine", "")
    assert {label for item in found.items for label in item.labels} == {"Paper"}


@pytest.mark.thorough
async def test_what_stands_in_the_way_is_told_and_nothing_is_created(
    pgs: PGS, db: Database
) -> None:
    options = "{indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'euclidean'}}"
    vector = f"CREATE VECTOR INDEX mine FOR (n:Paper) ON (n.vector) OPTIONS {options}"
    await alter(db, vector)
    with pytest.raises(UsageError, match=r"mine on Paper .* 3 dimensions by euclidean"):
        await pgs.indexes.create(text=True, vectors=True)
    assert [index.name for index in await pgs.indexes()] == ["mine"]
    (wanted,) = want_text(FACTS)
    await alter(db, f"CREATE RANGE INDEX {wanted.name} FOR (n:A) ON (n.b)")
    with pytest.raises(UsageError, match=f"the name {wanted.name} belongs to another index"):
        await pgs.indexes.create(text=True)
    await alter(db, f"DROP INDEX {wanted.name}")
    await alter(db, f"CREATE FULLTEXT INDEX {wanted.name} FOR (n:A) ON EACH [n.b]")
    with pytest.raises(UsageError, match=f"the name {wanted.name} belongs to the full-text index"):
        await pgs.indexes.create(text=True)


async def test_what_a_mapping_lacks_is_told(db: Database) -> None:
    with pytest.raises(MappingError, match="names labels and properties with text"):
        want_text(GraphMapping(text=("abstract",)))
    with pytest.raises(MappingError, match="names labels and an embedding"):
        want_vectors(GraphMapping(embedding="v"), 2)
    with pytest.raises(MappingError, match="--relationship-embedding PROPERTY"):
        want_facts(MAPPING, {})
    with pytest.raises(MappingError, match="no relationship holds a vector in 'vector'"):
        want_facts(FACTS, await read_fact_sizes(db, FACTS))


@pytest.mark.thorough
async def test_names_of_all_kinds_are_data(db: Database) -> None:
    create = (
        "UNWIND $labels AS label CREATE (a:$(label))-[r:$($types)]->(b) "
        "SET a[$text] = 'tea', a.v = [1.0, 0.0], r[$text] = [1.0, 0.0]"
    )
    for text in ODD_TEXTS:
        given = {"labels": list(ODD), "types": list(ODD[:1]), "text": text}
        await alter(db, create, **given)
    before = await checksum(db)
    mapping = GraphMapping(
        labels=ODD, text=ODD_TEXTS, embedding="v", relationship_embedding=ODD_TEXTS[1]
    )
    facts = want_facts(mapping, await read_fact_sizes(db, mapping))
    made = await make_indexes(db, [*want_text(mapping), *want_vectors(mapping, 2), *facts])
    assert set(made.created[0].labels) == set(ODD)
    assert set(made.created[0].properties) == set(ODD_TEXTS)
    assert made.created[-1].labels == ODD[:1]
    assert made.created[-1].properties == ODD_TEXTS[1:2]
    assert len(await drop_indexes(db)) == len(made.created) == 6
    assert await checksum(db) == before
