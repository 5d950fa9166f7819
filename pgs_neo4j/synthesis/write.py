"""Phase 3: one streamed call over all reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.calls.replies import Replies
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import ModelOutputError, UsageError
from pgs_neo4j.events import OnEvent, TextStreamed
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import Completion, Partition, Prompt, Sweep, Synthesis, Unit
from pgs_neo4j.synthesis import reserve
from pgs_neo4j.synthesis.prompt import Shown, parse_synthesis, synthesis_prompt
from pgs_neo4j.synthesis.reduce import Reducer, paths_of
from pgs_neo4j.synthesis.sections import Section, sections_of
from pgs_neo4j.text.markdown import THINKING, spoken


@dataclass(frozen=True, slots=True)
class Writer:
    """What a synthesis is made with. ``checks`` is what was found among the reports by looking;

    ``reducer`` condenses them along ``units`` when they exceed one prompt.
    """

    llm: LLM
    config: PGSConfig
    calls: Calls
    replies: Replies | None
    on_event: OnEvent
    warn: Callable[[str], None]
    known: str | None = None
    checks: str = ""
    units: Sequence[Unit] = ()
    reducer: Reducer | None = None


async def synthesize(
    writer: Writer, question: str, sweeps: Sequence[Sweep], partitions: Sequence[Partition]
) -> Synthesis:
    """The synthesis of all reports, streamed as TextStreamed events.

    A reply that was cut off is marked incomplete. Raises UsageError when no sweep has a report
    or the prompt has no room for one, StoppedError when a bound leaves no room for a synthesis,
    ModelError when the model fails or says nothing.
    """
    if all(sweep.report is None for sweep in sweeps):
        raise UsageError("there is no report to synthesize; sweep at least one partition first")
    llm, config, calls = writer.llm, writer.config, writer.calls
    made = sections_of(sweeps, partitions)

    def prompt_of(sections: Sequence[Section]) -> Shown:
        return synthesis_prompt(
            question,
            sweeps,
            partitions,
            max_characters=config.max_pass_characters,
            max_tokens=reserve.prompt_tokens(calls, llm, config),  # reductions have taken some
            known=writer.known,
            sections=sections,
            checks=writer.checks,
        )

    shown, reductions = prompt_of(made), 0
    if not shown.whole and writer.reducer is not None:
        reducer, paths = writer.reducer, paths_of(partitions, writer.units)
        fewer = await reducer.reduced(question, made, paths, lambda s: prompt_of(s).whole)
        shown, reductions = prompt_of(fewer), reducer.calls_made
        writer.warn(_condensed(len(made), len(fewer), reducer))
    if left_out := _left_out(shown):
        writer.warn(left_out)
    room = reserve.reply_tokens(calls, llm, config, shown.prompt)
    reply = await _written(writer, shown.prompt, room)
    parsed = parse_synthesis(reply.text, shown.citable)
    if reply.truncated:
        bound = "synthesis_max_tokens (PGS_SYNTHESIS_MAX_TOKENS)"
        which = bound if room == config.synthesis_max_tokens else "the budget"
        writer.warn(f"the synthesis was cut off at {room} tokens; raise {which} for all of it")
    return replace(parsed, usage=reply.usage, complete=not reply.truncated, reductions=reductions)


def _condensed(reports: int, sections: int, reducer: Reducer) -> str:
    """One sentence on what became of reports that exceed one prompt."""
    failed = f"; {reducer.failed} of them without a model, which failed" if reducer.failed else ""
    return (
        f"{reports:,} reports exceed one prompt, so those on neighbouring partitions were "
        f"condensed into {sections:,}{failed}; their citations, flags, and absences were carried "
        "through"
    )


async def _written(writer: Writer, prompt: Prompt, room: int) -> Completion:
    """The reply, from what is kept or from the model, told as it comes."""
    aloud = Aloud()

    def hear(piece: str) -> None:
        if said := aloud.said(piece):
            writer.on_event(TextStreamed(said))

    config, replies = writer.config, writer.replies
    effort = config.synthesis_effort
    key = replies.key(writer.llm, prompt, room, effort) if replies else None
    found = (await replies.find([key])).get(key or "") if replies else None
    if found is not None:
        writer.calls.cached(found)
        hear(found.text)
        reply = found
    else:
        reply = await writer.calls.stream(writer.llm, prompt, hear, room=room, effort=effort)
    if rest := aloud.rest():
        writer.on_event(TextStreamed(rest))
    if not spoken(reply.text).strip():
        raise ModelOutputError(_empty(writer.llm, reply, config))
    if replies and key and found is None and not reply.truncated:
        await replies.keep([replies.row(key, reply)])
    return reply


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
