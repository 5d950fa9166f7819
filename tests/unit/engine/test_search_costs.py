"""Whether a search may cost something, by its embedder and its reranker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.engine.searching import Searcher
from pgs_neo4j.llm.calls.spending import Payer, paid_by
from pgs_neo4j.model import Found, GraphMapping
from tests.unit.engine.test_embedder_choice import core

SERVED = {"llm_provider": "openai", "llm_base_url": "http://127.0.0.1:9/v1"}
FREE: dict[str, Any] = {"llm_provider": "extractive", "embedder": "hashing"}
PRICE = {"input_price": 1.0, "output_price": 1.0}
RERANKED = FREE | {"rerank_base_url": "http://127.0.0.1:9", "rerank_model": "r"}


@pytest.mark.parametrize(
    ("settings", "rerank", "costs"),
    [
        (FREE, None, False),
        (SERVED | {"embedder": "openai"}, None, True),
        (SERVED | {"embedder": "hashing"}, None, False),
        (SERVED | {"embedder": "none"}, None, False),
        (RERANKED, None, False),
        (RERANKED, "mmr", False),
        (RERANKED, "http", True),
    ],
)
async def test_a_search_may_cost_what_its_services_charge(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, settings: Any, rerank: Any, costs: bool
) -> None:
    async def graph(db: object, name: str | None) -> StoredGraph:
        return StoredGraph("papers", GraphMapping(labels=("Paper",)))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(catalog, "get", graph)
    held: list[float] = []

    @asynccontextmanager
    async def allow(most: float) -> AsyncIterator[float | None]:
        held.append(most)
        yield 0.5

    async def find(searcher: Searcher, question: str, *_: object, **__: object) -> Found:
        return Found(mode="local", question=question, items=(), paths=(), seconds=0.0)

    monkeypatch.setattr(Searcher, "_find", find)
    prices = {"r": PRICE, "text-embedding-3-small": PRICE}
    with paid_by(Payer("ann / ", allow)):
        search = Searcher(core(models=prices, **settings))
        await search("Who trades tea?", graph="papers", mode="local", rerank=rerank)
    assert [most > 0 for most in held] == [True] * costs
