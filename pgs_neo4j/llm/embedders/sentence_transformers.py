"""A local sentence-transformers model as an embedder.

It needs the extra of that name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgs_neo4j.errors import ConfigError, EmbeddingError
from pgs_neo4j.graph.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "all-MiniLM-L6-v2"


class SentenceTransformersEmbedder:
    """Loads ``model`` on first use, in a thread.

    The name is passed to the library unchanged: a folder, or a name that it finds in its cache or
    downloads.
    """

    threshold: float | None = None
    free = True

    def __init__(self, model: str = MODEL) -> None:
        self.name = f"sentence-transformers/{model}"
        self.dimensions: int | None = None
        self._model_name = model
        self._model: Any = None
        self._loading = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in float32; zero for blank texts.

        Raises ConfigError when the package is missing, EmbeddingError when the model cannot
        be loaded or returns other than one finite vector per text.
        """
        kept = [row for row, text in enumerate(texts) if text.strip()]
        model = await self._loaded()
        vectors = await asyncio.to_thread(self._encode, model, [texts[row] for row in kept])
        rows = np.zeros((len(texts), self.dimensions or 0), dtype=np.float32)
        rows[kept] = vectors
        return rows

    async def close(self) -> None:
        """Release the model."""
        self._model = None

    async def _loaded(self) -> Any:
        async with self._loading:
            if self._model is None:
                self._model = await asyncio.to_thread(self._load)
            return self._model

    def _load(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise ConfigError(
                "the sentence-transformers embedder needs its package; run "
                "pip install 'pgs-neo4j[sentence-transformers]' or choose PGS_EMBEDDER=hashing"
            ) from None
        try:
            model = SentenceTransformer(self._model_name)
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbeddingError(
                f"the sentence-transformers model {self._model_name} cannot be loaded "
                f"({type(error).__name__}); check embedding_model (PGS_EMBEDDING_MODEL) and the "
                "network"
            ) from error
        self.dimensions = model.get_sentence_embedding_dimension()
        return model

    def _encode(self, model: Any, texts: list[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimensions or 0), dtype=np.float32)
        vectors = np.asarray(
            model.encode(texts, convert_to_numpy=True, show_progress_bar=False), dtype=np.float32
        )
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise EmbeddingError(
                f"the sentence-transformers model {self._model_name} did not return one finite "
                "vector per text; use another embedding_model"
            )
        self.dimensions = vectors.shape[1]
        return unit(vectors)
