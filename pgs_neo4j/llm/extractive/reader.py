"""The extractive reader as an LLM."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from pgs_neo4j.llm.extractive.answer import found_answer
from pgs_neo4j.llm.extractive.search import search_answer
from pgs_neo4j.llm.extractive.sweep import sweep_report
from pgs_neo4j.llm.extractive.synthesis import reduction, synthesis
from pgs_neo4j.llm.local_reply import local_completion, split_reply
from pgs_neo4j.model import Completion, Effort, Prompt
from pgs_neo4j.text.tokens import estimate

WRITERS = {
    "sweep": sweep_report,
    "reduction": reduction,
    "synthesis": synthesis,
    "search": search_answer,
    "answer": found_answer,
}
# How many bullets a section may have, tried in turn until the reply fits ``max_tokens``.
BULLETS = (8, 5, 3, 1)


class ExtractiveLLM:
    """Answers from the prompt's values alone: deterministic, and quick on two cores."""

    name = "extractive"
    free = True

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> Completion:
        """Fill the report format with quotes, in a thread; ``effort`` is ignored."""
        del effort
        text = await asyncio.to_thread(_written, prompt, max_tokens)
        return local_completion(prompt, text, self.name)

    async def stream(
        self, prompt: Prompt, *, max_tokens: int, effort: Effort | None = None
    ) -> AsyncGenerator[str | Completion, None]:
        """Yield the reply in pieces of a few words, then the Completion."""
        completion = await self.complete(prompt, max_tokens=max_tokens, effort=effort)
        for piece in split_reply(completion.text):
            yield piece
            await asyncio.sleep(0)
        yield completion

    async def close(self) -> None:
        """Do nothing; there is nothing to release."""


def _written(prompt: Prompt, max_tokens: int) -> str:
    """Return the longest form that fits, or else the shortest one."""
    text = ""
    for bullets in BULLETS:
        text = WRITERS[prompt.task](prompt, bullets)
        if estimate(text) <= max_tokens:
            break
    return text
