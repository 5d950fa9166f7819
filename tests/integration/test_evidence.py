"""Questions are routed to the partitions of the nodes that match them, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.queries import Query
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnmatchedQuestionError, UsageError
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.partitioning import result
from pgs_neo4j.partitioning.describe import indexing
from pgs_neo4j.retrieval.text_index import read_index
from pgs_neo4j.text.terms.postings import terms_of
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.graphs import checksum, count

HOME = """
MATCH (:PgsGraph)-[:PGS_CURRENT]->()<-[:PGS_PART_OF]-(p)<-[:PGS_IN]-(:Paper {doi: $doi})
RETURN p.id AS id
"""
SEGMENTS = "(x:PgsSegment)"
LOOSE = "(x:PgsSegment) WHERE NOT (x)<-[:PGS_INDEXED_IN]-()"
LOOSE_CELLS = "(x:PgsPostings) WHERE NOT (x)-[:PGS_PART_OF]->(:PgsSegment)"


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on four topics of papers, partitioned; ``db`` is the user's own connection."""
    async with engine_on_papers(endpoint, db, keep_generations=1) as opened:
        await opened.partition("papers")
        yield opened


async def home(db: Database, doi: str) -> int:
    """Return the current partition of a paper."""
    _, rows = await db.call(HOME, {"doi": doi}, "read")
    return int(rows[0]["id"])


async def change(db: Database, doi: str, text: str) -> None:
    """Change the abstract of a paper as another program would."""
    await db.call(
        "MATCH (p:Paper {doi: $doi}) SET p.abstract = $text", {"doi": doi, "text": text}, "write"
    )


@pytest.mark.parametrize("number", [0, 47, 159])
async def test_the_partition_of_the_node_that_answers_is_routed(
    pgs: PGS, db: Database, number: int
) -> None:
    routing = await pgs.route(f"What is the meaning of fact{number}?")
    assert [route.partition for route in routing.routes] == [await home(db, f"doi/{number}")]
    assert routing.routes[0].reason == f"“Paper {number}” matches the question"
    assert routing.considered == 4


async def test_a_subject_leads_to_its_partition(pgs: PGS, db: Database) -> None:
    routing = await pgs.route("Which papers are about orbital debris?")
    assert routing.routes[0].partition == await home(db, "doi/80")
    assert "and 39 more of the best-matching nodes" in routing.routes[0].reason


async def test_centroids_route_as_published_on_request(pgs: PGS) -> None:
    routing = await pgs.route("What is the meaning of fact47?", route_by="centroids")
    assert all("matches" not in route.reason for route in routing.routes)


async def test_a_changed_text_is_found_after_the_refresh(pgs: PGS, db: Database) -> None:
    users = await checksum(db)
    assert await count(db, SEGMENTS) == 1
    await change(db, "doi/47", "All of a sudden it treats zymurgy.")
    assert await checksum(db) != users
    refreshed = await pgs.partition("papers")
    assert refreshed.generation.origin == "refreshed"
    routing = await pgs.route("Is there anything on zymurgy?")
    assert [route.partition for route in routing.routes] == [await home(db, "doi/47")]
    gone = await pgs.route("What is the meaning of fact47?")
    assert await home(db, "doi/47") not in [
        route.partition for route in gone.routes if "matches" in route.reason
    ]
    unchanged = await pgs.route("What is the meaning of fact101?")
    assert [route.partition for route in unchanged.routes] == [await home(db, "doi/101")]
    assert await count(db, SEGMENTS) == 2


async def test_segments_go_with_their_last_partition(pgs: PGS, db: Database) -> None:
    for number in range(3):
        await change(db, "doi/1", f"Version {number}.")
        await pgs.partition("papers", force=number == 2)
        assert await count(db, LOOSE) == 0
        assert await count(db, LOOSE_CELLS) == 0
    assert await count(db, SEGMENTS) == 1
    await pgs.graphs.remove("papers")
    assert await count(db, SEGMENTS) == 0
    assert await count(db, "(x:PgsPostings)") == 0


