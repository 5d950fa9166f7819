"""Searches on a real database: with indexes and without, and what a search leaves alone."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import QuestionError, UnknownGraphError, UsageError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.answering.search import LEAST_SHARE
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on, engine_on_papers
from tests.graphs import MAPPING, checksum, count, papers

VECTORS = "MATCH (p:Paper) SET p.vector = [toFloat(p.topic), 1.0, toFloat(p.score) / 100]"
HUB = """
MATCH (p:Paper {doi: 'doi/101'})
CREATE (h:Paper {doi: 'hub', title: 'Untold', abstract: 'Nothing of the kind'})-[:CITES]->(p)
"""
SIGNS = 'What of "fact101"? (and/or) fact101~ [x TO y] +-&|!{}^*:\\ AND NOT'


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    await papers(db)
    async with engine_on(endpoint) as opened:
        yield opened


async def test_a_mapping_is_searched_without_a_stored_graph_and_nothing_is_written(
    pgs: PGS, db: Database
) -> None:
    await alter(db, "MATCH (m:PgsMeta) DELETE m")  # as if we had never been here
    before = await checksum(db)
    found = await pgs.search("What is the meaning of fact101?", graph=MAPPING)
    assert found.items[0].key == "doi/101"
    assert "fact101" in found.items[0].content
    names = ["vector", "text", "units", "findings", "hops", "facts"]
    assert [path.name for path in found.paths] == names
    assert found.paths[1].method == "shared words"
    assert not any(path.error for path in found.paths)
    naive = await pgs.search("fact101", graph=MAPPING, mode="naive")
    counts = [(path.name, path.count > 0) for path in naive.paths]
    assert counts == [("vector", False), ("text", True)]
    assert naive.warnings == ("the graph stores no embeddings, so words decide alone",)
    wordless = await pgs.search("???", graph=MAPPING)
    assert (wordless.items, wordless.paths[1].method) == ((), "no words to search for")
    assert await checksum(db) == before
    assert await count(db, "(x) WHERE any(l IN labels(x) WHERE l STARTS WITH 'Pgs')") == 0


SUBJECTS = """
UNWIND [
  ['pump', 'High pressure pumps', 'A pump for high pressure is organized in stages.'],
  ['filler', 'Pumps and other things', 'A pump, and at high speed something under low pressure.'],
  ['other', 'Gardens', 'Flowers, and the organization of beds.'],
  ['none', 'Rivers', 'Water that flows downhill.']
] AS row
CREATE (:Subject {id: row[0], title: row[1], text: row[2]})
"""
SUBJECT = GraphMapping(labels=("Subject",), text=("text",), title="title", key="id")


@pytest.mark.parametrize("partitioned", [False, True])
async def test_words_are_scored_by_titles_pairs_repetitions_and_derived_forms(
    pgs: PGS, db: Database, *, partitioned: bool
) -> None:
    await alter(db, SUBJECTS)
    await pgs.graphs.add("subjects", SUBJECT)
    if partitioned:
        await pgs.partitions.build("subjects")

    async def keys(question: str) -> list[str]:
        found = await pgs.search(question, graph="subjects")
        [path] = [path for path in found.paths if path.name == "text"]
        assert path.method == ("text index of the partitions" if partitioned else "shared words")
        return [item.key for item in found.items]

    assert await keys("high pressure pumps") == ["pump", "filler"]  # the worst of two is a hit
    assert (await keys("organizing flowers, or flowers in beds"))[0] == "other"
    # Repeated words decide between two texts with one rare word each.
    assert (await keys("speed or water, water"))[0] == "none"
    assert (await keys("speed, speed, or water"))[0] == "filler"
    assert await keys("zymurgy") == []


async def test_neighbors_are_found_by_a_question_of_odd_signs(pgs: PGS, db: Database) -> None:
    found = await pgs.search(SIGNS, graph=MAPPING)
    assert found.items[0].key == "doi/101"
    await alter(db, HUB)
    found = await pgs.search("fact101", graph=MAPPING, top_k=50)
    by_key = {item.key: item for item in found.items}
    assert "text" not in by_key["hub"].scores
    assert by_key["hub"].scores["hops"] > 0
    # A neighbor with one relationship gains more than one with many.
    assert by_key["hub"].scores["hops"] == max(
        item.scores.get("hops", 0.0) for item in found.items if "text" not in item.scores
    )


async def test_stored_embeddings_count_beside_words(pgs: PGS, db: Database) -> None:
    await alter(db, VECTORS)
    mapping = replace(MAPPING, embedding="vector")
    naive = await pgs.search("fact101", graph=mapping, mode="naive", top_k=5)
    assert [path.name for path in naive.paths] == ["vector"]
    assert naive.paths[0].method == "every stored embedding"
    assert any(re.search(r"stored vectors of the \d+ node", note) for note in naive.warnings)
    scores = [item.scores["vector"] for item in naive.items]
    assert scores == sorted(scores, reverse=True)
    hybrid = await pgs.search("fact101", graph=mapping)
    assert {"text", "vector"} <= set(hybrid.items[0].scores)


async def test_bad_requests_are_refused_in_one_sentence(pgs: PGS) -> None:
    with pytest.raises(QuestionError, match="empty"):
        await pgs.search(" ", graph=MAPPING)
    with pytest.raises(QuestionError, match="characters"):
        await pgs.search("x" * 20_001, graph=MAPPING)
    with pytest.raises(UsageError, match="top_k is 0"):
        await pgs.search("x", graph=MAPPING, top_k=0)
    with pytest.raises(UsageError, match="there is no search mode 'odd'; the modes are naive"):
        await pgs.search("x", graph=MAPPING, mode="odd")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="weights"):
        await pgs.search("x", graph=MAPPING, mode="mix", weights=(1, -1, 0))
    with pytest.raises(UnknownGraphError):
        await pgs.search("x", graph="nowhere")


@pytest.mark.thorough
async def test_the_text_index_of_the_partitions_is_asked_until_the_graph_is_redefined(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partitions.build("papers")
        before = await checksum(db)
        found = await pgs.search("What is the meaning of fact101?", graph="papers")
        assert found.items[0].key == "doi/101"
        assert found.paths[1].method == "text index of the partitions"
        assert await checksum(db) == before
        # Nodes that gain next to nothing from their neighbors are left out.
        least = min(item.score for item in found.items)
        assert least >= found.items[0].score * LEAST_SHARE
        await pgs.graphs.add("papers", replace(MAPPING, text=("title",)), replace=True)
        again = await pgs.search("What is the meaning of fact101?", graph="papers")
        assert again.paths[1].method == "shared words"
