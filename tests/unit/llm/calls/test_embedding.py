"""Embedding calls wait, count, and are limited as completions are."""

from __future__ import annotations

from asyncio import gather

import numpy as np
import pytest
from numpy.typing import NDArray

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import BudgetError, ModelUnavailableError, Retry
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.embedding import embed_texts, priced_model
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.pace import Bucket
from pgs_neo4j.model import Usage
from tests.fakes.embedders import MeteredEmbedder, ScriptedEmbedder
from tests.timeless import timeless

pytestmark = pytest.mark.usefixtures("no_waits")
PRICES = {"m": ModelEntry(input_price=1e6, output_price=0.0)}


def of(**knobs: object) -> Calls:
    return Calls.of(PGSConfig(**knobs), PRICES)  # type: ignore[arg-type]


async def embedded(
    calls: Calls, embedder: ScriptedEmbedder | HashingEmbedder, *texts: str
) -> NDArray[np.float32]:
    taken: list[NDArray[np.float32]] = []

    async def take(vectors: NDArray[np.float32]) -> None:
        taken.append(vectors)

    await embed_texts(calls, embedder, texts, take)
    return taken[0]


@timeless
async def test_a_call_counts_what_its_endpoint_counted_or_else_an_estimate() -> None:
    calls, embedder = of(max_cost=100.0), MeteredEmbedder()
    assert np.allclose(
        await embedded(calls, embedder, "one", "three"), embedder.vectors(["one", "three"])
    )
    assert calls.usage == Usage(calls=1, input_tokens=8)
    assert calls.budget.cost == 8.0
    assert priced_model(embedder).name == "m"
    calls = of()
    await embedded(calls, ScriptedEmbedder(), "one", "three")
    assert calls.usage == Usage(calls=1, input_tokens=3, estimated=True)
    assert calls.budget.cost is None


@timeless
async def test_a_free_embedder_knows_no_limit_and_another_stops_before_it() -> None:
    calls = of(max_calls=1)
    for _ in range(3):
        assert (await embedded(calls, HashingEmbedder(16), "one")).shape == (1, 16)
    assert calls.usage == Usage()
    assert priced_model(HashingEmbedder(16)).free
    calls, embedder = of(max_calls=2), MeteredEmbedder()
    for text in ("one", "two"):
        await embedded(calls, embedder, text)
    for text in ("three", "four"):
        with pytest.raises(BudgetError, match="max_calls"):
            await embedded(calls, embedder, text)
    assert embedder.texts == ["one", "two"]
    assert calls.budget.closed is not None


@timeless
async def test_a_failure_that_may_pass_is_tried_again_and_counted_at_its_worst() -> None:
    calls, embedder = of(), MeteredEmbedder()
    embedder.failures = [ModelUnavailableError("gone", retry=Retry())]
    await embedded(calls, embedder, "one")
    assert calls.usage == Usage(calls=2, input_tokens=1 + 3, estimated=True)


@timeless
async def test_vectors_are_taken_before_the_next_call_gets_the_turn() -> None:
    calls, embedder = of(max_concurrent_sweeps=1, max_concurrent_calls=1), MeteredEmbedder()
    events: list[str] = []

    async def take(vectors: NDArray[np.float32]) -> None:
        events.append(f"taken after {len(embedder.calls)}")

    await gather(*(embed_texts(calls, embedder, [text], take) for text in ("a", "b", "c")))
    assert events == ["taken after 1", "taken after 2", "taken after 3"]


@timeless
async def test_the_bucket_of_the_endpoint_gives_back_what_was_not_used() -> None:
    calls, embedder = of(), MeteredEmbedder()
    embedder.pace.bucket = Bucket(600)
    await embedded(calls, embedder, "a" * 70)
    assert embedder.pace.bucket.level == pytest.approx(600 - 70, abs=1)