async def lose_index(db: Database) -> None:
    """Leave the database as 0.1.0 did."""
    await db.call("MATCH (s:PgsSegment|PgsPostings) DETACH DELETE s", {}, "write")
    await db.call("MATCH (c:PgsGeneration) REMOVE c.indexed", {}, "write")


async def test_a_generation_without_an_index_is_routed_by_centroids(pgs: PGS, db: Database) -> None:
    await lose_index(db)
    routing = await pgs.route("What is the meaning of fact47?")
    assert routing.routes
    assert all("matches" not in route.reason for route in routing.routes)


async def test_an_unchanged_generation_gets_the_index_that_it_lacks(pgs: PGS, db: Database) -> None:
    before = (await pgs.partition("papers")).generation.id
    await lose_index(db)
    again = await pgs.partition("papers")
    assert again.reused
    assert again.generation.id == before
    routing = await pgs.route("What is the meaning of fact47?")
    assert [route.partition for route in routing.routes] == [await home(db, "doi/47")]
    assert await count(db, SEGMENTS) == 1


async def test_shared_partitions_get_the_index_that_they_lack(pgs: PGS, db: Database) -> None:
    await lose_index(db)
    await change(db, "doi/1", "Now it treats zymurgy.")
    refreshed = await pgs.partition("papers")
    assert refreshed.generation.origin == "refreshed"
    for question, doi in (("fact47?", "doi/47"), ("zymurgy?", "doi/1")):
        routing = await pgs.route(question)
        assert [route.partition for route in routing.routes] == [await home(db, doi)]


