"""Phase 3: one streamed call over all reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import ModelOutputError, UsageError
from pgs_neo4j.events import TextStreamed
from pgs_neo4j.export.counts import EXTRACTIVE
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Completion, Prompt, Synthesis
from pgs_neo4j.synthesis import reserve
from pgs_neo4j.synthesis.order import SynthesisOrder, SynthesisTools
from pgs_neo4j.synthesis.prompt import FittedPrompt, parse_synthesis, synthesis_prompt
from pgs_neo4j.synthesis.reduce import Reduction, reduce_sections
from pgs_neo4j.synthesis.reply import keep_reply, read_reply
from pgs_neo4j.synthesis.sections import Section, sections_of
from pgs_neo4j.synthesis.statements import StatementFilter, doubt_statements, doubted_sentences
from pgs_neo4j.synthesis.verdicts import VerdictFilter, judged
from pgs_neo4j.text.claims.marking import Doubting, strike
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.thinking import strip_thinking


async def write_synthesis(order: SynthesisOrder, tools: SynthesisTools) -> Synthesis:
    """Return the synthesis of all reports, streamed as TextStreamed events.

    A reply that was cut off is marked incomplete. Raises UsageError when no sweep has a report or
    the prompt has no room for one, StoppedError when a limit leaves no room for a synthesis,
    ModelError when the model fails or its reply is empty.
    """
    if all(sweep.report is None for sweep in order.sweeps):
        raise UsageError("there is no report to synthesize; sweep at least one partition first")
    config = order.config
    fitted, reductions = await _fit_prompt(order, tools)
    if left_out := _left_out(fitted):
        tools.warn(left_out)
    room = reserve.reply_tokens(tools.calls, tools.llm, config, fitted.prompt)
    doubting = _doubting(order, tools)
    reply = await _read_reply(order, tools, fitted.prompt, room, doubting)
    text = strip_thinking(reply.text)
    if doubting is not None:
        statements = StatementFilter(doubting)
        text = statements.pass_on(text) + statements.end()
    synthesis = parse_synthesis(text, fitted.citable)
    synthesis = replace(synthesis, in_doubt=doubted_sentences(text))
    if order.absences is not None:
        synthesis = judged(synthesis, order.absences)
    if reply.truncated:
        limit = "synthesis_max_tokens (PGS_SYNTHESIS_MAX_TOKENS)"
        which = limit if room == config.synthesis_max_tokens else "the budget"
        tools.warn(f"the synthesis was cut off at {room} tokens; raise {which} for all of it")
    whole = not reply.truncated
    return replace(synthesis, usage=reply.usage, complete=whole, reductions=reductions)


async def _fit_prompt(order: SynthesisOrder, tools: SynthesisTools) -> tuple[FittedPrompt, int]:
    """Return the prompt, and the model calls that condensed reports for it."""

    def fit(sections: Sequence[Section]) -> FittedPrompt:
        # Measured each time: reductions take tokens from the budget.
        max_tokens = reserve.prompt_tokens(tools.calls, tools.llm, order.config)
        return synthesis_prompt(order, max_tokens, sections)

    sections = sections_of(order.sweeps, order.partitions)
    fitted = fit(sections)
    if fitted.whole or tools.reducing_llm is None:
        return fitted, 0
    reduction = await reduce_sections(
        order, tools, tools.reducing_llm, sections, lambda some: fit(some).whole
    )
    fitted = fit(reduction.sections)
    tools.warn(_condensed(len(sections), reduction))
    return fitted, reduction.calls


def _condensed(reports: int, reduction: Reduction) -> str:
    """Return one sentence on how reports that exceed a prompt were treated."""
    failed = reduction.failed
    groups = counted(failed, "group")
    note = f"; code condensed {groups} for which no call succeeded" if failed else ""
    return (
        f"{reports:,} reports exceed one prompt, so those on neighboring partitions were "
        f"condensed into {len(reduction.sections):,}{note}; their citations, flags, and absences "
        "were carried through"
    )


def _doubting(order: SynthesisOrder, tools: SynthesisTools) -> Doubting | None:
    """Return what looks the answer's sentences up; None for a reader that quotes and counts."""
    if order.texts is None or tools.llm.name == EXTRACTIVE:
        return None
    known = "\n".join((order.question, strike(order.search_answer or "")))
    return doubt_statements(known, order.sweeps, order.partitions, order.texts)


async def _read_reply(
    order: SynthesisOrder,
    tools: SynthesisTools,
    prompt: Prompt,
    room: int,
    doubting: Doubting | None,
) -> Completion:
    """Return the reply, from the cache or the model, streamed as events."""
    verdicts = None if order.absences is None else VerdictFilter(order.absences)
    statements = None if doubting is None else StatementFilter(doubting)

    def tell(text: str) -> None:
        text = statements.pass_on(text) if statements else text
        if text := verdicts.pass_on(text) if verdicts else text:
            tools.on_event(TextStreamed(text))

    reply = await read_reply(tools, prompt, tell, room=room, effort=order.config.synthesis_effort)
    rest = statements.end() if statements else ""
    if verdicts:
        rest = verdicts.pass_on(rest) + verdicts.end()
    if rest:
        tools.on_event(TextStreamed(rest))
    if not strip_thinking(reply.text).strip():
        raise ModelOutputError(_empty(tools.llm, reply, order.config))
    await keep_reply(tools, prompt, reply, room=room, effort=order.config.synthesis_effort)
    return reply


def _empty(llm: LLM, reply: Completion, config: PGSConfig) -> str:
    room = f", cut off at {config.synthesis_max_tokens} tokens" if reply.truncated else ""
    return (
        f"the model {llm.name} returned an empty synthesis{room}; the sweeps are stored, so ask "
        "again, raise PGS_SYNTHESIS_MAX_TOKENS, or name another PGS_SYNTHESIS_MODEL"
    )


def _left_out(shown: FittedPrompt) -> str:
    """Return one sentence on content that did not fit, or nothing."""
    parts = [
        _count(shown.dropped_reports, "whole report"),
        _count(shown.dropped_bullets, "bullet", " (the last of their lists)"),
        _count(shown.cut_states, "Domain State", " (in part)"),
        "the end of the search's answer" if shown.cut_known else "",
    ]
    named = [part for part in parts if part]
    if not named:
        return ""
    return (
        f"one prompt cannot hold all that was found, so the synthesis does not see: "
        f"{'; '.join(named)}. The session keeps all of it; raise PGS_MAX_PASS_CHARACTERS or "
        "PGS_MAX_PASS_TOKENS if the model can read more"
    )


def _count(count: int, what: str, note: str = "") -> str:
    return f"{counted(count, what)}{note}" if count else ""
