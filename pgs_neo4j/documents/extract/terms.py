"""Extracts terms, definitions, and co-occurrences without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import Chunk, Extraction
from pgs_neo4j.model.ingest import ExtractionForecast
from pgs_neo4j.text.local_extraction import extract_terms

FORM = "3"
"""Version of the rules. A new version makes documents stale."""


@dataclass(frozen=True, slots=True)
class TermExtractor:
    """Extracts by statistics of each chunk alone, which is free."""

    schema = None
    free = True
    shares = True  # Chunks share a thread.
    sure = False  # A term that only one chunk names connects nothing.

    @property
    def signature(self) -> str:
        """A hash of the version of the rules."""
        return digest(["terms", FORM])

    async def forecast(self, chunks: Sequence[Chunk]) -> ExtractionForecast:  # noqa: ARG002
        """Return a forecast without calls."""
        return ExtractionForecast()

    async def extract(self, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """Return the terms of each chunk; a thread computes them."""
        return await asyncio.to_thread(lambda: [extract_terms(chunk) for chunk in chunks])
