"""Answers from searches: what they show, cite, cost, and leave behind, on a real database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import (
    BudgetError,
    IdempotencyError,
    ModelOutputError,
    UsageError,
)
from pgs_neo4j.events import Event, TextStreamed
from pgs_neo4j.export import SourceNode, to_html, to_json, to_markdown
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import AbsenceStatus, Answer, Prompt, SearchPlan, Shown
from tests.conftest import Endpoint
from tests.database import alter, fetch
from tests.engines import engine_on_papers
from tests.graphs import checksum, count

QUESTION = "What is fact101?"
PRICES = {"scripted": {"input_price": 1.0, "output_price": 10.0}}
LITTLE = 5000
"""Tokens that cannot show all papers on a topic once they are longer."""
LONGER = """
MATCH (p:Paper {topic: 1})
SET p.abstract = p.abstract
                 + reduce(t = '', i IN range(1, 12) | t + ' Memory needs sleep ' + i + '.')
"""
OURS = "(x) WHERE any(l IN labels(x) WHERE l STARTS WITH 'Pgs')"
SHOWN = """
MATCH (r:PgsRun {id: $run})-[s:PGS_SHOWED]->(n)
RETURN s.place AS place, n.doi AS doi, n.type AS type, n.weight AS weight, n.count AS count
ORDER BY doi IS NULL, place
"""
CLAIMS = """
MATCH (f:PgsFinding)-[:PGS_FROM]->(:PgsRun {id: $run})
RETURN f.text AS text, f.supported AS supported, f.misquoted AS misquoted,
       [(f)-[c:PGS_CITES]->(n) | [c.alias, n.doi]] AS cited
ORDER BY f.place
"""
REPLY = """\
## Answer
Paper 101 says it [n1, t1], and [n99] does too.

## Findings
- “Its token is fact101” is what it says [n1].
- “Its token is fact999” is what it says [n1].
- Another paper says more [n77].
- They are related [t1].

