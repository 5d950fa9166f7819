"""Spans of an ingestion on a real database: its steps, and the calls within them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.names.renewal import hold_with_resolved_names
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import BusyError
from pgs_neo4j.llm.scripted import Reply
from pgs_neo4j.model import Prompt
from pgs_neo4j.telemetry import spans
from tests.engines import answering
from tests.fakes.embedders import ScriptedEmbedder
from tests.fakes.extractors import named_records
from tests.tracing import Traced, attributes, trace_with

CHAT = spans.chat_name("scripted")
EMBEDDINGS = spans.embeddings_name("scripted")


def reader(prompt: Prompt) -> Reply:
    """Name one entity, each sentence of which says something else of it."""
    if prompt.task == "description":
        return "Canary Hill lies in a county."
    return named_records(prompt.user, {"Canary Hill": "Location"})


@pytest.fixture
def pgs(engine: PGS) -> PGS:
    answering(engine, reader)
    return engine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(20):
        text = f"Canary Hill has the number {number}, and lies in the county {number}.\n"
        (tmp_path / f"canary-{number}.txt").write_text(text)
    return tmp_path


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Traced:
    return trace_with(monkeypatch)


def step(traced: Traced, name: str) -> Counter[str]:
    """What stands directly within the spans of a step."""
    within = [
        span.name
        for span in traced.spans
        if (parent := traced.parent(span)) is not None and parent.name == spans.step_name(name)
    ]
    return Counter(within)


async def test_an_ingestion_is_a_tree_of_its_steps_without_text_also_if_it_fails(
    pgs: PGS, db: Database, traced: Traced, folder: Path
) -> None:
    done = await pgs.ingest(folder, "docs", embed=ScriptedEmbedder())
    assert (done.undescribed_why, done.unembedded_why, done.stopped) == ("", "", "")
    assert (done.complete, len(done.outcomes), done.described) == (True, 20, 1)
    (ingestion,) = traced.named(spans.INGEST)
    told = attributes(ingestion)
    assert told == {spans.GRAPH: "docs", spans.JOB_ID: done.job}
    for name in ("read", "extract", "publish", "describe", "embed"):
        listed = traced.named(spans.step_name(name))
        assert listed, name
        assert {traced.parent(span) for span in listed} == {ingestion}, name
    assert not traced.named(spans.step_name("judge"))
    (published,) = traced.named(spans.step_name("publish"))
    assert attributes(published)[spans.DOCUMENTS] == 20
    (described,) = traced.named(spans.step_name("describe"))
    assert attributes(described)[spans.ENTITIES] == 1
    calls = traced.named(CHAT)
    assert step(traced, "describe")[CHAT] == 1
    assert step(traced, "extract")[CHAT] + 1 == len(calls)
    embeddings = traced.named(EMBEDDINGS)
    assert step(traced, "embed")[EMBEDDINGS] == len(embeddings) > 0
    assert sum(attributes(span)[spans.TEXTS] for span in embeddings) == done.embedded
    assert len(calls) + len(embeddings) == done.usage.calls
    statements = {span.name for span in traced.spans} & set(queries.names())
    assert "documents/publish/publish" in statements
    assert step(traced, "publish")["documents/publish/publish"] == 1
    async with hold_with_resolved_names(db, "docs", "Docs", "", None):
        with pytest.raises(BusyError):
            await pgs.ingest(folder, "docs")
    failed = attributes(traced.named(spans.INGEST)[-1])
    newest = (await pgs.jobs("docs", limit=1))[0]
    assert (failed[spans.ERROR_TYPE], failed[spans.JOB_ID]) == ("BusyError", newest.id)
    assert newest.outcome == "busy"
    assert "canary" not in traced.text().lower()
