"""Wraps calls of models in spans, which record the model, its host, and the usage.

A span contains prompt and reply only if the caller asks for that, and never contains texts to
embed.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.llm.own_models import await_reply, await_vectors, checked_pieces, said_by
from pgs_neo4j.llm.protocol import LLM, EmbeddedTexts, Embedder, Metered, is_free
from pgs_neo4j.model import Completion, Effort, Prompt
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.spans import SpanNotes, Value, is_tracing, start_span

Pieces = AsyncGenerator[str | Completion, None]

PROVIDERS = {
    "azure": "azure.ai.openai",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""Providers whose name in OpenTelemetry's conventions differs from the name in the settings."""

OWN, OTHER = "pgs_neo4j", "_OTHER"
"""The provider in the span of a free model in this process, and of an unknown model."""


@dataclass(frozen=True, slots=True)
class ServedAt:
    """The provider by its name in the settings, and the host; None for a model in this process.

    If the vendor behind an address is unknown, ``provider`` is the name of the interface.
    """

    provider: str
    address: str | None = None
    port: int | None = None


@runtime_checkable
class Located(Protocol):
    """A model that reports its provider and host."""

    @property
    def served_at(self) -> ServedAt:
        """The provider and the host that answer this model's calls."""
        ...


async def complete_traced(
    llm: LLM, prompt: Prompt, room: int, effort: Effort | None, *, text: bool
) -> Completion:
    """Return a whole reply; with ``text``, the span also contains prompt and reply."""
    with _chat_span(llm, prompt, room, text=text) as span:
        with said_by(llm.name):
            replying: object = llm.complete(prompt, max_tokens=room, effort=effort)
            reply = await await_reply(llm.name, replying)
        _note_reply(span, reply, text=text)
        return reply


def stream_traced(
    llm: LLM, prompt: Prompt, room: int, effort: Effort | None, *, text: bool
) -> Pieces:
    """Return the pieces of a reply, within a span that lasts until the last piece.

    With ``text``, the span also contains prompt and reply.
    """
    with said_by(llm.name):
        streaming: object = llm.stream(prompt, max_tokens=room, effort=effort)
    pieces = checked_pieces(llm.name, streaming)
    return _trace_pieces(llm, prompt, room, pieces, text=text) if is_tracing() else pieces


async def _trace_pieces(
    llm: LLM, prompt: Prompt, room: int, pieces: Pieces, *, text: bool
) -> Pieces:
    reply: Completion | None = None
    with _chat_span(llm, prompt, room, text=text) as span:
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, Completion):
                    _note_reply(span, piece, text=text)
                    reply = piece
                else:
                    yield piece
    # The caller closes this generator when the reply is complete. Inside the span, that would look
    # like an error.
    if reply is not None:
        yield reply


def _chat_span(llm: LLM, prompt: Prompt, room: int, *, text: bool) -> SpanNotes:
    attributes: dict[str, Value | None] = {
        spans.OPERATION: spans.CHAT,
        **provider_attributes(llm),
        spans.REQUEST_MODEL: llm.name,
        spans.MAX_TOKENS: room,
        spans.TASK: prompt.task,
        spans.PARTITION: prompt.partition,
    }
    if text:
        attributes[spans.SYSTEM_INSTRUCTIONS] = _format_parts(prompt.system)
        attributes[spans.INPUT_MESSAGES] = _format_message("user", prompt.user)
    # A streamed reply may end in another task, so the span must not be the current one.
    return start_span(spans.chat_name(llm.name), attributes, client=True)


def _note_reply(span: SpanNotes, reply: Completion, *, text: bool) -> None:
    span.note(
        {
            spans.RESPONSE_MODEL: reply.model,
            spans.INPUT_TOKENS: reply.usage.input_tokens,
            spans.CACHE_READ_TOKENS: reply.usage.cache_read_tokens or None,
            spans.CACHE_WRITE_TOKENS: reply.usage.cache_write_tokens or None,
            spans.OUTPUT_TOKENS: reply.usage.output_tokens,
            spans.FINISH_REASONS: ("length" if reply.truncated else "stop",),
            spans.OUTPUT_MESSAGES: _format_message("assistant", reply.text) if text else None,
        }
    )


def _format_message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _format_parts(text: str) -> str:
    return json.dumps([{"type": "text", "content": text}])


async def embed_traced(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors ``(n, d)`` of some texts."""
    with _embeddings_span(embedder, embedder.name, texts) as span:
        with said_by(embedder.name, "embedder"):
            dimensions = embedder.dimensions  # read before the reply, which may change it
            embedding: object = embedder.embed(texts)
            vectors = await await_vectors(embedder.name, embedding, len(texts), dimensions)
        span.note({spans.DIMENSIONS: vectors.shape[1]})
        return vectors


async def embed_once_traced(embedder: Metered, texts: Sequence[str]) -> EmbeddedTexts:
    """Embed some texts in one call; return their vectors and the usage."""
    with _embeddings_span(embedder, embedder.model, texts) as span:
        embedded = await embedder.embed_once(texts)
        span.note(
            {
                spans.DIMENSIONS: embedded.vectors.shape[1],
                spans.INPUT_TOKENS: embedded.usage.input_tokens,
            }
        )
        return embedded


def _embeddings_span(embedder: object, model: str, texts: Sequence[str]) -> SpanNotes:
    about: dict[str, Value | None] = {
        spans.OPERATION: spans.EMBEDDINGS,
        **provider_attributes(embedder),
        spans.REQUEST_MODEL: model,
        spans.TEXTS: len(texts),
    }
    return start_span(spans.embeddings_name(model), about, client=True)


def provider_attributes(model: object) -> dict[str, str | int | None]:
    """Return the attributes of a span for the provider and host of a model."""
    at = served_at(model)
    return {
        spans.PROVIDER: PROVIDERS.get(at.provider, at.provider),
        spans.SERVER_ADDRESS: at.address,
        spans.SERVER_PORT: at.port,
    }


def served_at(model: object) -> ServedAt:
    """Return the provider and host of a model, as far as it reports them."""
    if isinstance(model, Located):
        return model.served_at
    return ServedAt(OWN if is_free(model) else OTHER)
