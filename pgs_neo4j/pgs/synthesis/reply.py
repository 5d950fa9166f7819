"""Reads one streamed reply, from the cache or from the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from pgs_neo4j.llm.calls.receipts import ReceiptFilter, without_receipts
from pgs_neo4j.model import Completion, Effort, Prompt
from pgs_neo4j.pgs.synthesis.order import SynthesisTools, find_or_claim
from pgs_neo4j.text.thinking import ThinkingFilter


async def read_reply(
    tools: SynthesisTools,
    prompt: Prompt,
    tell: Callable[[str], Awaitable[None]],
    *,
    room: int,
    effort: Effort | None,
) -> Completion:
    """Return the reply; ``tell`` takes its text piece by piece, without the model's thinking.

    Both are without the codes that the prompt asks to repeat.

    Raises the errors of ``Calls.stream``, what ``tell`` raises, and DatabaseError.
    """
    filtering, receipts = ThinkingFilter(), ReceiptFilter(prompt.receipts)

    async def hear(piece: str) -> None:
        await tell(receipts.pass_on(filtering.pass_on(piece)))

    llm, replies = tools.llm, tools.replies
    key = replies.key(llm, prompt, room, effort) if replies else None
    cached = await find_or_claim(tools, key)
    if cached is not None:
        tools.calls.count_cached(cached)
        await hear(cached.text)
        reply = cached
    else:
        reply = await tools.calls.stream(llm, prompt, hear, room=room, effort=effort)
    await tell(receipts.pass_on(filtering.end()) + receipts.end())
    return replace(reply, text=without_receipts(reply.text, prompt.receipts))


async def keep_reply(
    tools: SynthesisTools, prompt: Prompt, reply: Completion, *, room: int, effort: Effort | None
) -> None:
    """Cache an accepted reply, unless it was cut off or is in the cache already."""
    replies = tools.replies
    key = replies.key(tools.llm, prompt, room, effort) if replies else None
    if replies and key and not reply.usage.cached and not reply.truncated:
        await replies.keep([replies.row(key, reply)])
