"""Models and embedders of neo4j-graphrag as those of this package.

They are taken by their methods, so nothing of neo4j-graphrag is imported here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import EmbeddingError, ModelError, ModelRateLimitError, Retry
from pgs_neo4j.graph.vectors import unit
from pgs_neo4j.llm.embedders.fitting import TextFit
from pgs_neo4j.llm.lessons import ToldLessons
from pgs_neo4j.model import Completion, Effort, Prompt, Usage
from pgs_neo4j.text.tokens import estimate

TRIES = 3
AT_ONCE = 8
"""Texts that are embedded at once."""


class ModelV2(Protocol):
    """What ``LLMInterfaceV2`` has."""

    model_name: str

    async def ainvoke(self, input: list[Any], **given: Any) -> Any:  # noqa: A002
        """Return a reply with ``content`` and ``usage``."""
        ...


class QueryEmbedder(Protocol):
    """What ``Embedder`` of neo4j-graphrag has."""

    async def async_embed_query(self, text: str) -> list[float]:
        """Return the vector of a text."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text."""
        ...


class GraphRAGModel:
    """A model of neo4j-graphrag (``LLMInterfaceV2``) that sweeps and synthesizes.

    ``max_tokens_name`` is how its provider calls the limit of a reply; None sends no limit. The
    engine tries again by itself, so give the model a ``NoOpRateLimitHandler``.
    """

    def __init__(self, model: ModelV2, *, max_tokens_name: str | None = "max_tokens") -> None:
        self._model, self._max_tokens_name = model, max_tokens_name

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.model_name

    @property
    def signature(self) -> str:
        """The class, the name, and the parameters, under which its replies are cached."""
        parameters = getattr(self._model, "model_params", None)
        kind, limit = type(self._model).__name__, self._max_tokens_name
        return f"neo4j-graphrag {kind} {self.name} {limit} {parameters!r}"

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply; an ``effort`` is not passed on. Raises ModelError."""
        del effort
        messages = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        given = {self._max_tokens_name: max_tokens} if self._max_tokens_name else {}
        try:
            reply = await self._model.ainvoke(messages, **given)
        except Exception as error:
            raise _model_error(self.name, error) from error
        text = str(reply.content)
        usage = _usage(prompt, text, reply.usage)
        return Completion(
            text=text,
            usage=usage,
            model=self.name,
            truncated=bool(given) and usage.output_tokens >= max_tokens,
        )

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield the whole reply as one piece, since the library has no stream."""
        reply = await self.complete(prompt, max_tokens=max_tokens, effort=effort)
        yield reply.text
        yield reply

    async def close(self) -> None:
        """Leave the model open; it is the caller's."""


class GraphRAGEmbedder:
    """An embedder of neo4j-graphrag; equal names mean comparable vectors.

    Whatever is behind it may cut long texts, so an ingestion checks that by their vectors.
    """

    threshold: float | None = None
    may_cut = True

    def __init__(self, embedder: QueryEmbedder, name: str) -> None:
        self.fit = TextFit()
        self.name = name
        self.dimensions: int | None = None
        self._embedder = embedder
        # Only some classes wait without blocking the event loop; all can be called in a thread.
        own = type(embedder).__dict__.get("async_embed_query")
        self._waits = own is not None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in the order of ``texts``; zeros for blank ones.

        A row is also zero for a text whose vector is not finite, or zeros. Raises EmbeddingError,
        also if that is so for all texts.
        """
        kept = [row for row, text in enumerate(texts) if text.strip()]
        limit = asyncio.Semaphore(AT_ONCE)
        vectors = await asyncio.gather(*(self._embed(texts[row], limit) for row in kept))
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1 or (self.dimensions and lengths - {self.dimensions}):
            raise EmbeddingError(f"the embedder {self.name} returned vectors of several lengths")
        self.dimensions = next(iter(lengths), self.dimensions)
        rows = np.zeros((len(texts), self.dimensions or 0), dtype=np.float32)
        if kept:
            with np.errstate(invalid="ignore", over="ignore"):  # such rows become zeros
                rows[kept] = unit(np.asarray(vectors, dtype=np.float32))
            if not rows.any():
                raise EmbeddingError(
                    f"the embedder {self.name} returned only vectors of zeros, or none that is "
                    "finite; look at its own log"
                )
        return rows

    async def ask_limit(self) -> None:
        """Do nothing: neo4j-graphrag knows no limits of texts."""

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return as sentences what was learned of the embedder and not reported to the run yet."""
        return self.fit.take_lessons(f"behind {self.name}", told)

    async def close(self) -> None:
        """Leave the embedder open; it is the caller's."""

    async def _embed(self, text: str, limit: asyncio.Semaphore) -> list[float]:
        async with limit:
            try:
                if self._waits:
                    return await self._embedder.async_embed_query(text)
                return await asyncio.to_thread(self._embedder.embed_query, text)
            except Exception as error:
                kind = type(error).__name__
                raise EmbeddingError(
                    f"the embedder {self.name} failed ({kind}); look at its own log",
                    retry=Retry(tries=TRIES),
                ) from error


def _model_error(name: str, error: Exception) -> ModelError:
    """Return an error of the library as one of this package; its text may hold anything."""
    kinds = {one.__name__ for one in type(error).__mro__}
    if "RateLimitError" in kinds:
        return ModelRateLimitError(
            f"the model {name} refused the call, since there are too many; try again later",
            retry=Retry(),
            usage=Usage(),
        )
    return ModelError(
        f"the model {name} failed ({type(error).__name__}); look at its own log",
        retry=Retry(tries=TRIES),
    )


def _usage(prompt: Prompt, text: str, reported: Any) -> Usage:
    """Return what a call used, by estimate where the provider reports nothing."""
    sent = reported.request_tokens if reported is not None else None
    received = reported.response_tokens if reported is not None else None
    return Usage(
        calls=1,
        input_tokens=estimate(prompt.system + prompt.user) if sent is None else sent,
        output_tokens=estimate(text) if received is None else received,
        estimated=None in (sent, received),
    )
