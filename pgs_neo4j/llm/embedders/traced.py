"""Calls of embedders as spans: who was asked, for how many texts, and never the texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.llm.own_models import await_vectors, said_by
from pgs_neo4j.llm.protocol import EmbeddedTexts, Embedder, Metered
from pgs_neo4j.llm.served_at import provider_attributes
from pgs_neo4j.telemetry import names
from pgs_neo4j.telemetry.spans import SpanNotes, Value, start_span


async def embed_traced(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors ``(n, d)`` of some texts."""
    with _embeddings_span(embedder, embedder.name, texts) as span:
        with said_by(embedder.name, "embedder"):
            said = embedder.dimensions  # before the reply, which may show what it is
            embedding: object = embedder.embed(texts)
            vectors = await await_vectors(embedder.name, embedding, len(texts), said)
        span.note({names.DIMENSIONS: vectors.shape[1]})
        return vectors


async def embed_once_traced(embedder: Metered, texts: Sequence[str]) -> EmbeddedTexts:
    """Return the vectors of some texts in one call, and what its endpoint counted."""
    with _embeddings_span(embedder, embedder.model, texts) as span:
        embedded = await embedder.embed_once(texts)
        span.note(
            {
                names.DIMENSIONS: embedded.vectors.shape[1],
                names.INPUT_TOKENS: embedded.usage.input_tokens,
            }
        )
        return embedded


def _embeddings_span(embedder: object, model: str, texts: Sequence[str]) -> SpanNotes:
    about: dict[str, Value | None] = {
        names.OPERATION: names.EMBEDDINGS,
        **provider_attributes(embedder),
        names.REQUEST_MODEL: model,
        names.TEXTS: len(texts),
    }
    return start_span(names.embeddings_name(model), about, client=True)
