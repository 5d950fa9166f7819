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
from pgs_neo4j.pgs.markdown import THINKING
from pgs_neo4j.pgs.synthesis import Shown, parse_synthesis, synthesis_prompt


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
    has a report or the prompt has no room for one, ModelError when the model fails or says
    nothing.
    """
    if all(sweep.report is None for sweep in sweeps):
        raise UsageError("there is no report to synthesize; sweep at least one partition first")
    shown = synthesis_prompt(
        question,
        sweeps,
        partitions,
        max_characters=config.max_pass_characters,
        max_tokens=config.max_pass_tokens,
        known=known,
    )
    if left_out := _left_out(shown):
        warn(left_out)
    reply = await stream_text(
        llm, shown.prompt, config.synthesis_max_tokens, config.synthesis_effort, on_event
    )
    parsed = parse_synthesis(reply.text, shown.citable)
    if not parsed.text.strip():
        raise ModelOutputError(_empty(llm, reply, config))
    if reply.truncated:
        warn(
            f"the synthesis was cut off at {config.synthesis_max_tokens} tokens; raise "
            "PGS_SYNTHESIS_MAX_TOKENS for all of it"
        )
    return replace(parsed, usage=reply.usage, complete=not reply.truncated)


class Aloud:
    """Lets a streamed reply pass, but for a block of thinking at its beginning."""

    def __init__(self) -> None:
        self._held = ""
        self._speaking = False

    def said(self, piece: str) -> str:
        """What may be shown now that ``piece`` has come."""
        if self._speaking:
            return piece
        self._held += piece
        begin, end = THINKING
        start = self._held.lstrip()
        if start.startswith(begin):
            start = start.partition(end)[2].lstrip()
            return self._spoken(start) if start else ""
        return "" if begin.startswith(start) else self._spoken(self._held)

    def rest(self) -> str:
        """What was held back and is no thinking, at the end of the reply."""
        thought = self._held.lstrip().startswith(THINKING[0])
        return self._spoken("" if thought else self._held)

    def _spoken(self, text: str) -> str:
        self._held, self._speaking = "", True
        return text


async def stream_text(
    llm: LLM, prompt: Prompt, max_tokens: int, effort: Effort | None, on_event: OnEvent
) -> Completion:
    """Stream what a reply says as events and return it whole. Raises ModelError."""
    completion: Completion | None = None
    aloud = Aloud()
    async with aclosing(llm.stream(prompt, max_tokens=max_tokens, effort=effort)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Completion):
                completion = piece
            elif said := aloud.said(piece):
                on_event(TextStreamed(said))
    if rest := aloud.rest():
        on_event(TextStreamed(rest))
    if completion is None:
        raise ModelOutputError(f"the model {llm.name} ended its reply without saying so")
    return completion


def _empty(llm: LLM, reply: Completion, config: PGSConfig) -> str:
    room = f", cut off at {config.synthesis_max_tokens} tokens" if reply.truncated else ""
    return (
        f"the model {llm.name} returned an empty synthesis{room}; what was swept is kept, so ask "
        "again, raise PGS_SYNTHESIS_MAX_TOKENS, or name another PGS_SYNTHESIS_MODEL"
    )


def _left_out(shown: Shown) -> str:
    """One sentence on what found no room in the prompt; empty when all did."""
    parts = [
        _counted(shown.dropped_reports, "whole report"),
        _counted(shown.dropped_bullets, "bullet", "the last of their lists"),
        _counted(shown.cut_states, "Domain State", "in part"),
        "the end of the search's answer" if shown.cut_known else "",
    ]
    named = [part for part in parts if part]
    if not named:
        return ""
    return (
        f"one prompt cannot hold all that was found, so the synthesis does not see: "
        f"{'; '.join(named)}. The session keeps it; raise PGS_MAX_PASS_CHARACTERS or "
        "PGS_MAX_PASS_TOKENS if the model reads more"
    )


def _counted(count: int, what: str, which: str = "") -> str:
    if not count:
        return ""
    return f"{count:,} {what}{'' if count == 1 else 's'}" + (f" ({which})" if which else "")
