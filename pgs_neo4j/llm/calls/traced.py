"""Model calls as spans: who was asked, how much was used, and the text only if it is wanted."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

from pgs_neo4j.llm.own_models import await_reply, checked_pieces, said_by
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.llm.served_at import provider_attributes
from pgs_neo4j.model import Completion, Effort, Prompt
from pgs_neo4j.telemetry import names
from pgs_neo4j.telemetry.spans import SpanNotes, Value, is_tracing, start_span

Pieces = AsyncGenerator[str | Completion, None]


async def complete_traced(
    llm: LLM, prompt: Prompt, room: int, effort: Effort | None, *, text: bool
) -> Completion:
    """Return a whole reply; ``text``: prompt and reply also stand in the span."""
    with _chat_span(llm, prompt, room, text=text) as span:
        with said_by(llm.name):
            replying: object = llm.complete(prompt, max_tokens=room, effort=effort)
            reply = await await_reply(llm.name, replying)
        _note_reply(span, reply, text=text)
        return reply


def stream_traced(
    llm: LLM, prompt: Prompt, room: int, effort: Effort | None, *, text: bool
) -> Pieces:
    """Return the pieces of a reply, in a span that ends with them."""
    with said_by(llm.name):
        streaming: object = llm.stream(prompt, max_tokens=room, effort=effort)
    pieces = checked_pieces(llm.name, streaming)
    return _traced(llm, prompt, room, pieces, text=text) if is_tracing() else pieces


async def _traced(llm: LLM, prompt: Prompt, room: int, pieces: Pieces, *, text: bool) -> Pieces:
    reply: Completion | None = None
    with _chat_span(llm, prompt, room, text=text) as span:
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, Completion):
                    _note_reply(span, piece, text=text)
                    reply = piece
                else:
                    yield piece
    # The caller stops at the reply. Inside the span, that would look like an error.
    if reply is not None:
        yield reply


def _chat_span(llm: LLM, prompt: Prompt, room: int, *, text: bool) -> SpanNotes:
    attributes: dict[str, Value | None] = {
        names.OPERATION: names.CHAT,
        **provider_attributes(llm),
        names.REQUEST_MODEL: llm.name,
        names.MAX_TOKENS: room,
        names.TASK: prompt.task,
        names.PARTITION: prompt.partition,
    }
    if text:
        attributes[names.SYSTEM_INSTRUCTIONS] = _parts(prompt.system)
        attributes[names.INPUT_MESSAGES] = _message("user", prompt.user)
    # A streamed reply may end in another task, so the span is not the current one.
    return start_span(names.chat_name(llm.name), attributes, client=True)


def _note_reply(span: SpanNotes, reply: Completion, *, text: bool) -> None:
    span.note(
        {
            names.RESPONSE_MODEL: reply.model,
            names.INPUT_TOKENS: reply.usage.input_tokens,
            names.CACHE_READ_TOKENS: reply.usage.cache_read_tokens or None,
            names.CACHE_WRITE_TOKENS: reply.usage.cache_write_tokens or None,
            names.OUTPUT_TOKENS: reply.usage.output_tokens,
            names.FINISH_REASONS: ("length" if reply.truncated else "stop",),
            names.OUTPUT_MESSAGES: _message("assistant", reply.text) if text else None,
        }
    )


def _message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _parts(text: str) -> str:
    return json.dumps([{"type": "text", "content": text}])