## Not found
- the migration of unicorns
- fact150
- fact101
"""


def replying(reply: str) -> Any:
    return lambda prompt: reply


def model(pgs: PGS) -> ScriptedLLM:
    assert isinstance(pgs.synthesis_llm, ScriptedLLM)
    return pgs.synthesis_llm


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """Four topics of papers with partitions, and a model that answers by the format."""
    async with engine_on_papers(endpoint, db, models=PRICES) as opened:
        await opened.partitions.build("papers")
        model(opened)._answer = replying(REPLY)
        yield opened


async def ask(pgs: PGS, question: str = QUESTION, **given: Any) -> Answer:
    found = await pgs.search(question, graph="papers", answer=True, **given)
    assert found.answer is not None
    return found.answer


def shown(answer: Answer) -> Shown:
    """What the prompt of an answer showed."""
    assert answer.shown is not None
    return answer.shown


def is_within(answer: Answer, planned: SearchPlan) -> bool:
    """Whether an answer cost what was planned."""
    assert planned.low is not None
    assert planned.high is not None
    assert answer.cost is not None
    return planned.low <= answer.cost <= planned.high


async def shown_source(pgs: PGS, run: str) -> SourceNode:
    """The source on paper 101 as the prompt showed it."""
    sources = (await pgs.runs.document(run)).sources
    (source,) = [one for one in sources if one.key == "doi/101" and not one.partition]
    return source


async def test_an_answer_cites_and_keeps_what_its_prompt_showed_and_nothing_else(
    pgs: PGS, db: Database
) -> None:
    answer = await ask(pgs)
    cited = {cited.alias: cited for cited in answer.synthesis.citations}
    assert cited["n1"].node == "doi/101"
    assert {alias for alias, one in cited.items() if not one.valid} == {"n99", "n77"}
    prompt = model(pgs).prompts[-1]
    assert all(f"[{one.alias}] {one.title}" in prompt.user for one in shown(answer).nodes)
    assert all(f"[{one.alias}] " in prompt.user for one in shown(answer).relationships)
    assert len(shown(answer).relationships) >= 1
    assert shown(answer).nodes_total == 160
    assert [finding.supported for finding in shown(answer).findings] == [True, True, False, True]
    quotes = [quote.found for finding in shown(answer).findings for quote in finding.quotes]
    assert quotes == [True, False]
    rows = await fetch(db, SHOWN, run=answer.run)
    nodes = [row["doi"] for row in rows if row["doi"]]
    assert nodes == [one.node for one in shown(answer).nodes]
    assert len(rows) - len(nodes) == len(shown(answer).relationships)
    claims = await fetch(db, CLAIMS, run=answer.run)
    assert [(row["supported"], row["misquoted"], row["cited"]) for row in claims] == [
        (True, 0, [["n1", "doi/101"]]),
        (True, 1, [["n1", "doi/101"]]),
        (False, 0, []),
        (True, 0, []),
    ]
    # It is stored in every form, which say what changed since.
    stored = await pgs.runs.answer(answer.run)
    assert replace(stored, usage=answer.usage) == answer
    document = await pgs.runs.document(answer.run)
    assert "Paper 101" in {source.title for source in document.sources}
    assert all(source.text is not None and not source.changed for source in document.sources)
    assert json.loads(to_json(document))["shown"]["nodes_total"] == 160
    for text in (to_markdown(document), to_html(document)):
        assert "of 160 nodes and" in text
        assert "P0" not in text
    listed = await pgs.runs("papers")
    assert [(run.mode, run.nodes_shown) for run in listed] == [("hybrid", len(shown(answer).nodes))]
    await alter(db, "MATCH (p:Paper {doi: 'doi/101'}) SET p.abstract = 'New.'")
    assert (await shown_source(pgs, answer.run)).changed
    await alter(db, "MATCH (p:Paper {doi: 'doi/101'}) DETACH DELETE p")
    assert (await shown_source(pgs, answer.run)).text is None


async def test_a_node_that_took_the_place_of_a_deleted_one_is_not_cited(
    pgs: PGS, db: Database
) -> None:
    """The database may give the element id of a deleted node to another one."""

    async def replace_first(prompt: Prompt) -> str:
        await alter(db, "MATCH (p {doi: 'doi/101'}) SET p:LoadedNode, p.doi = 'another'")
        return REPLY

    model(pgs)._answer = replace_first
    answer = await ask(pgs)
    rows = await fetch(db, SHOWN, run=answer.run)
    assert "doi/101" in {one.node for one in shown(answer).nodes}
    assert "another" not in {row["doi"] for row in rows}
    claims = await fetch(db, CLAIMS, run=answer.run)
    assert [doi for row in claims for doi in row["cited"]] == []


async def test_what_was_not_found_is_looked_for_in_the_whole_graph(pgs: PGS) -> None:
    events: list[Event] = []
    answer = await ask(pgs, top_k=3, on_event=events.append)
    assert "doi/150" not in {one.node for one in shown(answer).nodes}
    status = [absence.status for absence in answer.crosscheck.absences]
    assert status == [
        AbsenceStatus.CONFIRMED,
        AbsenceStatus.ELSEWHERE,
        AbsenceStatus.CONTRADICTED,
    ]
    assert "- the migration of unicorns (checked: confirmed, in none of 160 nodes)" in answer.text
    streamed = "".join(event.text for event in events if isinstance(event, TextStreamed))
    assert streamed.replace("[n1, t1]", "[n1] [t1]") == answer.text


@pytest.mark.schema
@pytest.mark.thorough
async def test_an_answer_reads_nothing_and_leaves_the_graph_alone(pgs: PGS, db: Database) -> None:
    before, ours = await checksum(db), await count(db, OURS)
    answer = await ask(pgs)
    assert await checksum(db) == before
    coverage = await pgs.sessions.coverage("default", "papers")
    assert coverage is not None
    assert (coverage.nodes_read, answer.coverage.nodes_read) == (0, 0)
    assert [route.partition for route in answer.routing.routes]
    assert await count(db, OURS) > ours
    model(pgs)._answer = replying("## Thesis\nIt is so.")
    read = await pgs.execute(QUESTION, graph="papers", mode="continue", session_id=answer.session)
    assert read.coverage.nodes_read > 0
    await pgs.purge()
    assert await count(db, OURS) == 0
    assert await checksum(db) == before


async def test_a_reply_is_planned_and_bought_once_and_repeated_by_its_key(pgs: PGS) -> None:
    planned = await pgs.search.plan(QUESTION, graph="papers")
    assert (planned.calls, planned.mode, model(pgs).prompts) == (1, "hybrid", [])
    first = await ask(pgs)
    assert is_within(first, planned)
    assert planned.nodes == len(shown(first).nodes)
    cached = await pgs.search.plan(QUESTION, graph="papers")
    assert (cached.calls, cached.high) == (0, 0.0)
    second = await ask(pgs)
    assert len(model(pgs).prompts) == 1
    assert (first.usage.calls, second.usage.calls, second.usage.cached) == (1, 0, 1)
    assert (first.text, second.cost) == (second.text, 0.0)
    keyed = await ask(pgs, idempotency_key="once")
    again = await ask(pgs, idempotency_key="once")
    assert (again.run, len(model(pgs).prompts)) == (keyed.run, 1)
    with pytest.raises(IdempotencyError, match="with another request"):
        await ask(pgs, idempotency_key="once", top_k=5)
    with pytest.raises(IdempotencyError, match="with another request"):
        await pgs.execute(QUESTION, graph="papers", idempotency_key="once")


async def test_a_small_limit_shows_less_and_one_without_room_stops_before_the_call(
    pgs: PGS, db: Database
) -> None:
    none: tuple[dict[str, Any], ...] = ({"max_tokens": 300}, {"max_cost": 0.000001})
    for limit in none:
        with pytest.raises(BudgetError):
            await ask(pgs, **limit)
    assert not model(pgs).prompts
    await alter(db, LONGER)
    wide = "Which papers study sleep and memory?"
    answer = await ask(pgs, wide, max_tokens=LITTLE)
    whole = await ask(pgs, wide, cache=False)
    assert answer.usage.tokens <= LITTLE
    assert 0 < shown(answer).tokens < shown(whole).tokens


async def test_an_interrupted_or_failed_answer_is_resumed_and_shown(pgs: PGS) -> None:
    called = asyncio.Event()

    async def endless(prompt: Prompt) -> str:
        called.set()
        await asyncio.sleep(60)
        return REPLY

    model(pgs)._answer = endless
    task = asyncio.create_task(ask(pgs, top_k=4))
    await called.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    latest = await pgs.runs.latest("papers")
    assert (latest.status, latest.answered) == ("interrupted", False)
    with pytest.raises(UsageError, match="has no answer yet"):
        await pgs.runs.answer(latest.id)
    model(pgs)._answer = replying("<think>Hm.</think>")
    with pytest.raises(ModelOutputError, match="returned an empty answer"):
        await pgs.resume(latest.id)
    assert (await pgs.runs.latest("papers")).status == "failed"
    model(pgs)._answer = replying("Just text [n1].")
    answer = await pgs.resume(latest.id)
    assert (answer.run, answer.mode, len(shown(answer).nodes)) == (latest.id, "hybrid", 4)
    assert (answer.synthesis.thesis, shown(answer).findings) == ("Just text [n1].", ())
    assert await pgs.resume(latest.id) == await pgs.runs.answer(latest.id)


async def test_bypass_shows_nothing_and_summary_sums_up_relationships_and_partitions(
    pgs: PGS,
) -> None:
    model(pgs)._answer = replying("It is blue [n1].")
    answer = await ask(pgs, "Why is the sky blue?", mode="bypass")
    assert [cited.valid for cited in answer.synthesis.citations] == [False]
    assert (shown(answer).nodes, shown(answer).tokens) == ((), 0)
    answer = await ask(pgs, mode="summary")
    assert answer.mode == "summary"
    alone, prompt = model(pgs).prompts
    assert alone.user == "Why is the sky blue?"
    assert prompt.system.startswith("You summarize")
    assert "## Relationships" in prompt.user
    assert "## Partitions" in prompt.user
    # If nothing is found, at most keywords are asked for, which find nothing either.
    for source, calls in (("words", 0), ("model", 1)):
        answer = await ask(pgs, "qqqq zzzz", mode="local", keywords=source)
        assert answer.text.startswith("Nothing in the graph matches")
        assert (answer.usage.calls, len(model(pgs).prompts)) == (calls, 2)


@pytest.mark.thorough
async def test_keywords_and_the_order_of_the_model_are_bought_once_as_planned(pgs: PGS) -> None:
    reader = pgs.sweep_llm
    assert isinstance(reader, ScriptedLLM)
    reader._answer = replying("names: Paper 41\nthemes: trade")
    planned = await pgs.search.plan("Which paper is it?", graph="papers", mode="local")
    assert (planned.calls, reader.prompts) == (2, [])
    answer = await ask(pgs, "Which paper is it?", mode="local")
    assert shown(answer).nodes[0].title == "Paper 41"
    assert (answer.usage.calls, len(reader.prompts)) == (2, 1)
    assert is_within(answer, planned)
    again = await ask(pgs, "Which paper is it?", mode="local")
    assert (again.usage.calls, again.usage.cached) == (0, 2)
    words = await ask(pgs, "Which paper is it?", mode="local", keywords="words", cache=False)
    assert words.usage.calls <= 1

    kept = await pgs.search(QUESTION, graph="papers", rerank="model")
    assert "add --answer" in kept.warnings[-1]
    reader._answer = replying("5")
    reader.prompts.clear()
    planned = await pgs.search.plan(QUESTION, graph="papers", rerank="model", top_k=3)
    assert (planned.calls, planned.nodes, reader.prompts) == (2, 3, [])
    answer = await ask(pgs, QUESTION, rerank="model", top_k=3)
    assert (shown(answer).nodes[0].title, len(shown(answer).nodes)) == (kept.items[4].title, 3)
    assert [one.task for one in reader.prompts] == ["rerank"]
    assert is_within(answer, planned)
    again = await ask(pgs, QUESTION, rerank="model", top_k=3)
    assert (again.usage.calls, again.usage.cached) == (0, 2)
    for top_k in (0, 201):
        with pytest.raises(UsageError, match="top_k is"):
            await ask(pgs, QUESTION, rerank="model", top_k=top_k)


async def test_without_partitions_absences_stay_unchecked(endpoint: Endpoint, db: Database) -> None:
    async with engine_on_papers(endpoint, db) as pgs:
        model(pgs)._answer = replying(REPLY)
        answer = await ask(pgs)
        assert {one.status for one in answer.crosscheck.absences} == {AbsenceStatus.UNCHECKED}
        assert any("has no partitions" in warning for warning in answer.warnings)
        assert (answer.generation, answer.coverage.nodes_total) == ("", 160)
        assert (await pgs.runs.answer(answer.run)).text == answer.text
        assert "Paper 101" in to_markdown(await pgs.runs.document(answer.run))
        assert await count(db, "(x:PgsGeneration)") == 0


@pytest.mark.thorough
async def test_feedback_moves_all_that_was_shown_and_outlives_the_session(
    pgs: PGS, db: Database
) -> None:
    await ask(pgs, session_id="one")
    answer = await ask(pgs, session_id="two", top_k=3)
    nodes, triplets = len(shown(answer).nodes), len(shown(answer).relationships)
    for outcome, weight in (("accepted", 0.55), ("rejected", 0.45)):
        result = await pgs.runs.feedback(answer.run, outcome, replace=True)
        assert (result.nodes, result.triplets, result.missing) == (nodes, triplets, 0)
        rows = await fetch(db, SHOWN, run=answer.run)
        rated = {(round(row["weight"], 12), row["count"]) for row in rows if row["type"]}
        assert rated == {(weight, 1)}
    await pgs.sessions.delete("one", "papers")
    await pgs.sessions.delete("two", "papers")
    assert await count(db, "(x:PgsRun|PgsThesis|PgsFinding)") == 0
    assert await count(db, "(x:PgsTriplet)") == triplets
