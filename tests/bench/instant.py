"""Models that answer at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.llm.extractive.reader import local_completion, split_reply
from pgs_neo4j.llm.scripted import contract_reply
from pgs_neo4j.model import Completion, Effort, Prompt


class InstantLLM:
    """The least replies that are accepted, those to sweeps at least ``spacing_s`` apart.

    ``seconds`` is its own time, ``swept_at`` when it replied to a sweep last
    (``perf_counter``), ``calls`` how often it was asked.
    """

    name = "instant"

    def __init__(self) -> None:
        self.spacing_s = 0.0
        self._next_at = 0.0
        self.seconds = 0.0
        self.swept_at = 0.0
        self.calls = 0

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """A whole reply; no other task runs while it is made."""
        if self.spacing_s and prompt.task == "sweep":
            self._next_at = max(self._next_at, perf_counter()) + self.spacing_s
            await asyncio.sleep(self._next_at - perf_counter())
        began = perf_counter()
        self.calls += 1
        reply = local_completion(prompt, contract_reply(prompt), self.name)
        ended = perf_counter()
        self.seconds += ended - began
        if prompt.task == "sweep":
            self.swept_at = ended
        return reply

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """The same in pieces."""
        reply = await self.complete(prompt, max_tokens=max_tokens, effort=effort)
        for piece in split_reply(reply.text):
            yield piece
        yield reply

    async def close(self) -> None:
        """Nothing is open."""


class InstantEmbedder:
    """Gives one vector for any text: one of those that the graph stores."""

    name = "instant"
    threshold = None

    def __init__(self, vector: NDArray[np.float64]) -> None:
        self.dimensions = vector.size
        self._vector = np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape ``(n, d)``, unit rows."""
        return np.tile(self._vector, (len(texts), 1))

    async def close(self) -> None:
        """Nothing is open."""
