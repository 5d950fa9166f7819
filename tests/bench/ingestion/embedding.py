"""Vectors that take no time to make, the same for all packages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIMENSIONS, VECTORS = 384, 4096


class TableEmbedder:
    """Takes the vector of each text from a table of random ones, by its hash."""

    name = "table"
    dimensions = DIMENSIONS
    threshold = None
    free = True

    def __init__(self) -> None:
        rows = np.random.default_rng(1).standard_normal((VECTORS, DIMENSIONS)).astype(np.float32)
        self.table = rows / np.linalg.norm(rows, axis=1, keepdims=True)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape ``(n, d)``, unit rows."""
        rows: NDArray[np.float32] = self.table[[hash(text) % VECTORS for text in texts]]
        return rows

    async def close(self) -> None:
        """Nothing is open."""
