"""The plan of an ingestion says what the ingestion then does, and what it would cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.documents import pipeline
from pgs_neo4j.documents.enrich.embed import FOUND_A_CHUNK, FOUND_TOKENS
from pgs_neo4j.documents.order import Embedding
from pgs_neo4j.documents.pipeline import ingest
from pgs_neo4j.documents.plan import OWN_BYTES_S, plan_ingest
from pgs_neo4j.errors import ModelOutputError
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.protocol import Embedder
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model.ingest import EmbeddingForecast, IngestPlan
from tests.fakes.embedders import ScriptedEmbedder
from tests.fakes.extractors import WordExtractor
from tests.fakes.ingestion import Documents, ingestion
from tests.unit.documents.test_pipeline import write

LLM = ScriptedLLM(lambda prompt: "")
PRICED = {LLM.name: ModelEntry(input_price=1.0, output_price=10.0)}


async def plan(
    documents: Documents, extractor: WordExtractor, folder: Path, **given: object
) -> IngestPlan:
    order, tools = ingestion(documents, extractor, folder, **given)
    return await plan_ingest(order, tools, LLM)


@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("seed", range(4))
async def test_the_ingestion_does_what_its_plan_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, *, shares: bool
) -> None:
    monkeypatch.setattr(pipeline, "GROUP_DOCUMENTS", 3)
    random, documents = Random(seed), Documents()
    extractor = WordExtractor(shares=shares)
    for step in range(4):
        for name in random.sample("abcdefghijkl", 6):
            # Few texts, so that some are repeated in the same group, in the next, and later.
            word = random.choice(("Red", "Green", "Blue", "Long " * 400))
            (tmp_path / f"{name}.md").write_text(f"{word} is a word.\n")
        (tmp_path / f"{name}.md").unlink()
        if random.random() < 0.5:
            extractor.errors = {"Green": ModelOutputError("no records")}
        sync, before = step % 2 == 1, extractor.prompts
        planned = await plan(documents, extractor, tmp_path, sync=sync)
        assert extractor.prompts == before
        done = await ingest(*ingestion(documents, extractor, tmp_path, sync=sync))
        if not done.count("failed"):
            assert extractor.prompts - before == planned.calls
            assert done.outcomes == planned.outcomes
        extractor.errors = {}


async def test_the_cost_is_a_band_and_unknown_without_prices(tmp_path: Path) -> None:
    write(tmp_path, "Alpha", "Beta")
    unpriced = await plan(Documents(), WordExtractor(), tmp_path)
    assert (unpriced.low, unpriced.high) == (None, None)
    priced = await plan(Documents(), WordExtractor(), tmp_path, models=PRICED)
    assert priced.low == pytest.approx(0.8 * 200 / 1e6)
    assert priced.high == pytest.approx((1.5 * 200 + 10 * 100) / 1e6)


async def test_a_limit_tells_how_many_documents_would_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "GROUP_DOCUMENTS", 2)
    write(tmp_path, "A", "B", "C", "D", "E")
    limited = await plan(Documents(), WordExtractor(), tmp_path, config=PGSConfig(max_calls=3))
    assert limited.budget == "3 calls (max_calls) would leave up to 3 of 5 documents waiting"
    enough = await plan(Documents(), WordExtractor(), tmp_path, config=PGSConfig(max_calls=5))
    assert enough.budget == ""


async def test_the_time_is_that_of_the_replies_or_of_the_own_work(tmp_path: Path) -> None:
    size = 2 * OWN_BYTES_S
    (tmp_path / "large.md").write_text("Words are many here. " * (size // 21))
    one_at_a_time = PGSConfig(max_concurrent_sweeps=1, max_concurrent_calls=1)
    slow = await plan(Documents(), WordExtractor(), tmp_path, config=one_at_a_time)
    assert slow.seconds == pytest.approx(slow.calls)
    hundred = PGSConfig(max_concurrent_sweeps=100, max_concurrent_calls=100)
    own = await plan(Documents(), WordExtractor(), tmp_path, config=hundred)
    assert own.seconds == pytest.approx(2, rel=0.1)
    paced = PGSConfig(tokens_per_minute=150)
    assert (await plan(Documents(), WordExtractor(), tmp_path, config=paced)).seconds == (
        pytest.approx(60 * slow.calls)
    )


async def plan_vectors(
    documents: Documents, folder: Path, embedder: Embedder, **given: Any
) -> IngestPlan:
    order, tools = ingestion(documents, WordExtractor(), folder, **given)

    async def begin() -> None:
        raise AssertionError("a plan writes nothing")

    tools = replace(tools, embedding=Embedding(embedder, begin))
    return await plan_ingest(order, tools, LLM)


async def test_a_plan_counts_new_chunks_what_waits_and_what_may_be_found(tmp_path: Path) -> None:
    documents = Documents()
    write(tmp_path, "Alpha", "Beta")
    await ingest(*ingestion(documents, WordExtractor(), tmp_path))
    (tmp_path / "alpha.md").rename(tmp_path / "moved.md")
    write(tmp_path, "New")
    documents.database.answers["count_unembedded"] = [{"texts": 400, "characters": 35_000}]
    prices = {**PRICED, "scripted-vectors": ModelEntry(input_price=2.0, output_price=0.0)}
    embedder = ScriptedEmbedder("scripted-vectors")
    bare = await plan(documents, WordExtractor(), tmp_path, models=prices)
    planned = await plan_vectors(documents, tmp_path, embedder, models=prices)
    told: Any = planned.embedding
    assert (bare.embedding, told.model) == (None, embedder.name)
    assert (told.texts, told.found, told.calls.calls) == (401, FOUND_A_CHUNK, 3)
    assert told.calls.input_tokens == pytest.approx(10_000, abs=20)
    assert told.more.input_tokens == FOUND_A_CHUNK * FOUND_TOKENS
    more = (planned.low or 0) - (bare.low or 0)
    assert more == pytest.approx(0.8 * 2e-6 * told.calls.input_tokens)
    assert embedder.calls == []


async def test_a_plan_says_that_a_limit_leaves_texts_without_vectors(tmp_path: Path) -> None:
    write(tmp_path, "Alpha")
    documents = Documents()
    documents.database.answers["count_unembedded"] = [{"texts": 1000, "characters": 0}]
    given: Any = {"config": PGSConfig(max_calls=4)}
    planned = await plan_vectors(documents, tmp_path, ScriptedEmbedder(), **given)
    assert planned.budget == "4 calls (max_calls) would leave texts without vectors"
    free = await plan_vectors(documents, tmp_path, HashingEmbedder(16), **given)
    assert (free.budget, free.embedding and free.embedding.calls.calls) == ("", 0)
    assert free.embedding == replace(free.embedding or EmbeddingForecast(model=""), texts=1001)
