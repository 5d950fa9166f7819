"""Wraps models and embedders of neo4j-graphrag for use in this package.

Protocols describe the methods that they need, so neo4j-graphrag is not imported here.
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
"""Maximum texts to embed concurrently."""


class ModelV2(Protocol):
    """The part of ``LLMInterfaceV2`` of neo4j-graphrag that is used here."""

    model_name: str

    async def ainvoke(self, input: list[Any], **given: Any) -> Any:  # noqa: A002
        """Return a reply with ``content`` and ``usage``."""
        ...


class QueryEmbedder(Protocol):
    """The part of ``Embedder`` of neo4j-graphrag that is used here."""

    async def async_embed_query(self, text: str) -> list[float]:
        """Return the vector of a text."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text."""
        ...


class GraphRAGModel:
    """A model of neo4j-graphrag (``LLMInterfaceV2``) that sweeps and synthesizes.

    ``max_tokens_name`` is the provider's name for the token limit of a reply; None sends no limit.
    The engine retries failed calls itself, so give the model a ``NoOpRateLimitHandler``.
    """

    def __init__(self, model: ModelV2, *, max_tokens_name: str | None = "max_tokens") -> None:
        self._model, self._max_tokens_name = model, max_tokens_name

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.model_name

    @property
    def signature(self) -> str:
        """The model's class, name, and parameters, which become part of keys of cached replies."""
        parameters = getattr(self._model, "model_params", None)
        kind, limit = type(self._model).__name__, self._max_tokens_name
        return f"neo4j-graphrag {kind} {self.name} {limit} {parameters!r}"

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Return the whole reply. ``effort`` is ignored. Raises ModelError."""
        del effort
        messages = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        limits = {self._max_tokens_name: max_tokens} if self._max_tokens_name else {}
        try:
            reply = await self._model.ainvoke(messages, **limits)
        except Exception as error:
            raise _model_error(self.name, error) from error
        text = str(reply.content)
        usage = _usage(prompt, text, reply.usage)
        return Completion(
            text=text,
            usage=usage,
            model=self.name,
            truncated=bool(limits) and usage.output_tokens >= max_tokens,
        )

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield the whole reply as one piece, since the library does not stream replies."""
        reply = await self.complete(prompt, max_tokens=max_tokens, effort=effort)
        yield reply.text
        yield reply

    async def close(self) -> None:
        """Leave the model open, because it belongs to the caller."""


class GraphRAGEmbedder:
    """An embedder of neo4j-graphrag. Embedders with equal names must return comparable vectors.

    The wrapped embedder may cut long texts, so an ingestion compares vectors to detect cuts.
    """

    threshold: float | None = None
    may_cut = True

    def __init__(self, embedder: QueryEmbedder, name: str) -> None:
        self.fit = TextFit()
        self.name = name
        self.dimensions: int | None = None
        self._embedder = embedder
        # The inherited method may block the event loop. So if the class does not define its own,
        # ``embed_query`` is called in a thread instead.
        own = type(embedder).__dict__.get("async_embed_query")
        self._is_async = own is not None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows ``(n, d)`` in the order of ``texts``; zeros for blank ones.

        A row is also zero if the vector of a text is not finite. Raises EmbeddingError if the
        embedder fails, if its vectors differ in length, or if all of them are zero or not finite.
        """
        filled = [row for row, text in enumerate(texts) if text.strip()]
        limit = asyncio.Semaphore(AT_ONCE)
        vectors = await asyncio.gather(*(self._embed(texts[row], limit) for row in filled))
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1 or (self.dimensions and lengths - {self.dimensions}):
            raise EmbeddingError(f"the embedder {self.name} returned vectors of several lengths")
        self.dimensions = next(iter(lengths), self.dimensions)
        rows = np.zeros((len(texts), self.dimensions or 0), dtype=np.float32)
        if filled:
            with np.errstate(invalid="ignore", over="ignore"):  # rows that overflow become zeros
                rows[filled] = unit(np.asarray(vectors, dtype=np.float32))
            if not rows.any():
                raise EmbeddingError(
                    f"the embedder {self.name} returned only vectors of zeros, or none that is "
                    "finite; look at its own log"
                )
        return rows

    async def ask_limit(self) -> None:
        """Do nothing, because neo4j-graphrag does not report limits of texts."""

    def take_lessons(self, told: ToldLessons | None = None) -> tuple[str, ...]:
        """Return new lessons about the embedder as sentences, without those in ``told``."""
        return self.fit.take_lessons(f"behind {self.name}", told)

    async def close(self) -> None:
        """Leave the embedder open, because it belongs to the caller."""

    async def _embed(self, text: str, limit: asyncio.Semaphore) -> list[float]:
        async with limit:
            try:
                if self._is_async:
                    return await self._embedder.async_embed_query(text)
                return await asyncio.to_thread(self._embedder.embed_query, text)
            except Exception as error:
                kind = type(error).__name__
                raise EmbeddingError(
                    f"the embedder {self.name} failed ({kind}); look at its own log",
                    retry=Retry(tries=TRIES),
                ) from error


def _model_error(name: str, error: Exception) -> ModelError:
    """Convert an error of the library; its text is left out, because it may contain user text."""
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
    """Return the usage of a call; tokens that the provider does not report are estimated."""
    sent = reported.request_tokens if reported is not None else None
    received = reported.response_tokens if reported is not None else None
    return Usage(
        calls=1,
        input_tokens=estimate(prompt.system + prompt.user) if sent is None else sent,
        output_tokens=estimate(text) if received is None else received,
        estimated=None in (sent, received),
    )
