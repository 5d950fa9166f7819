"""What each mode of a search finds, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import get_args

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import SearchMode
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import engine_on, engine_on_papers
from tests.graphs import MAPPING, checksum, count, papers

WRITTEN = "(x) WHERE any(l IN labels(x) WHERE l STARTS WITH 'Pgs')"
ENDS = """
MATCH (a:Paper)-[r:CITES]->(b:Paper)
RETURN elementId(r) AS id, elementId(a) AS source, elementId(b) AS target, a.title AS title
"""
TWO_KINDS = """
MATCH (p:Paper)
SET p.vector = CASE toInteger(substring(p.doi, 4)) % 2 WHEN 0 THEN [1.0, 0.1] ELSE [0.1, 1.0] END
"""
VECTORS = "MATCH (p:Paper) SET p.vector = [toFloat(p.topic), 1.0, toFloat(p.score) / 100]"


@pytest.fixture
async def pgs(pgs: PGS) -> PGS:
    """Four topics of papers with partitions."""
    await pgs.partitions.build("papers")
    return pgs


async def test_every_mode_finds_a_node_by_its_own_word_and_writes_nothing(
    pgs: PGS, db: Database
) -> None:
    before, ours = await checksum(db), await count(db, WRITTEN)
    # Two modes need a model, and "cypher" finds rows and no nodes.
    for mode in sorted({*get_args(SearchMode)} - {"summary", "bypass", "cypher"}):
        found = await pgs.search("What is fact101?", graph="papers", mode=mode)
        assert found.items[0].key == "doi/101", mode
        assert not any(path.error for path in found.paths), mode
    assert (await checksum(db), await count(db, WRITTEN)) == (before, ours)


async def test_local_finds_named_titles_and_their_relationships(pgs: PGS, db: Database) -> None:
    found = await pgs.search("Who cites “Paper 41”?", graph="papers", mode="local")
    assert found.items[0].title == "Paper 41"
    assert found.items[0].scores["titles"] == 1.0
    assert [path.name for path in found.paths] == ["text", "titles", "hops", "facts"]
    rows = await fetch(db, ENDS)
    true = {row["id"]: row for row in rows}
    assert found.facts
    for fact in found.facts:
        row = true[fact.id]
        assert (fact.source, fact.target) == (row["source"], row["target"])
        assert fact.line.startswith(f"{row['title']} --[CITES]--> Paper ")
    scores = [fact.score for fact in found.facts]
    assert scores == sorted(scores, reverse=True)
    assert {fact.hops for fact in found.facts} == {1}


async def test_global_finds_partitions_and_what_its_runs_reported(pgs: PGS, db: Database) -> None:
    before = await pgs.search("orbital debris", graph="papers", mode="global")
    assert [path.name for path in before.paths] == ["units", "findings", "text", "facts"]
    assert (before.units[0].level, before.units[0].score, before.units[0].run) == (0, 1.0, "")
    assert before.findings == ()
    answer = await pgs.execute("What about orbital debris?", graph="papers")
    after = await pgs.search("orbital debris", graph="papers", mode="global")
    best = after.units[0]
    reports = {sweep.partition: sweep.report for sweep in answer.sweeps if sweep.report}
    assert (best.run, best.domain_state) == (answer.run, reports[best.id].domain_state)
    own = await pgs.search("orbital debris", graph="papers", mode="global", sessions_of="ann / ")
    assert (own.units[0].run, own.units[0].domain_state, own.findings) == ("", "", ())
    words = after.units[0].titles[0]
    told = await pgs.search(words, graph="papers", mode="global")
    reported = {finding.text for report in reports.values() for finding in report.findings}
    assert {finding.text for finding in told.findings} <= reported
    assert all(finding.run == answer.run for finding in told.findings)
    hidden = await pgs.search(words, graph="papers", mode="global", sessions_of="ann / ")
    assert (hidden.findings, {unit.run for unit in hidden.units}) == ((), {""})
    await pgs.execute("What about orbital debris?", graph="papers", session_id="ann / one")
    shown = await pgs.search(words, graph="papers", mode="global", sessions_of="ann / ")
    assert shown.units[0].run not in ("", answer.run)
    await alter(db, "MATCH (s:PgsSession) SET s.graph = 'others'")
    assert (await pgs.search(words, graph="papers", mode="global")).findings == ()


async def test_global_makes_missing_partitions_and_says_so(
    endpoint: Endpoint, db: Database
) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        before = await checksum(db)
        found = await pgs.search("orbital debris", graph="papers", mode="global")
        assert (
            found.warnings[0] == "the graph had no partitions to compare, so 4 partitions were made"
        )
        assert found.units
        again = await pgs.search("orbital debris", graph="papers", mode="global")
        assert again.warnings == ()
        assert await checksum(db) == before
        unstored = await pgs.search("orbital debris", graph=MAPPING, mode="global")
        assert (unstored.units, unstored.paths[0].method) == ((), "no partitions to compare")
        assert unstored.items


async def test_auto_chooses_by_the_question_and_says_why(pgs: PGS) -> None:
    for question, reason in (
        ("What are the main themes?", "global: the question is broad"),
        ("Who cites “Paper 41”?", "local: the question names a title"),
        ("Give a complete overview of “Paper 41”", "hybrid: the question is broad, and names"),
        ("catalysis of ammonia?", "naive: the question is neither broad nor names a title"),
    ):
        found = await pgs.search(question, graph="papers", mode="auto")
        assert (found.mode, found.reason[: len(reason)]) == ("auto", reason)


@pytest.fixture
async def embedded(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """Papers with stored embeddings, whose engine compares them."""
    await papers(db)
    await alter(db, VECTORS)
    async with engine_on(endpoint) as opened:
        yield opened


async def test_rerankers_keep_the_order_where_embeddings_are_missing(pgs: PGS) -> None:
    kept = await pgs.search("fact101", graph="papers", rerank="cosine")
    assert any("too few of the nodes have an embedding" in note for note in kept.warnings)
    assert kept.items[0].key == "doi/101"
    with pytest.raises(UsageError, match="no reranker 'odd'; the rerankers are none, cosine,"):
        await pgs.search("x", graph="papers", rerank="odd")  # type: ignore[arg-type]


async def test_rerankers_put_the_nearest_node_first_or_an_unlike_one_second(
    embedded: PGS, db: Database
) -> None:
    mapping = replace(MAPPING, embedding="vector")
    cosine = await embedded.search("fact101", graph=mapping, rerank="cosine", top_k=20)
    naive = await embedded.search("fact101", graph=mapping, mode="naive", top_k=3)
    assert cosine.items[0].score == pytest.approx(naive.items[0].scores["vector"], abs=1e-3)
    await alter(db, TWO_KINDS)
    novel = await embedded.search("orbital debris", graph=mapping, rerank="mmr", top_k=20)
    places = [int(item.key.removeprefix("doi/")) % 2 for item in novel.items]
    assert places[0] != places[1]


FACT_VECTORS = """
MATCH (a:Paper)-[r:CITES]->(b:Paper)
SET r.statement = a.title + ' relies on ' + b.title, r.called = 'relies on',
    r.vector = [toFloat(a.topic), 1.0, toFloat(a.score) / 100]