async def test_segments_that_are_merged_while_they_are_read_hide_no_text(
    pgs: PGS, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await change(db, "doi/1", "Now it treats zymurgy.")
    await pgs.partition("papers")
    assert await count(db, SEGMENTS) == 2
    monkeypatch.setattr(indexing, "MOST_SMALL", 0)  # the next refresh merges
    read = Database.read

    async def interrupted(own: Database, query: Query, **params: Any) -> list[Row]:
        if query.name == "retrieval/read_postings":
            monkeypatch.setattr(Database, "read", read)  # interrupted only once
            await change(db, "doi/150", "Now it treats orchids.")
            await pgs.partition("papers", keep_generations=2)
        return await read(own, query, **params)

    current = await result.read_current(db, "papers")
    assert current is not None
    monkeypatch.setattr(Database, "read", interrupted)
    terms = terms_of("zymurgy")
    index = await read_index(db, current.generation.id, 4, terms)
    assert Database.read is read
    assert index is not None
    assert sum(len(index.of_term(term)) for term in terms) == 1


@pytest.mark.parametrize(
    "question",
    [
        "Who was it, and what of the other?",
        "x",
        "?!",
        'a/b AND (c OR "d) ~2 [x TO y] *:* \\ {!}',
        "glacier " * 2_500,
        " ".join(f"fact{number} word{number}" for number in range(1_100)),
        "氷河はどこですか",
        "\u0915\u094d\u092f\u093e \u0939\u0948?",
    ],
    ids=["function words", "letter", "signs", "Lucene", "repeated", "long", "unspaced", "Hindi"],
)
async def test_every_question_is_routed(pgs: PGS, question: str) -> None:
    routing = await pgs.route(question)
    assert 1 <= len(routing.routes) <= 4
    assert len({route.partition for route in routing.routes}) == len(routing.routes)


async def test_scripts_without_spaces_are_found(pgs: PGS, db: Database) -> None:
    await change(db, "doi/100", "氷河は山の上にある。")
    await pgs.partition("papers")
    routing = await pgs.route("氷河はどこですか")
    assert [route.partition for route in routing.routes] == [await home(db, "doi/100")]


async def test_nodes_that_all_say_the_same_are_routed(pgs: PGS, db: Database) -> None:
    await db.call("MATCH (p:Paper) SET p.abstract = 'The same text.'", {}, "write")
    await pgs.partition("papers")
    routing = await pgs.route("Which text is the same?")
    assert len(routing.routes) == 4
    assert all(route.evidence for route in routing.routes)


async def test_a_graph_without_text_is_routed_by_what_there_is(pgs: PGS, db: Database) -> None:
    await db.call("MATCH (p:Paper) REMOVE p.abstract, p.title", {}, "write")
    await pgs.partition("papers")
    routing = await pgs.route("What is the meaning of fact47?")
    assert len(routing.routes) == 4
    assert not any(route.evidence for route in routing.routes)


def prompts(pgs: PGS) -> list[str]:
    """What the scripted reader was asked in sweeps."""
    assert isinstance(pgs.sweep_llm, ScriptedLLM)
    return [prompt.user for prompt in pgs.sweep_llm.prompts if prompt.task == "sweep"]


async def test_a_sweep_is_told_which_nodes_match(pgs: PGS, db: Database) -> None:
    answer = await pgs.execute("What is the meaning of fact47?", graph="papers")
    (route,) = answer.routing.routes
    (asked,) = prompts(pgs)
    assert f"match the question best: n{route.matches[0] + 1}. " in asked
    assert f"[n{route.matches[0] + 1}] Paper 47" in asked
    planned = await pgs.plan("What is the meaning of fact47?", graph="papers")
    assert planned.cached == 1  # so the plan made the same prompt


async def test_a_question_that_nothing_matches_is_noted_and_refused(pgs: PGS) -> None:
    question = "Wer kennt Zymurgie?"
    planned = await pgs.plan(question, graph="papers")
    assert planned.routing.unmatched
    assert "no text holds “wer”, “kennt”, “zymurgie”" in planned.routing.note
    with pytest.raises(UnmatchedQuestionError, match="no text in the graph matches"):
        await pgs.execute(question, graph="papers", max_unmatched_tokens=0)
    with pytest.raises(UnmatchedQuestionError, match="no text in the graph matches"):
        await pgs.layered_search(question, graph="papers", max_unmatched_tokens=0)
    assert prompts(pgs) == []
    for llm in (pgs.sweep_llm, pgs.synthesis_llm):
        assert isinstance(llm, ScriptedLLM)
        assert llm.prompts == []  # the search was not paid, either
    answer = await pgs.execute(question, graph="papers")
    assert "no text in the graph matches the question" in answer.warnings
    assert prompts(pgs)


async def test_words_that_no_text_holds_are_noted(pgs: PGS) -> None:
    routing = await pgs.route("Does any orbital debris hold tungsten?")
    assert routing.note == "no text holds “any”, “hold”, “tungsten”" or "“tungsten”" in routing.note
    assert not routing.unmatched


async def test_a_search_answers_from_the_nodes_that_match(pgs: PGS) -> None:
    layered = await pgs.layered_search("What is the meaning of fact47?", graph="papers", top_k=5)
    assert layered.search.method == "text index"
    assert layered.search.nodes[0].title == "Paper 47"


async def test_a_search_without_an_index_takes_the_nearest(pgs: PGS, db: Database) -> None:
    await pgs.execute("Warm up?", graph="papers")
    layered = await pgs.layered_search("?", graph="papers", top_k=5)
    assert (layered.search.method, layered.search.nodes) == ("nothing found", ())


async def test_a_search_takes_the_paths_of_the_mode_asked_for(pgs: PGS) -> None:
    question = "What is the meaning of fact47?"
    for mode in ("hybrid", "local", "structural"):
        layered = await pgs.layered_search(question, graph="papers", top_k=5, search_mode=mode)
        assert layered.search.nodes[0].title == "Paper 47"
        assert layered.search.method != "text index"
        assert [node.rank for node in layered.search.nodes] == [*range(len(layered.search.nodes))]
        assert len(layered.search.nodes) <= 5
    for mode in ("summary", "bypass", "nonsense"):
        with pytest.raises(UsageError, match="mode"):
            await pgs.layered_search(question, graph="papers", search_mode=mode)
