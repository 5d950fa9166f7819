"""Spans of a whole run on a real database: their tree, and that no text is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UsageError
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from pgs_neo4j.telemetry import spans
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on_papers
from tests.tracing import Traced, attributes, trace_with

QUESTION = "Why canary-question?"
MARK = "MATCH (p:Paper) SET p.abstract = p.abstract + ' canary-graph'"


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with engine_on_papers(endpoint, db, models={}) as opened:
        await alter(db, MARK)
        opened.sweep_llm = opened.synthesis_llm = ScriptedLLM(
            lambda prompt: contract_reply(prompt) + "\ncanary-model"
        )
        yield opened


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Traced:
    return trace_with(monkeypatch)


@pytest.mark.thorough
async def test_a_run_is_a_tree_of_spans_without_text(
    pgs: PGS, traced: Traced, endpoint: Endpoint
) -> None:
    answer = await pgs.execute(
        QUESTION, graph="papers", session_id="canary-session", full_sweep=True
    )
    assert "canary-model" in answer.text
    (run,) = traced.named(spans.RUN)
    told = attributes(run)
    assert (told[spans.RUN_ID], told[spans.GRAPH]) == (answer.run, "papers")
    assert told[spans.RESUMED] is False
    counts = Counter(span.name for span in traced.spans)
    assert counts[spans.PASS] == 4
    assert counts[spans.chat_name("scripted")] == answer.usage.calls == 5
    for phase in ("partition", "route", "sweep", "synthesize"):
        (span,) = traced.named(spans.phase_name(phase))
        assert traced.parent(span) is run, phase
    (sweeping,) = traced.named(spans.phase_name("sweep"))
    (writing,) = traced.named(spans.phase_name("synthesize"))
    for one in traced.named(spans.PASS):
        assert traced.parent(one) is sweeping
    parents = Counter(
        parent.name
        for span in traced.named(spans.chat_name("scripted"))
        if (parent := traced.parent(span)) is not None
    )
    assert parents == {spans.PASS: 4, writing.name: 1}
    calls = [attributes(span) for span in traced.named(spans.chat_name("scripted"))]
    assert sum(one[spans.INPUT_TOKENS] for one in calls) == answer.usage.input_tokens
    assert sum(one[spans.OUTPUT_TOKENS] for one in calls) == answer.usage.output_tokens
    statements = [
        span for span in traced.spans if attributes(span).get(spans.DATABASE_SYSTEM) == "neo4j"
    ]
    used = {span.name for span in statements}
    assert used <= {*queries.names(), spans.GDS}
    assert {
        "pgs/runs/create_runs",
        "pgs/partitioning/write_members",
        "pgs/runs/write_answers",
    } <= used
    assert all(attributes(span)[spans.QUERY_SUMMARY] == span.name for span in statements)
    assert not [hidden for hidden in ("canary", "MATCH") if hidden in traced.text()]
    assert not endpoint.password or endpoint.password not in traced.text()


@pytest.mark.thorough
async def test_text_is_told_if_the_setting_asks_for_it(
    endpoint: Endpoint, db: Database, traced: Traced
) -> None:
    async with engine_on_papers(endpoint, db, telemetry_text=True) as opened:
        await alter(db, MARK)
        await opened.execute(QUESTION, graph="papers")
    (run,) = traced.named(spans.RUN)
    assert attributes(run)[spans.QUESTION] == QUESTION
    asked = "".join(
        attributes(span)[spans.INPUT_MESSAGES] for span in traced.named("chat scripted")
    )
    assert "canary-graph" in asked
    statements = [span.to_json() for span in traced.spans if "/" in span.name]
    assert not [text for text in statements if "canary" in text]


async def test_an_answer_from_a_search_is_a_run_and_a_failed_one_has_its_kind(
    pgs: PGS, traced: Traced
) -> None:
    await pgs.search(QUESTION, graph="papers", answer=True)
    (run,) = traced.named(spans.RUN)
    assert attributes(run)[spans.GRAPH] == "papers"
    with pytest.raises(UsageError):
        await pgs.execute(QUESTION, graph="papers", mode="continue", session_id="canary-never")
    failed = traced.named(spans.RUN)[-1]
    assert attributes(failed)[spans.ERROR_TYPE] == "UnknownSessionError"
    assert spans.RUN_ID not in attributes(failed)
    assert "canary" not in traced.text()
