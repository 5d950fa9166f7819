"""A model as the engine calls it: through the scheduler.

The scheduler repeats calls where that may help.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from pgs_neo4j.llm.calls.queue import ConcurrencyLimit, Scheduler
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.replies import ProbeResult
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.model import Completion, Effort, Prompt


class Asked:
    """Wraps a model; all tries of a call together may take ``timeout_s``."""

    def __init__(self, llm: OpenAILLM, timeout_s: float) -> None:
        self.llm = llm
        self.name = llm.name
        self.scheduler = Scheduler(ConcurrencyLimit(32, 32), timeout_s)

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        return await self.scheduler.call(
            lambda: self.llm.complete(prompt, max_tokens=max_tokens, effort=effort),
            Pace(),
            length=1.0,
            tokens=1,
            who=f"model {self.name} at 127.0.0.1",
        )

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        async def begun() -> tuple[str | Completion | None, AsyncGenerator[str | Completion, None]]:
            pieces = self.llm.stream(prompt, max_tokens=max_tokens, effort=effort)
            return await anext(pieces, None), pieces

        first, pieces = await self.scheduler.call(begun, Pace(), length=1.0, tokens=1)
        try:
            if first is not None:
                yield first
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()

    async def probe(self) -> ProbeResult:
        return await self.llm.probe()

    async def close(self) -> None:
        await self.llm.close()
