"""Asks with codes among the lines of a prompt, where nothing else shows that a server cut it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.receipts import with_receipts, without_receipts
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Completion, Effort, Prompt


async def complete_coded(
    calls: Calls,
    llm: LLM,
    prompt: Prompt,
    among: str,
    *,
    room: int,
    effort: Effort | None,
    priority: float | None = None,
    last: bool = False,
    repeat_malformed: bool = True,
    then: Callable[[Completion], Awaitable[None]] | None = None,
) -> Completion:
    """Return a reply like ``Calls.complete``, without the codes that it repeats.

    ``among`` names what the lines of the prompt are, such as sentences. A server whose counts of
    such texts are known is asked for no codes. Raises the errors of ``Calls.complete``, among them
    PromptCutError.
    """
    asked = prompt
    if await calls.lacks_counts(llm, prompt):
        asked = with_receipts(prompt, among)

    def bare(reply: Completion) -> Completion:
        return replace(reply, text=without_receipts(reply.text, asked.receipts))

    async def take(reply: Completion) -> None:
        if then is not None:
            await then(bare(reply))

    reply = await calls.complete(
        llm,
        asked,
        room=room,
        effort=effort,
        priority=priority,
        last=last,
        repeat_malformed=repeat_malformed,
        then=take,
    )
    return bare(reply)
