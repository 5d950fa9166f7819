"""Divides documents by the vectors of the engine's embedder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.calls.embedding import embed_texts, priced_model
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.ingestion.order import chunk_rules
from pgs_neo4j.ingest.divide.semantic import SemanticChunker, Vectors
from pgs_neo4j.llm.protocol import Embedder


def semantic_chunker(core: Core, config: PGSConfig, calls: Calls) -> SemanticChunker | None:
    """Return what divides by meaning, if the settings want that.

    Its calls are of this ingestion: queued, counted, and within its limits. Raises ConfigError
    without an embedder, and for a limit that needs a price.
    """
    if config.chunk_strategy != "semantic":
        return None
    embedder = core.ingest_embedder()
    model = priced_model(embedder)
    calls.budget.check({model.name: model.free})

    embed = partial(_embed, calls, embedder)
    return SemanticChunker(chunk_rules(config), embedder.name, embed, model)


async def _embed(calls: Calls, embedder: Embedder, texts: Sequence[str]) -> Vectors:
    taken: list[Vectors] = []

    async def _take(vectors: Vectors) -> None:
        taken.append(vectors)

    await embed_texts(calls, embedder, texts, _take)
    return taken[0]
