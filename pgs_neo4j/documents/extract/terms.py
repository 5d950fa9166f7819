"""Extracts without a model: terms, definitions, and what stands together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import Chunk, Extraction
from pgs_neo4j.model.ingest import ExtractionForecast
from pgs_neo4j.text.local_extraction import extract_terms

FORM = "3"
"""Of the rules; another one makes documents stale."""


@dataclass(frozen=True, slots=True)
class TermExtractor:
    """Extracts by statistics of the chunk alone; it costs nothing."""

    schema = None
    free = True
    shares = True  # a thread
    sure = False  # since a term that one chunk alone names connects nothing

    @property
    def signature(self) -> str:
        """A hash of the rules, which another version of them changes."""
        return digest(["terms", FORM])

    async def forecast(self, chunks: Sequence[Chunk]) -> ExtractionForecast:  # noqa: ARG002
        """Return no calls."""
        return ExtractionForecast()

    async def extract(self, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """Return the terms of some chunks, in a thread."""
        return await asyncio.to_thread(lambda: [extract_terms(chunk) for chunk in chunks])
