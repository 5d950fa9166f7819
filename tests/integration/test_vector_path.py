"""The nodes nearest to a vector: by an index on request only, else by comparing all of them."""

import numpy as np
import pytest

from pgs_neo4j.database.search_indexes import list_search_indexes
from pgs_neo4j.engine.purge import purge
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.search.indexes import drop_indexes, make_indexes, want_vectors
from pgs_neo4j.search.nodes import read_nodes
from pgs_neo4j.search.paths.vector import find_by_vector
from pgs_neo4j.search.space import choose, embed_question
from tests.database import alter, fetch

MAPPING = GraphMapping(labels=("Doc",), text=("text",), title="name", key="name", embedding="v")


@pytest.fixture
async def docs(db):
    await alter(
        db,
        "UNWIND range(0, 99) AS i CREATE (:Doc {name: 'd' + i, text: 'document about topic' + "
        "(i % 10), v: [cos(i * 0.01), sin(i * 0.01)]}), (:Other {v: [1.0, 0.0]})",
    )
    await alter(
        db,
        "CREATE (:Doc {name: 'odd', v: [1.0, 0.0, 0.0]}), (:Doc {name: 'zero', v: [0.0, 0.0]}), "
        "(:Doc {name: 'none'}), (:Doc {name: 'text', v: 'x'})",
    )


def pointing_to(angle):
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


async def titles(db, vector, k=3, mapping=MAPPING):
    hits = await find_by_vector(db, await list_search_indexes(db), mapping, vector, k)
    nodes = await read_nodes(db, mapping, [*hits.scores])
    return [node.title for node in nodes], hits.method


async def create(db):
    outcome = await make_indexes(db, want_vectors(MAPPING, 2))
    return [index.name for index in outcome.created]


@pytest.mark.schema
@pytest.mark.usefixtures("no_search_indexes")
async def test_the_index_is_made_on_request_and_agrees(db, docs):
    before = await titles(db, pointing_to(0.502))
    assert before == (["d50", "d51", "d49"], "every stored embedding")
    names = await create(db)
    assert len(names) == 1
    found, method = await titles(db, pointing_to(0.502))
    assert found == before[0]
    assert names[0] in method
    assert await create(db) == []
    both = GraphMapping(labels=("Doc", "Other"), text=("text",), embedding="v")
    _, method = await titles(db, pointing_to(0.5), mapping=both)
    assert method == "every stored embedding", "the index covers a part of the view"
    assert await drop_indexes(db) == names
    assert await titles(db, pointing_to(0.502)) == before


@pytest.mark.schema
async def test_purge_takes_the_index_too_and_only_ours(db, docs):
    await purge(db)  # indexes that the test database keeps for others
    await create(db)
    await alter(
        db,
        "CREATE VECTOR INDEX mine FOR (n:Other) ON (n.v) OPTIONS {indexConfig: "
        "{`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}",
    )
    assert (await purge(db)).indexes == 1
    rows = await fetch(db, "SHOW VECTOR INDEXES YIELD name RETURN name")
    assert [row["name"] for row in rows] == ["mine"]


async def test_a_question_borrows_the_vectors_of_the_nodes_that_share_its_words(db, docs):
    asked = await embed_question(db, choose("stored", None, MAPPING), MAPPING, "topic7?", 2)
    assert asked.borrowed
    expected = np.mean([pointing_to(i * 0.01) for i in range(7, 100, 10)], axis=0)
    np.testing.assert_allclose(asked.vector, expected / np.linalg.norm(expected), rtol=1e-4)
    nothing = await embed_question(db, choose("stored", None, MAPPING), MAPPING, "zebra", 2)
    assert nothing.vector is None
    assert "no node with an embedding" in nothing.note


async def test_an_embedder_of_another_length_is_said_and_words_stand_in(db, docs):
    from pgs_neo4j.llm.embedders.hashing import HashingEmbedder

    space = choose("sentence-transformers", HashingEmbedder(16), MAPPING)
    asked = await embed_question(db, space, MAPPING, "topic7?", 2)
    assert asked.borrowed
    assert "makes vectors of 16 dimensions and the graph holds vectors of 2" in asked.note
