"""Vectors by latent semantic analysis (Deerwester et al. 1990), for graphs that store embeddings.

They need no model and no download, and know of words that stand together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.text.words import stems

Floats = NDArray[np.float32]


class LatentEmbedder:
    """Embeds texts in the space of a collection; ``vectors`` ``(n, d)`` are those of its texts."""

    name, threshold = "latent", None

    def __init__(self, texts: Sequence[str], dimensions: int = 200) -> None:
        self.dimensions = dimensions
        counts = [Counter(stems(text)) for text in texts]
        holders = Counter(stem for count in counts for stem in count)
        self._column = {stem: place for place, stem in enumerate(sorted(holders))}
        self._rarity = {stem: math.log(len(texts) / held) for stem, held in holders.items()}
        table = np.stack([self._row(count) for count in counts])
        values, left = np.linalg.eigh(table @ table.T)
        strongest = np.argsort(-values)[:dimensions]
        axes = left[:, strongest] / np.sqrt(np.maximum(values[strongest], 1e-9))
        self._axes: Floats = (table.T @ axes).astype(np.float32)
        self.vectors = _unit(table @ self._axes)

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Unit rows ``(n, d)``."""
        return _unit(np.stack([self._row(Counter(stems(text))) for text in texts]) @ self._axes)

    async def close(self) -> None:
        """Nothing is open."""

    def _row(self, count: Counter[str]) -> Floats:
        row = np.zeros(len(self._column), np.float32)
        for stem, times in count.items():
            if stem in self._column:
                row[self._column[stem]] = (1 + math.log(times)) * self._rarity[stem]
        length = float(np.linalg.norm(row))
        return row / length if length else row


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
