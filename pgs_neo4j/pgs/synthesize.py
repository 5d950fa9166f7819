"""Phase 3: one streamed call over all reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import ModelOutputError, UsageError
from pgs_neo4j.events import OnEvent, TextStreamed
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Completion, Effort, Partition, Prompt, Sweep, Synthesis
from pgs_neo4j.pgs.synthesis import parse_synthesis, synthesis_prompt


async def synthesize(
    llm: LLM,
    question: str,
    sweeps: Sequence[Sweep],
    partitions: Sequence[Partition],
    config: PGSConfig,
    *,
    on_event: OnEvent,
    warn: Callable[[str], None],
    known: str | None = None,
) -> Synthesis:
    """The synthesis of all reports, streamed as TextStreamed events.

    A reply that was cut off is kept and marked incomplete. Raises UsageError when no sweep
    has a report, ModelError when the model fails or says nothing.
    """
    if all(sweep.report is None for sweep in sweeps):
        raise UsageError("there is no report to synthesize; sweep at least one partition first")
    shown = synthesis_prompt(
        question, sweeps, partitions, max_characters=config.max_pass_characters, known=known
    )
    if shown.dropped:
        warn(
            f"the reports are longer than one prompt, so their {shown.dropped} least important "
            "bullets are left out of the synthesis; the session keeps them"
        )
    reply = await stream_text(
        llm, shown.prompt, config.synthesis_max_tokens, config.synthesis_effort, on_event
    )
    if not reply.text.strip():
        raise ModelOutputError(
            f"the model {llm.name} returned an empty synthesis; what was swept is kept, so ask "
            "again or name another PGS_SYNTHESIS_MODEL"
        )
    if reply.truncated:
        warn(
            f"the synthesis was cut off at {config.synthesis_max_tokens} tokens; raise "
            "PGS_SYNTHESIS_MAX_TOKENS for all of it"
        )
    parsed = parse_synthesis(reply.text, shown.citable)
    return replace(parsed, usage=reply.usage, complete=not reply.truncated)


async def stream_text(
    llm: LLM, prompt: Prompt, max_tokens: int, effort: Effort | None, on_event: OnEvent
) -> Completion:
    """Stream a reply as events and return it whole. Raises ModelError."""
    completion: Completion | None = None
    async with aclosing(llm.stream(prompt, max_tokens=max_tokens, effort=effort)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Completion):
                completion = piece
            else:
                on_event(TextStreamed(piece))
    if completion is None:
        raise ModelOutputError(f"the model {llm.name} ended its reply without saying so")
    return completion
