"""Questions are routed to the partitions of the nodes that match them, on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnmatchedQuestionError, UsageError
from pgs_neo4j.llm.scripted import ScriptedLLM
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers
from tests.graphs import checksum, count, home

SEGMENTS = "(x:PgsSegment)"
LOOSE = "(x:PgsSegment) WHERE NOT (x)<-[:PGS_INDEXED_IN]-()"
LOOSE_CELLS = "(x:PgsPostings) WHERE NOT (x)-[:PGS_PART_OF]->(:PgsSegment)"


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on four topics of papers, partitioned; ``db`` is the user's own connection."""
    async with engine_on_papers(endpoint, db, keep_generations=1) as opened:
        await opened.partitions.build("papers")
        yield opened


async def change(db: Database, doi: str, text: str) -> None:
    """Change the abstract of a paper as another program would."""
    await alter(db, "MATCH (p:Paper {doi: $doi}) SET p.abstract = $text", doi=doi, text=text)


async def test_a_question_leads_to_the_partition_of_the_nodes_that_match(
    pgs: PGS, db: Database
) -> None:
    for number in (0, 47, 159):
        routing = await pgs.route(f"What is the meaning of fact{number}?")
        assert [route.partition for route in routing.routes] == [await home(db, f"doi/{number}")]
        assert routing.routes[0].reason == f"“Paper {number}” matches the question"
        assert routing.considered == 4
    routing = await pgs.route("Which papers are about orbital debris?")
    assert routing.routes[0].partition == await home(db, "doi/80")
    assert "and 39 more of the best-matching nodes" in routing.routes[0].reason
    routing = await pgs.route("What is the meaning of fact47?", route_by="centroids")
    assert all("matches" not in route.reason for route in routing.routes)


TITLED = """
MATCH (p:Paper {doi: 'doi/0'}) SET p.title = 'How to get data from a graph', p.abstract =
  'Nothing that I tried has worked so far, and I do not see why that is the case.'
WITH p
UNWIND range(40, 49) AS number
MATCH (o:Paper {doi: 'doi/' + number})
SET o.title = 'A graph', o.abstract = 'Of data that were taken from it, a graph, and data.'
"""


async def test_the_node_whose_title_is_the_question_decides(pgs: PGS, db: Database) -> None:
    await alter(db, TITLED)
    await pgs.partitions.build("papers")
    routing = await pgs.route("How to get data from a graph?")
    assert routing.routes[0].partition == await home(db, "doi/0")
    assert "How to get data from a graph" in routing.routes[0].reason


async def test_a_changed_text_is_found_after_the_refresh(pgs: PGS, db: Database) -> None:
    users = await checksum(db)
    assert await count(db, SEGMENTS) == 1
    await change(db, "doi/47", "All of a sudden it treats zymurgy.")
    await change(db, "doi/100", "氷河は山の上にある。")
    assert await checksum(db) != users
    refreshed = await pgs.partitions.build("papers")
    assert refreshed.generation.origin == "refreshed"
    for question, doi in (
        ("Is there anything on zymurgy?", "doi/47"),
        ("氷河はどこですか", "doi/100"),
        ("What is the meaning of fact101?", "doi/101"),
    ):
        routing = await pgs.route(question)
        assert [route.partition for route in routing.routes] == [await home(db, doi)]
    gone = await pgs.route("What is the meaning of fact47?")
    assert await home(db, "doi/47") not in [
        route.partition for route in gone.routes if "matches" in route.reason
    ]
    assert await count(db, SEGMENTS) == 2


@pytest.mark.thorough
async def test_segments_go_with_their_last_partition(pgs: PGS, db: Database) -> None:
    for number in range(3):
        await change(db, "doi/1", f"Version {number}.")
        await pgs.partitions.build("papers", force=number == 2)
        assert await count(db, LOOSE) == 0
        assert await count(db, LOOSE_CELLS) == 0
    assert await count(db, SEGMENTS) == 1
    await pgs.graphs.remove("papers")
    assert await count(db, SEGMENTS) == 0
    assert await count(db, "(x:PgsPostings)") == 0


ODD = (
    "Who was it, and what of the other?",
    "x",
    "?!",
    'a/b AND (c OR "d) ~2 [x TO y] *:* \\ {!}',
    "glacier " * 2_500,
    " ".join(f"fact{number} word{number}" for number in range(1_100)),
    "氷河はどこですか",
    "\u0915\u094d\u092f\u093e \u0939\u0948?",
)


async def test_every_question_is_routed(pgs: PGS) -> None:
    for question in ODD:
        routing = await pgs.route(question)
        assert 1 <= len(routing.routes) <= 4, question
        assert len({route.partition for route in routing.routes}) == len(routing.routes)


@pytest.mark.parametrize(
    ("statement", "has_evidence"),
    [
        ("MATCH (p:Paper) SET p.abstract = 'The same text on fact47.'", True),
        ("MATCH (p:Paper) REMOVE p.abstract, p.title", False),
    ],
    ids=["the same text", "no text"],
)
async def test_nodes_that_no_text_tells_apart_are_routed(
    pgs: PGS, db: Database, statement: str, has_evidence: bool
) -> None:
    await alter(db, statement)
    await pgs.partitions.build("papers")
    routing = await pgs.route("What is the meaning of fact47?")
    assert len(routing.routes) == 4
    assert {bool(route.evidence) for route in routing.routes} == {has_evidence}


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
    routing = await pgs.route("Does any orbital debris hold tungsten?")
    assert (routing.note, routing.unmatched) == ("no text holds “hold”, “tungsten”", False)
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


@pytest.mark.thorough
async def test_a_search_takes_the_index_or_the_paths_of_the_mode_asked_for(pgs: PGS) -> None:
    question = "What is the meaning of fact47?"
    for mode in (None, "hybrid", "local", "structural"):
        layered = await pgs.layered_search(question, graph="papers", top_k=5, search_mode=mode)
        assert layered.search.nodes[0].title == "Paper 47"
        assert (layered.search.method == "text index") == (mode is None)
        assert [node.rank for node in layered.search.nodes] == [*range(len(layered.search.nodes))]
        assert len(layered.search.nodes) <= 5
    for mode in ("summary", "bypass", "nonsense"):
        with pytest.raises(UsageError, match="mode"):
            await pgs.layered_search(question, graph="papers", search_mode=mode)
    layered = await pgs.layered_search("?", graph="papers", top_k=5)
    assert (layered.search.method, layered.search.nodes) == ("nothing found", ())
