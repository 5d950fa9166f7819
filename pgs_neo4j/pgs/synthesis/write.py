"""Phase 3: writes the synthesis with one streamed call over all reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import (
    ConfigError,
    ModelError,
    ModelOutputError,
    PromptCutError,
    PromptTooLongError,
    StoppedError,
    UsageError,
)
from pgs_neo4j.events import TextStreamed
from pgs_neo4j.export.wording import EXTRACTIVE
from pgs_neo4j.llm.calls.budget import estimated_tokens
from pgs_neo4j.llm.context import ModelContext
from pgs_neo4j.llm.own_models import advise_other
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Completion, DoubtedSentence, Prompt, Sweep, Synthesis, Usage
from pgs_neo4j.pgs.sweeping.strict import ask_again, failed_sentences, strike_report
from pgs_neo4j.pgs.synthesis.condense import Reduction, reduce_sections
from pgs_neo4j.pgs.synthesis.prompt import (
    SECTIONS,
    FittedPrompt,
    parse_synthesis,
    prompt_tokens,
    reply_tokens,
    synthesis_prompt,
)
from pgs_neo4j.pgs.synthesis.reply import (
    CheckedStream,
    SynthesisOrder,
    SynthesisTools,
    keep_reply,
    read_reply,
)
from pgs_neo4j.pgs.synthesis.sections import Section, sections_of
from pgs_neo4j.pgs.synthesis.statements import (
    Repeats,
    StatementFilter,
    doubt_statements,
    doubted_sentences,
    find_echoes_of,
    strike_sentences,
)
from pgs_neo4j.pgs.synthesis.verdicts import VerdictFilter, judged
from pgs_neo4j.text.claims.marking import Doubting, strike
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.thinking import strip_thinking

TRIES = 3  # prompts to try if the server cuts them, each half as long as the previous prompt
WITHDRAWN = (
    "\n\n(What stands above was written from a part of the prompt, because the server cut it. It "
    "does not count.)\n\n"
)
UNPROVEN = (
    "it is not known whether the model was given all of the prompt of {call}: its reply does not "
    "repeat the codes of the prompt, and the tokens that its endpoint counts, if it counts any, "
    "cannot show it; use an endpoint that reports its usage and its context, or another model"
)
STRUCK = (
    "pgs removes the sentences of {call} that failed their checks, because it cannot ask the model "
    "to rewrite them: {error}"
)
LONG_PROMPTS = 6  # maximum number of attempts while the model refuses prompts as too long
SMALLER = 0.7  # factor for the next attempt after a refusal that names no number


async def write_synthesis(order: SynthesisOrder, tools: SynthesisTools) -> Synthesis:
    """Return the synthesis of all reports, and stream it as TextStreamed events.

    A reply that was cut off is marked as incomplete. If the prompt is too long for the model, or
    the server cut it, a shorter prompt is tried. Raises UsageError when no sweep has a report,
    ConfigError when the prompt has no room for a report, StoppedError when a limit leaves no room
    for a synthesis, ModelError when the model fails or its reply is empty.
    """
    if all(sweep.report is None for sweep in order.sweeps):
        raise UsageError("there is no report to synthesize; sweep at least one partition first")
    failed = _find_failed(order)
    if failed:
        order = replace(order, sweeps=tuple(map(_strike_sweep, order.sweeps)))
    most: int | None = None
    too_long: PromptTooLongError | None = None
    reductions = cuts = 0
    for attempt in range(1, LONG_PROMPTS + 1):
        try:
            fitted, reduction = await _fit_prompt(order, tools, most)
        except ConfigError:  # not even a part of one report fits
            if too_long is None:
                raise
            raise too_long from None
        reductions += reduction.calls
        room = reply_tokens(tools.calls, tools.llm, order.config, fitted.prompt)
        granted = tools.calls.reply_room(tools.llm, fitted.prompt, room)
        try:
            synthesis = await _synthesize(order, tools, fitted)
            struck = *synthesis.struck, *failed
            proven = synthesis.proven and not reduction.unproven
            return replace(synthesis, reductions=reductions, struck=struck, proven=proven)
        except PromptCutError as cut:
            too_long, cuts = cut, cuts + 1
            if cuts == TRIES:
                raise
            most = estimated_tokens(fitted.prompt) // 2
            tools.warn(
                f"pgs asks the model again for an answer, from shorter reports, because {cut}"
            )
        except PromptTooLongError as error:
            too_long = error
            if attempt == LONG_PROMPTS:
                raise
            _learn_refusal(tools, fitted.prompt, room, granted)
    raise AssertionError("the last attempt ends by returning or raising")


def _find_failed(order: SynthesisOrder) -> tuple[DoubtedSentence, ...]:
    """Return the sentences that strict checks strike from reports read without strict checks."""
    if not order.config.strict:
        return ()
    reports = [sweep.report for sweep in order.sweeps if sweep.report is not None]
    return tuple(sentence for report in reports for sentence in failed_sentences(report))


def _strike_sweep(sweep: Sweep) -> Sweep:
    return sweep if sweep.report is None else replace(sweep, report=strike_report(sweep.report))


async def _synthesize(
    order: SynthesisOrder, tools: SynthesisTools, fitted: FittedPrompt
) -> Synthesis:
    """Send a prompt and return its synthesis. Raises PromptTooLongError if it is too long."""
    if left_out := _word_losses(fitted):
        tools.warn(left_out)
    doubting = _make_doubting(order, tools)
    strict = doubting is not None and order.config.strict
    written = await _write(order, tools, fitted.prompt, doubting, streamed=not strict)
    if not written.proven:
        tools.warn(UNPROVEN.format(call="the answer"))
    struck = tuple[DoubtedSentence, ...]()
    if strict:
        written = await _write_again(order, tools, fitted.prompt, doubting, written)
        struck = doubted_sentences(written.text)
        written = replace(written, text=strike_sentences(written.text, SECTIONS, "thesis"))
    synthesis = parse_synthesis(written.text, fitted.citable)
    synthesis = replace(synthesis, in_doubt=doubted_sentences(written.text), struck=struck)
    if order.absences is not None:
        synthesis = judged(synthesis, order.absences)
    if strict:
        await CheckedStream(tools.on_event, tools.check_deleted).finish(synthesis.text)
    if written.truncated:
        limit = "synthesis_max_tokens (PGS_SYNTHESIS_MAX_TOKENS)"
        which = limit if written.room == order.config.synthesis_max_tokens else "the budget"
        tools.warn(
            f"the synthesis was cut off at {written.room} tokens; raise {which} for all of it"
        )
    whole = not written.truncated
    return replace(synthesis, usage=written.usage, complete=whole, proven=written.proven)


@dataclass(frozen=True, slots=True)
class _Written:
    """A reply of at most ``room`` tokens with marks on its sentences; ``usage`` sums all calls.

    ``proven`` says that the model certainly got the whole prompt.
    """

    text: str
    usage: Usage
    truncated: bool
    room: int
    proven: bool


async def _write(
    order: SynthesisOrder,
    tools: SynthesisTools,
    prompt: Prompt,
    doubting: Doubting | None,
    *,
    streamed: bool,
) -> _Written:
    """Ask for the synthesis and mark the sentences in doubt. With ``streamed``, stream it."""
    room = reply_tokens(tools.calls, tools.llm, order.config, prompt)
    repeats = find_echoes_of(tools.llm, prompt)
    reply = await _read_reply(order, tools, prompt, room, doubting, repeats, streamed=streamed)
    statements = StatementFilter(doubting, repeats=repeats)
    text = statements.pass_on(strip_thinking(reply.text)) + statements.end()
    return _Written(text, reply.usage, reply.truncated, room, reply.proven)


async def _write_again(
    order: SynthesisOrder,
    tools: SynthesisTools,
    prompt: Prompt,
    doubting: Doubting | None,
    first: _Written,
) -> _Written:
    """Request another reply if sentences are in doubt, and return the reply with fewer of them.

    At a tie, returns the second reply. Neither is streamed, since shown text cannot be taken back.
    """
    failed = doubted_sentences(first.text)
    if not failed:
        return first
    try:
        second = await _write(order, tools, ask_again(prompt, failed), doubting, streamed=False)
    except (ModelError, StoppedError) as error:
        tools.warn(STRUCK.format(call="the answer", error=error))
        return first
    worse = second.truncated and not first.truncated
    better = first if worse or len(doubted_sentences(second.text)) > len(failed) else second
    return replace(better, usage=first.usage + second.usage)


def _learn_refusal(tools: SynthesisTools, prompt: Prompt, room: int, granted: int) -> None:
    """Assume a smaller context after a refusal, unless the next call will differ anyway.

    It differs if the refusal named a limit, which is then known already.
    """
    calls, llm = tools.calls, tools.llm
    if calls.fits(llm, prompt) and calls.reply_room(llm, prompt, room) == granted:
        tokens = int((estimated_tokens(prompt) + granted) * SMALLER)
        calls.contexts.learn(llm.name, ModelContext(tokens, "refusal", refuses=True))


async def _fit_prompt(
    order: SynthesisOrder, tools: SynthesisTools, most: int | None
) -> tuple[FittedPrompt, Reduction]:
    """Return a prompt of at most ``most`` tokens, and the condensed reports that it shows."""
    coded = tools.calls.asks_receipts(tools.llm)

    def fit(sections: Sequence[Section]) -> FittedPrompt:
        # Compute the limit each time, because reductions take tokens from the budget.
        max_tokens = prompt_tokens(tools.calls, tools.llm, order.config)
        limits = [limit for limit in (max_tokens, most) if limit is not None]
        return synthesis_prompt(order, min(limits, default=None), sections, with_receipts=coded)

    sections = sections_of(order.sweeps, order.partitions)
    fitted = fit(sections)
    if fitted.whole or tools.reducing_llm is None:
        return fitted, Reduction(tuple(sections))
    reduction = await reduce_sections(
        order, tools, tools.reducing_llm, sections, lambda some: fit(some).whole
    )
    fitted = fit(reduction.sections)
    tools.warn(_word_reduction(len(sections), reduction))
    if reduction.unproven:
        calls = counted(reduction.unproven, "call")
        tools.warn(UNPROVEN.format(call=f"{calls} that condensed reports"))
    return fitted, reduction


def _word_reduction(reports: int, reduction: Reduction) -> str:
    """Return one sentence on the reports that were condensed because they exceed one prompt."""
    failed = reduction.failed
    groups = counted(failed, "group")
    note = f"; code condensed {groups} for which no call succeeded" if failed else ""
    return (
        f"{counted(reports, 'report exceeds', 'reports exceed')} one prompt, so "
        f"those on neighboring partitions were condensed into {len(reduction.sections):,}{note}; "
        "their citations, flags, and absences were carried through"
    )


def _make_doubting(order: SynthesisOrder, tools: SynthesisTools) -> Doubting | None:
    """Return a function that finds doubts about the answer's sentences.

    Returns None for the extractive reader, which only quotes and counts.
    """
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
    repeats: Repeats | None,
    *,
    streamed: bool,
) -> Completion:
    """Return the reply from the cache or the model; stream it as events if ``streamed``."""
    verdicts = None if order.absences is None else VerdictFilter(order.absences)
    statements = StatementFilter(doubting, repeats=repeats)
    stream = CheckedStream(tools.on_event, tools.check_deleted)

    async def send_piece(text: str) -> None:
        if not streamed:
            return
        text = statements.pass_on(text)
        await stream.send(verdicts.pass_on(text) if verdicts else text)

    effort = order.config.synthesis_effort
    try:
        reply = await read_reply(tools, prompt, send_piece, room=room, effort=effort)
    except PromptCutError:
        if stream.sent:
            tools.on_event(TextStreamed(WITHDRAWN))
        raise
    rest = statements.end()
    if verdicts:
        rest = verdicts.pass_on(rest) + verdicts.end()
    if streamed:
        await stream.finish(rest)
    if not strip_thinking(reply.text).strip():
        raise ModelOutputError(_word_empty_reply(tools.llm, reply, order.config))
    await keep_reply(tools, prompt, reply, room=room, effort=effort)
    return reply


def _word_empty_reply(llm: LLM, reply: Completion, config: PGSConfig) -> str:
    room = f", cut off at {config.synthesis_max_tokens} tokens" if reply.truncated else ""
    setting = "ask again, raise PGS_SYNTHESIS_MAX_TOKENS, or name another PGS_SYNTHESIS_MODEL"
    advice = advise_other(llm, setting, "ask again, or let it answer in the form of the prompt")
    return (
        f"the model {llm.name} returned an empty synthesis{room}; the sweeps are stored, so "
        f"{advice}"
    )


def _word_losses(shown: FittedPrompt) -> str:
    """Return a note on the content that did not fit; empty if all of it fits."""
    parts = [
        _word_loss(shown.dropped_reports, "whole report"),
        _word_loss(shown.dropped_bullets, "bullet", " (the last of their lists)"),
        _word_loss(shown.cut_states, "Domain State", " (in part)"),
        "the end of the search's answer" if shown.cut_known else "",
    ]
    losses = [part for part in parts if part]
    if not losses:
        return ""
    return (
        f"one prompt cannot hold all that was found, so the synthesis does not see: "
        f"{'; '.join(losses)}. The session keeps all of it; raise PGS_MAX_PASS_CHARACTERS or "
        "PGS_MAX_PASS_TOKENS if the model can read more"
    )


def _word_loss(count: int, what: str, note: str = "") -> str:
    return f"{counted(count, what)}{note}" if count else ""
