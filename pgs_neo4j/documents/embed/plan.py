"""Predicts what embedding would cost after an ingestion. It calls no model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from pgs_neo4j.documents.embed.texts import count_unembedded
from pgs_neo4j.documents.embed.waiting import BATCH_TEXTS, BATCH_TOKENS
from pgs_neo4j.documents.order import IngestOrder, IngestTools
from pgs_neo4j.documents.publish import text_part
from pgs_neo4j.documents.stored import StoredChunk
from pgs_neo4j.documents.wanted import WantedDocument
from pgs_neo4j.llm.calls.embedding import EmbeddingModel, priced_model
from pgs_neo4j.model import PlannedCalls
from pgs_neo4j.model.ingest import EmbeddingForecast
from pgs_neo4j.text.tokens import estimate, estimate_bytes

FOUND_A_CHUNK, FOUND_TOKENS = 23, 25
"""Names and facts that are usual for a chunk, and the tokens of each."""


@dataclass(slots=True)
class EmbeddingTally:
    """The texts that an ingestion would embed, as far as they are known.

    ``chunks`` and ``tokens`` are of new chunks, ``extracted`` counts those to be extracted.
    """

    chunks: int = 0
    tokens: int = 0
    extracted: int = 0

    def add(
        self,
        documents: Iterable[WantedDocument],
        stored: Mapping[str, Sequence[StoredChunk]],
        missing: set[str],
    ) -> None:
        """Add the chunks of documents whose texts the graph does not hold in these documents.

        ``missing`` are the keys of extractions that are to be made.
        """
        for document in documents:
            known = {text_part(chunk.id) for id_ in document.former for chunk in stored[id_]}
            new = [chunk for chunk in document.chunks if text_part(chunk.id) not in known]
            self.chunks += len(new)
            self.tokens += sum(estimate(chunk.chunk.text) for chunk in new)
            self.extracted += sum(chunk.extraction_key in missing for chunk in document.chunks)

    async def forecast(self, order: IngestOrder, tools: IngestTools) -> EmbeddingForecast | None:
        """Return what would be embedded, None without an embedder. Raises DatabaseError."""
        if tools.embedding is None:
            return None
        embedder = tools.embedding.embedder
        waiting, characters = await count_unembedded(
            tools.db, order.graph, order.label, embedder.name
        )
        model, texts = priced_model(embedder), self.chunks + waiting
        found = FOUND_A_CHUNK * self.extracted
        return EmbeddingForecast(
            model=model.name,
            free=model.free,
            priced=model.free or tools.calls.budget.price(model.name, 1, 0) is not None,
            texts=texts,
            found=found,
            calls=_calls(model, texts, self.tokens + estimate_bytes(characters)),
            more=_calls(model, found, found * FOUND_TOKENS),
        )


def _calls(model: EmbeddingModel, texts: int, tokens: int) -> PlannedCalls:
    if model.free:
        return PlannedCalls()
    calls = max(ceil(texts / BATCH_TEXTS), ceil(tokens / BATCH_TOKENS))
    return PlannedCalls(calls=calls, input_tokens=tokens)
