"""Embeds texts with a local sentence-transformers model; needs the extra of that name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pgs_neo4j.errors import ConfigError, EmbeddingError
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.embedders.pieces import divide_text, join_pieces, weigh

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "all-MiniLM-L6-v2"
FRAME = 16  # tokens that a model may add to a text
FILLED = 0.95  # share of the limit to use, because pieces end between words
LEAST_BYTES = 2.5  # minimum bytes of a token, if the model has no tokenizer that counts


class SentenceTransformersEmbedder:
    """Loads ``model`` on first use, in a thread.

    The name is passed to the library unchanged. It is a folder, or a name that the library finds in
    its cache or downloads. The library drops all text beyond a model's ``max_seq_length``, so a
    longer text is embedded in pieces (see ``pieces``).
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

        A row is also zero if the model makes no vector of a text, unless that is true of all texts.
        Raises ConfigError if the package is missing, and EmbeddingError if the model cannot be
        loaded, or does not return one finite vector per text.
        """
        kept = [row for row, text in enumerate(texts) if text.strip()]
        model = await self._get_model()
        vectors = await asyncio.to_thread(self._encode, model, [texts[row] for row in kept])
        rows = np.zeros((len(texts), self.dimensions or 0), dtype=np.float32)
        rows[kept] = vectors
        return rows

    async def close(self) -> None:
        """Release the model."""
        self._model = None

    async def _get_model(self) -> Any:
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
        divided = [_divide(model, text) for text in texts]
        pieces = [piece for some in divided for piece in some]
        if not pieces:
            raise self._missing_vectors_error()
        vectors = np.asarray(
            model.encode(pieces, convert_to_numpy=True, show_progress_bar=False), dtype=np.float32
        )
        if vectors.ndim != 2 or len(vectors) != len(pieces):
            raise self._missing_vectors_error()
        self.dimensions = vectors.shape[1]
        units, rows, first = unit(vectors), np.zeros((len(texts), self.dimensions), np.float32), 0
        for row, some in enumerate(divided):
            own = units[first : first + len(some)]
            if some and own.any(axis=1).all():  # a row that is not finite has become zeros
                rows[row] = join_pieces([*own], [*map(weigh, some)])
            first += len(some)
        if not rows.any():
            raise self._missing_vectors_error()
        return rows

    def _missing_vectors_error(self) -> EmbeddingError:
        return EmbeddingError(
            f"the sentence-transformers model {self._model_name} did not return a usable vector "
            "for each text, finite and not all zeros, or reads too little of a text; use another "
            "embedding_model"
        )


def _divide(model: Any, text: str) -> list[str]:
    """Return pieces of a text that a model reads whole; an empty list if it reads too little."""
    limit = getattr(model, "max_seq_length", None)
    # A token has at least one byte, so a text with at most ``limit`` bytes fits.
    if not isinstance(limit, int) or len(text.encode("utf-8", "replace")) + FRAME <= limit:
        return [text]
    tokens = _count_tokens(model, text)
    if tokens <= limit:
        return [text]
    weight = weigh(text)
    parts = divide_text(text, max(1, min(int(weight * FILLED * limit / tokens), weight // 2)))
    # Only a few bytes cannot be divided: the tokens that the model adds leave no room for text.
    if len(parts) == 1:
        return []
    pieces: list[str] = []
    for part in parts:
        read = _divide(model, part)
        if not read:
            return []
        pieces += read
    return pieces


def _count_tokens(model: Any, text: str) -> int:
    """Return the tokens of a text and of the prompt that a model puts before it.

    Without a tokenizer, this is an estimate.
    """
    prompts = getattr(model, "prompts", None) or {}
    prompt = prompts.get(getattr(model, "default_prompt_name", None)) or ""
    try:
        return len(model.tokenizer(prompt + text, truncation=False, verbose=False)["input_ids"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return int(len((prompt + text).encode("utf-8", "replace")) / LEAST_BYTES) + FRAME
