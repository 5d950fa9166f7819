"""Retrievers of other packages on the same database and indexes, where they are installed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from tests.bench.store import Server

Ranked = Callable[[str], Awaitable[list[str]]]
RETRIEVAL = "RETURN elementId(node) AS id, score"


@contextmanager
def graphrag(
    server: Server,
    vector_index: str,
    text_index: str,
    embed: Callable[[str], list[float]],
    top: int,
) -> Iterator[dict[str, Ranked]]:
    """HybridCypherRetriever of neo4j-graphrag with each of its rankers; empty without it."""
    if find_spec("neo4j_graphrag") is None:
        yield {}
        return
    import neo4j
    from neo4j_graphrag.retrievers import HybridCypherRetriever
    from neo4j_graphrag.types import RetrieverResultItem

    def item(record: Any) -> Any:
        return RetrieverResultItem(content=record["id"])

    access = (server.user, server.password or "")
    with neo4j.GraphDatabase.driver(server.uri, auth=access) as driver:
        retriever = HybridCypherRetriever(
            driver, vector_index, text_index, RETRIEVAL, result_formatter=item
        )

        def ranked_by(**ranker: Any) -> Ranked:
            def search(question: str) -> list[str]:
                vector = embed(question)
                found = retriever.search(
                    query_text=question, query_vector=vector, top_k=top, **ranker
                )
                return [str(one.content) for one in found.items]

            async def ranked(question: str) -> list[str]:
                return await asyncio.to_thread(search, question)

            return ranked

        yield {
            "graphrag naive": ranked_by(ranker="naive"),
            "graphrag linear": ranked_by(ranker="linear", alpha=0.5),
        }
