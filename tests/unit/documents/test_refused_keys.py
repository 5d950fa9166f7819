"""A key that is refused, or a model that nobody knows, ends an ingestion at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.documents.extract.model import ModelExtractor
from pgs_neo4j.documents.pipeline import ingest
from pgs_neo4j.documents.publish import large
from pgs_neo4j.errors import (
    ModelAuthError,
    ModelError,
    ModelRateLimitError,
    ModelUnavailableError,
    Retry,
    UnknownModelError,
)
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM
from pgs_neo4j.model import Prompt
from pgs_neo4j.model.ingest import Ingested
from pgs_neo4j.text.extraction.schema import EntitySchema
from tests.fakes.ingestion import Documents, ingestion

LASTING = [
    ModelAuthError("the key is refused"),
    UnknownModelError("no such model"),
    ModelRateLimitError("no quota left"),
]
PASSING = [ModelUnavailableError("HTTP 500"), ModelRateLimitError("429", retry=Retry(tries=1))]
TEXT = "Tea grows in Assam, and ships carry it. " * 60


def write(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"{number:03}.txt").write_text(f"Document {number}. {TEXT}")


async def run(documents: Documents, llm: ScriptedLLM, folder: Path) -> Ingested:
    calls = Calls.of(PGSConfig(max_concurrent_calls=8, max_concurrent_sweeps=4), {})
    extractor = ModelExtractor(llm, calls, EntitySchema())
    order, tools = ingestion(documents, extractor, folder)
    return await ingest(order, replace(tools, calls=calls))


@pytest.mark.parametrize("error", LASTING)
async def test_no_more_than_the_calls_in_flight_are_refused(
    tmp_path: Path, error: ModelError
) -> None:
    write(tmp_path, 150)
    llm, documents = ScriptedLLM(lambda prompt: error, delay_s=0.01), Documents()
    with pytest.raises(type(error), match=str(error)):
        await run(documents, llm, tmp_path)
    assert len(llm.prompts) <= 4
    assert documents.published == []


@pytest.mark.parametrize("error", PASSING)
async def test_a_failure_that_may_pass_concerns_one_document(
    tmp_path: Path, error: ModelError
) -> None:
    write(tmp_path, 3)

    def answer(prompt: Prompt) -> Reply:
        return error if "Document 1." in prompt.user else "<|COMPLETE|>"

    done = await run(Documents(), ScriptedLLM(answer), tmp_path)
    assert [one.state for one in done.outcomes] == ["added", "failed", "added"]


async def test_a_large_document_ends_at_its_first_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "GROUP_BYTES", 20_000)
    monkeypatch.setattr(large, "PART_BYTES", 15_000)
    text = "\n\n".join(f"Part {number}. {TEXT}" for number in range(60))
    (tmp_path / "large.txt").write_text(text)
    llm = ScriptedLLM(lambda prompt: LASTING[0], delay_s=0.01)
    with pytest.raises(ModelAuthError):
        await run(Documents(), llm, tmp_path)
    assert 0 < len(llm.prompts) <= 4
