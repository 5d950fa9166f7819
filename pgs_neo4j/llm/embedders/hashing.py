"""A lexical embedder without a model: feature hashing of words and parts.

Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009), with signed buckets
so that collisions cancel on average. Sub-word grams (as in fastText, Bojanowski et al. 2017) bring
inflections and compounds together. It measures shared vocabulary, not meaning: synonyms have
nothing in common.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pgs_neo4j.config import HASHING_THRESHOLD
from pgs_neo4j.database.portions import portions
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.embedders.bags import TextHasher

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 2048
# Texts hashed together, which bounds the arrays and keeps cancellation prompt.
BATCH = 1024
BATCH_CHARACTERS = 1 << 20


class HashingEmbedder:
    """Signed feature hashing into ``dimensions`` buckets, the same on every machine."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        if dimensions < 8:
            raise ConfigError(
                "embedding_dimensions (PGS_EMBEDDING_DIMENSIONS) is too small for the hashing "
                "embedder; use 8 or more"
            )
        self.name = f"hashing-{dimensions}"
        self.dimensions: int | None = dimensions
        self.threshold: float | None = HASHING_THRESHOLD
        self.size = dimensions
        self.free = True
        self.lexical = True

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in float32, computed in a thread.

        The row of a text without a content word is zero.
        """
        rows = np.zeros((len(texts), self.size), dtype=np.float32)
        hasher = TextHasher(self.size)
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        for part in portions(sizes, BATCH, BATCH_CHARACTERS):
            rows[part] = await asyncio.to_thread(hasher.rows, texts[part])
        return rows

    async def close(self) -> None:
        """Do nothing; there is nothing to release."""
