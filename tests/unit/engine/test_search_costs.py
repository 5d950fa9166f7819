"""Whether a search may cost something, by its embedder and its reranker."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j import catalog
from pgs_neo4j.catalog import StoredGraph
from pgs_neo4j.engine.searching import Searcher
from pgs_neo4j.model import GraphMapping
from tests.unit.engine.test_embedder_choice import core

SERVED = {"llm_provider": "openai", "llm_base_url": "http://127.0.0.1:9/v1"}
FREE: dict[str, Any] = {"llm_provider": "extractive", "embedder": "hashing"}
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
    assert await Searcher(core(**settings)).may_cost("papers", rerank) == costs
