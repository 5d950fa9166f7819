"""One open streamed reply: yields text, and collects the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgs_neo4j.llm.openai.wire import Chunk, ReplyUsage

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionChunk


class ChatStream:
    """Wraps the client's stream of chunks. Its errors pass through untranslated."""

    def __init__(self, chunks: openai.AsyncStream[ChatCompletionChunk]) -> None:
        self._chunks = chunks
        self._parts: list[str] = []
        self.refusal = ""
        self.finish_reason: str | None = None
        self.usage: ReplyUsage | None = None
        self.model: str | None = None

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self._parts)

    async def next_text(self) -> str | None:
        """Return the next non-empty piece; None at the end, after the usage.

        Raises ValueError (pydantic or JSON) if an event is not a chunk.
        """
        while (raw := await anext(self._chunks, None)) is not None:
            text = self._take(Chunk.model_validate(raw))
            if text:
                self._parts.append(text)
                return text
        return None

    async def close(self) -> None:
        """Give the connection back to the pool.

        It is dropped if the reply was not read fully.
        """
        await self._chunks.close()

    def _take(self, chunk: Chunk) -> str:
        self.usage = chunk.usage or self.usage
        self.model = chunk.model or self.model
        if not chunk.choices:
            return ""
        piece = chunk.choices[0]
        self.finish_reason = piece.finish_reason or self.finish_reason
        if piece.delta is None:
            return ""
        self.refusal += piece.delta.refusal or ""
        return piece.delta.content or ""