WITH a, b LIMIT 1
CREATE (a)-[:QUOTES {statement: 'not in the view', vector: [2.0, 1.0, 0.4]}]->(b)
"""


@pytest.mark.schema
async def test_facts_come_from_their_own_index(embedded: PGS, db: Database) -> None:
    await alter(db, FACT_VECTORS)
    mapping = replace(
        MAPPING,
        embedding="vector",
        relationship_name="called",
        relationship_text="statement",
        relationship_embedding="vector",
    )
    walked = await embedded.search("fact101", graph=mapping)
    assert walked.paths[-1].method.startswith("relationships within 1 of the")
    await embedded.graphs.add("facts", mapping)
    await embedded.indexes.create("facts", facts=True)
    try:
        found = await embedded.search("fact101", graph=mapping, mode="local")
    finally:
        await embedded.indexes.drop()
    assert found.paths[-1].method.startswith("vector index pgs_fact_")
    assert 3 <= len(found.facts) <= 12
    for fact in found.facts:
        assert (fact.type, fact.name, fact.hops) == ("CITES", "relies on", 0)
        assert fact.text == f"{fact.source_title} relies on {fact.target_title}"
        assert fact.line == f"{fact.source_title} --[relies on]--> {fact.target_title}: {fact.text}"


@pytest.mark.thorough
async def test_what_is_configured_holds_where_a_call_says_nothing(
    endpoint: Endpoint, db: Database
) -> None:
    mapping = await papers(db)
    configured = {"mode": "local", "top_k": 3, "rerank": "distance", "max_context_tokens": 400}
    async with engine_on(endpoint, embedder="none", search=configured) as opened:
        found = await opened.search("orbital debris of “Paper 41”", graph=mapping)
        assert (found.mode, len(found.items)) == ("local", 3)
        assert found.context
        called = await opened.search("orbital debris", graph=mapping, mode="hybrid", top_k=7)
        assert (called.mode, len(called.items)) == ("hybrid", 7)
