"""One open streamed reply: yields text, and collects the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgs_neo4j.errors import ModelOutputError
from pgs_neo4j.llm.openai.wire import ReplyUsage, StreamedPiece
from pgs_neo4j.model.ceilings import text_bytes

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionChunk


class ChatStream:
    """Wraps the client's stream of chunks. Its errors pass through untranslated."""

    def __init__(
        self, chunks: openai.AsyncStream[ChatCompletionChunk], where: str, room: int
    ) -> None:
        self._chunks = chunks
        self._where, self._room = where, room
        self._parts: list[str] = []
        self._refusals: list[str] = []
        self._left = text_bytes(room)
        self.finish_reason: str | None = None
        self.usage: ReplyUsage | None = None
        self.model: str | None = None

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self._parts)

    @property
    def refusal(self) -> str:
        """The refusal so far."""
        return "".join(self._refusals)

    async def next_text(self) -> str | None:
        """Return the next non-empty piece; None at the end, after the usage.

        Raises ValueError (pydantic or JSON) if an event is not a chunk, and ModelOutputError if
        the text is far longer than its room.
        """
        while (raw := await anext(self._chunks, None)) is not None:
            text = self._take(StreamedPiece.model_validate(raw))
            if text:
                self._parts.append(text)
                return text
        return None

    async def close(self) -> None:
        """Give the connection back to the pool.

        It is dropped if the reply was not read fully.
        """
        await self._chunks.close()

    def _take(self, chunk: StreamedPiece) -> str:
        self.usage = chunk.usage or self.usage
        self.model = chunk.model or self.model
        if not chunk.choices:
            return ""
        piece = chunk.choices[0]
        self.finish_reason = piece.finish_reason or self.finish_reason
        if piece.delta is None:
            return ""
        text, refusal = piece.delta.content or "", piece.delta.refusal or ""
        self._left -= len(text) + len(refusal)
        if self._left < 0:
            raise ModelOutputError(
                f"the model endpoint {self._where} kept sending text after the {self._room:,} "
                "tokens that were requested; use another model or endpoint"
            )
        if refusal:
            self._refusals.append(refusal)
        return text
