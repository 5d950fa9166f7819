"""Reads the passes of one partition; asks again when a reply is cut off or rejected."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import (
    ModelError,
    ModelOutputError,
    PromptCutError,
    PromptTooLongError,
    StoppedError,
)
from pgs_neo4j.events import PassFinished, ReplyRejected
from pgs_neo4j.export.wording import EXTRACTIVE
from pgs_neo4j.llm.calls.budget import Stop
from pgs_neo4j.llm.calls.calls import explain_late_cut
from pgs_neo4j.llm.calls.ledger import CallCost, Spent
from pgs_neo4j.llm.calls.proofs import OpenProof
from pgs_neo4j.llm.calls.replies import Replies, free_purchases, wait_for_purchase
from pgs_neo4j.model import Completion, Prompt, Report, Sweep, SweepStatus, Usage
from pgs_neo4j.model.ceilings import MALFORMED_TRIES
from pgs_neo4j.pgs.sweeping.claims import collect_uncited_facts, render_surroundings
from pgs_neo4j.pgs.sweeping.material import REASKS, PaidForm, PaidPasses, find_paid_form
from pgs_neo4j.pgs.sweeping.order import SweepOrder, SweepResult, SweepTools
from pgs_neo4j.pgs.sweeping.pack import (
    Pass,
    find_whole_ranges,
    halve_pass,
    ranks_without_text,
    subtract_ranges,
)
from pgs_neo4j.pgs.sweeping.report import has_sections, merge_reports, parse_report, sweep_prompt
from pgs_neo4j.pgs.sweeping.short_report import SHORT_MARK, short_prompt
from pgs_neo4j.pgs.sweeping.strict import (
    ask_again,
    failed_sentences,
    keeps_enough_findings,
    strike_report,
)
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.spans import start_span

# Replies with more characters than this are parsed in a thread. Parsing a shorter reply takes only
# a few milliseconds.
LONG_REPLY = 50_000
LONG_TEXTS = 200_000  # characters of nodes; with more, a report is checked in a thread
WHOLE: tuple[PaidForm, ...] = ("usual", "short")  # forms of a reply to a pass as a whole
MOST_ROOM = 4  # maximum room of a reply, as a multiple of the usual room


@dataclass(slots=True)
class PassSpending:
    """The calls of each pass that no event has reported yet, by the number of the pass."""

    _calls: defaultdict[int, list[CallCost]] = field(default_factory=lambda: defaultdict(list))

    def add(self, number: int, call: CallCost) -> None:
        """Add a call of a pass. The call may still be in flight."""
        self._calls[number].append(call)

    def add_cached(self, number: int, usage: Usage) -> None:
        """Add a reply from the cache, at no cost."""
        self.add(number, CallCost(Spent(), counted=Spent(usage)))

    def take(self, number: int) -> Spent:
        """Return the cost of the calls of a pass that have ended, and forget these calls.

        Calls of the other half of the pass may still be in flight; they stay.
        """
        calls = self._calls.pop(number, [])
        self._calls[number] = [call for call in calls if call.counted is None]
        return sum((call.counted for call in calls if call.counted is not None), Spent())


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The accepted report of a pass, or the reason why it is missing.

    With ``stop``, the pass was not sent, since it could have exceeded a limit of the run.
    ``proven``: the model is known to have been given the whole pass. ``cut``: the model is known to
    have been given only a part of it, so the pass must be read again. A ``proof`` is set while this
    is undecided; later replies may decide it. ``keys`` are the keys of the cached replies to the
    pass; the last key belongs to the reply with the report.
    """

    item: Pass
    report: Report | None = None
    error: str = ""
    stop: Stop | None = None
    proven: bool = True
    cut: bool = False
    proof: OpenProof | None = None
    keys: tuple[str, ...] = ()


class _NoReportError(ModelOutputError):
    """A reply does not follow the format that the prompt asks for."""

    def __init__(self, message: str, reply: Completion) -> None:
        super().__init__(message)
        self.reply = reply


class PassReader:
    """Reads the passes of one partition, and records the sweep."""

    def __init__(
        self, order: SweepOrder, tools: SweepTools, paid: PaidPasses, began: float
    ) -> None:
        packed = paid.packed
        self._order, self._tools, self._packed, self._began = order, tools, packed, began
        # The time of the last reply. It is kept, so that record and answer show the same duration.
        self._ended = began
        self._nodes = {node.alias: node for node in packed.nodes}
        self._outcomes: list[_Outcome] = []
        self._pending = {item.label for item in packed.passes}
        self._prompts = dict(paid.prompts)
        self._keys = paid.keys
        self._paid = dict(paid.replies)
        self._bought_elsewhere, self._claimed = paid.busy, set(paid.own)
        self._rows: list[Row] = []
        self._usage = Usage()
        self._spending = PassSpending()
        self._refusals: dict[int, str] = {}  # by pass number, why its last reply was rejected
        self._cause: ModelError | None = None  # the first error that did not concern a single reply
        # Reports with failed sentences, by the label of their pass.
        self._to_ask_again: dict[str, Report] = {}
        self._changes = self._recorded = 0
        self._recording = asyncio.Lock()

    async def read_once(self, item: Pass) -> None:
        """Read a pass; if another run is buying its reply, wait for that reply first.

        Raises DatabaseError.
        """
        key, replies, calls = self._find_key(item), self._tools.replies, self._tools.calls
        if replies is not None and (buyer := self._bought_elsewhere.get(key)):
            replies.note_wait(buyer, self._tools.on_event)
            if await wait_for_purchase(
                self._tools.db, replies.run, key, lambda: calls.sweeping_stop() is not None
            ):
                self._claimed.add(key)
            bought = await replies.find_divided([key])
            replies.used |= bought.keys()
            self._paid |= bought
            if (stop := calls.sweeping_stop()) and self._find_paid_form(item) not in WHOLE:
                return self._add_outcome(_Outcome(item, error=stop.text, stop=stop))
        return await self.read(item)

    async def read(
        self,
        item: Pass,
        room: int | None = None,
        reasks: int = REASKS,
        tries: int = MALFORMED_TRIES,
        *,
        short: bool = False,
    ) -> None:
        """Read a pass until it succeeds or fails.

        ``tries`` is how often the pass may be sent while replies are malformed, and ``reasks`` how
        often it may be sent again after replies that were cut off. After a reply in a wrong format,
        the ``short`` format is tried once. Raises DatabaseError when recording fails.
        """
        usual, calls, llm = self._order.config.sweep_max_tokens, self._tools.calls, self._tools.llm
        room = room or usual
        form = self._find_paid_form(item)
        if form == "halves":
            return await self._read_halves(item, MOST_ROOM * usual, 0, "")
        short = short or form == "short"
        prompt = self._prompts.get(item.label) or self._make_prompt(item)
        if not calls.fits(llm, prompt) and form not in WHOLE:
            return await self._read_halves(item, room, reasks, self._explain_too_small())
        prompt = short_prompt(prompt) if short else prompt
        granted = calls.reply_room(llm, prompt, room)
        divisible = self._is_divisible(item, reasks)
        try:
            reply = await self._get_reply(item, prompt, room, short=short, divisible=divisible)
            if not reply.truncated:
                return None
            # More room helps if a report or thinking was cut off. Other prose that fills all of its
            # room comes from a model that ignores the format.
            error = f"the report was cut off at {granted} tokens"
            await self._reject(item, error, reply)
            if tries > 1 and not short and not has_sections(reply.text):
                return await self.read(item, room, reasks, tries - 1, short=True)
            self._refusals[item.number] = error
        except PromptCutError as cut:
            self._usage += cut.usage or Usage()
            self._refusals[item.number] = str(cut)
            await self._reject(item, str(cut))
            return await self._read_halves(item, room, reasks, str(cut))
        except PromptTooLongError as too_long:
            # The refusal may name a context that can hold the prompt and a shorter reply.
            if calls.fits(llm, prompt) and calls.reply_room(llm, prompt, room) < granted:
                return await self.read(item, room, reasks, tries, short=short)
            return await self._read_halves(item, room, reasks, str(too_long))
        except ModelOutputError as refused:
            self._refusals[item.number] = str(refused)
            await self._reject(item, str(refused), getattr(refused, "reply", None))
            if tries > 1:
                other = isinstance(refused, _NoReportError) and not short
                return await self.read(item, room, reasks, tries - 1, short=other)
            error = f"{refused}, {MALFORMED_TRIES} times in all"
            return self._add_outcome(_Outcome(item, error=error))
        except StoppedError as stopped:
            if divisible and not self._tools.calls.sweeping_stop():
                return await self._read_halves(item, room, reasks - 1, str(stopped))
            stop = Stop.from_error(stopped)
            refusal = self._refusals.get(item.number)
            error = f"{refusal}; {stop.text}" if refusal else stop.text
            return self._add_outcome(_Outcome(item, error=error, stop=stop))
        except ModelError as failed:
            self._cause = self._cause or failed
            return self._add_outcome(_Outcome(item, error=str(failed)))
        if not reasks:
            return self._add_outcome(_Outcome(item, error=f"{error}, {REASKS + 1} times in a row"))
        if granted == room < MOST_ROOM * usual:
            return await self.read(item, 2 * room, reasks - 1, tries)
        return await self._read_halves(item, room, reasks - 1, error)

    async def finish(self) -> SweepResult:
        """Record the whole sweep unless no pass was begun, and return it."""
        if self._tools.replies is not None:
            await free_purchases(self._tools.db, self._tools.replies.run, self._claimed)
        result = self._make_sweep()
        refused = tuple(dict.fromkeys(self._refusals.values()))
        if result.status is SweepStatus.UNREAD:
            return SweepResult(result, self._sorted_outcomes()[0].stop, refused)
        if self._recorded < self._changes:
            await self._record()
        undecided = result.nodes_unproven or any(outcome.proof for outcome in self._outcomes)
        settle = self._settle if undecided else None
        return SweepResult(result, None, refused, settle, self._cause)

    async def _settle(self, *, again: bool = True) -> Sweep:
        """Return the sweep after later calls have shown which passes the model was given.

        With ``again``, passes that were cut are read again. Without it, they no longer count as
        read. Raises DatabaseError.
        """
        room, llm = self._order.config.sweep_max_tokens, self._tools.llm
        while (cut := await self._settle_proofs(again=again)) and again:
            error = explain_late_cut(llm)
            await together(*(self._read_halves(item, room, REASKS, error) for item in cut))
        if self._recorded < self._changes:
            await self._record()
        return self._make_sweep()

    async def _settle_proofs(self, *, again: bool) -> list[Pass]:
        """Settle the open proofs that later replies have decided; return the passes that were cut.

        Replies to cut passes are removed from the cache, so that a later run asks again. Without
        ``again``, cut passes keep their reports. Raises DatabaseError.
        """
        calls, llm, replies = self._tools.calls, self._tools.llm, self._tools.replies
        kept: list[_Outcome] = []
        cut: list[_Outcome] = []
        proven: dict[str, bool] = {}
        for outcome in self._outcomes:
            if outcome.proof is None:
                kept.append(outcome)
                continue
            verdict = calls.settle_proof(llm, outcome.proof)
            if verdict == "cut":
                cut.append(outcome)
                if not again:
                    kept.append(replace(outcome, proven=False, cut=True, proof=None))
                continue
            read = verdict == "read"
            if read != outcome.proven:
                proven |= dict.fromkeys(outcome.keys[-1:], read)
                self._changes += 1
            kept.append(replace(outcome, proven=read))
        self._outcomes = kept
        self._changes += len(cut)
        if replies is not None:
            await replies.settle(proven, [key for one in cut for key in one.keys])
        return [outcome.item for outcome in cut]

    def _is_divisible(self, item: Pass, reasks: int) -> bool:
        """Return whether to divide a pass that is too large for the budget.

        Only the first pass of a run is divided, so that even a small budget reads a part of it.
        """
        return bool(reasks) and len(item.pieces) > 1 and not self._tools.calls.any_paid

    async def _get_reply(
        self, item: Pass, prompt: Prompt, room: int, *, short: bool, divisible: bool
    ) -> Completion:
        """Return a reply whose report was accepted and recorded, or a reply that was cut off."""
        about = {
            spans.PARTITION: self._order.partition.id,
            spans.PASS_NUMBER: item.number,
            spans.NODES: len(item.pieces),
        }
        with start_span(spans.PASS, about, current=True):
            return await self._find_or_buy(item, prompt, room, short=short, divisible=divisible)

    async def _find_or_buy(
        self, item: Pass, prompt: Prompt, room: int, *, short: bool, divisible: bool
    ) -> Completion:
        reply = self._paid.pop(self._find_key(item, short=short), None)
        if reply is not None:
            self._tools.calls.count_cached(reply)
            self._usage += reply.usage
            self._spending.add_cached(item.number, reply.usage)
            await self._accept(item, prompt, reply, short=short)
            await self._ask_again(item, prompt)
            return reply
        sent_prompt = prompt

        def renew() -> Prompt:
            nonlocal sent_prompt
            sent_prompt = self._without_needless_codes(item, prompt, short=short)
            return sent_prompt

        async def take(reply: Completion) -> None:
            # A reply proves only the prompt that was sent, which may have had no codes.
            await self._accept_bought(item, sent_prompt, short, reply)

        reply = await self._tools.calls.complete(
            self._tools.llm,
            prompt,
            room=room,
            effort=self._order.config.sweep_effort,
            priority=self._order.priority,
            divisible=divisible,
            repeat_malformed=False,  # ``read`` repeats the call itself
            renew=renew,
            then=take,
            on_call=partial(self._spending.add, item.number),
        )
        await self._ask_again(item, prompt)
        return reply

    async def _ask_again(self, item: Pass, prompt: Prompt) -> None:
        """Request a report once more if sentences failed, and strike the sentences that fail again.

        If the second call fails, the first report stays, without its failed sentences.
        """
        first = self._to_ask_again.pop(item.label, None)
        if first is None:
            return
        calls, llm, replies = self._tools.calls, self._tools.llm, self._tools.replies
        room, effort = self._order.config.sweep_max_tokens, self._order.config.sweep_effort
        again = ask_again(prompt, failed_sentences(first))
        key = replies.key(llm, again, room, effort) if replies is not None else None
        try:
            if replies is not None and (cached := (await replies.find([key])).get(key or "")):
                calls.count_cached(cached)
                self._spending.add_cached(item.number, cached.usage)
                await self._take_second(item, first, again, key, cached)
            elif calls.fits(llm, again):
                await calls.complete(
                    llm,
                    again,
                    room=room,
                    effort=effort,
                    priority=self._order.priority,
                    repeat_malformed=False,
                    then=partial(self._take_second, item, first, again, key),
                    on_call=partial(self._spending.add, item.number),
                )
        except PromptCutError as cut:
            self._usage += cut.usage or Usage()
        except (ModelError, StoppedError):
            pass
        finally:
            self._send_finished(self._find_outcome(item))

    async def _take_second(
        self, item: Pass, first: Report, prompt: Prompt, key: str | None, reply: Completion
    ) -> None:
        self._usage += reply.usage
        if reply.truncated:
            return
        try:
            second = await self._parse(item, reply)
        except ModelOutputError:
            return
        replies = self._tools.replies
        if replies is not None and key and not reply.usage.cached:
            self._rows.append(self._make_row(replies, key, reply, item))
        if keeps_enough_findings(second, first):
            earlier = self._find_outcome(item)
            self._outcomes[self._outcomes.index(earlier)] = _Outcome(
                item,
                strike_report(second),
                proven=reply.proven,
                proof=await self._tools.calls.keep_proof(self._tools.llm, prompt, reply),
                keys=(*earlier.keys, *([key] if key else [])),
            )
            self._ended = perf_counter()
        self._changes += 1
        await self._record()

    def _find_outcome(self, item: Pass) -> _Outcome:
        return next(one for one in self._outcomes if one.item.label == item.label)

    async def _accept_bought(
        self, item: Pass, prompt: Prompt, short: bool, reply: Completion
    ) -> None:
        """Accept and record a bought reply before the next call."""
        self._usage += reply.usage
        if not reply.truncated:
            await self._accept(item, prompt, reply, short=short)
            await self._record()

    async def _read_halves(self, item: Pass, room: int, reasks: int, error: str) -> None:
        """Read a pass as two smaller passes.

        Dividing a pass because its prompt is too long does not use up any of ``reasks``.
        """
        smaller = halve_pass(item, self._packed.relationships)
        if not smaller:
            return self._add_outcome(_Outcome(item, error=error))
        self._pending = self._pending - {item.label} | {half.label for half in smaller}
        ordered = order_passes(smaller, self._order.matches)
        await together(*(self.read(half, room, reasks) for half in ordered))
        return None

    def _explain_too_small(self) -> str:
        """Return why a pass that cannot be divided further is not sent."""
        llm = self._tools.llm
        context = self._tools.calls.contexts.of(llm.name)
        described = context.described if context else "too few tokens"
        return (
            f"the context of {llm.name} is {described}, which cannot hold the instructions and one "
            "node; use a model with a larger context, or let its server give it more"
        )

    async def _accept(self, item: Pass, prompt: Prompt, reply: Completion, *, short: bool) -> None:
        report = await self._parse(item, reply, short=short)
        replies, key = self._tools.replies, self._find_key(item, short=short)
        if replies is not None and key and not reply.usage.cached:
            self._rows.append(self._make_row(replies, key, reply, item))
            self._claimed.discard(key)
        self._prompts.pop(item.label, None)
        if self._order.config.strict and failed_sentences(report):
            # Accepted without its failed sentences, in case the second call fails.
            self._to_ask_again[item.label] = report
            report = strike_report(report)
        proof = await self._tools.calls.keep_proof(self._tools.llm, prompt, reply)
        kept = (key,) if key else ()
        return self._add_outcome(
            _Outcome(item, report, proven=reply.proven, proof=proof, keys=kept)
        )

    async def _parse(self, item: Pass, reply: Completion, *, short: bool = False) -> Report:
        shown = {piece.node.alias: self._nodes[piece.node.alias] for piece in item.pieces}
        part = f"{item.label} of {len(self._packed.passes)}"
        # The extractive reader only quotes, so there are no claims of its own to look up.
        quotes = self._tools.llm.name == EXTRACTIVE
        parse = partial(
            parse_report,
            reply.text,
            self._order.partition.id,
            shown,
            known_partitions=self._order.partition_ids,
            relationships=item.relationships,
            known=None if quotes else collect_uncited_facts(self._order),
            around=""
            if quotes
            else render_surroundings(self._order, shown, item.relationships, part),
            short=short,
        )
        texts = sum(len(node.text) for node in shown.values())
        apart = len(reply.text) > LONG_REPLY or texts > LONG_TEXTS
        try:
            return await asyncio.to_thread(parse) if apart else parse()
        except ModelOutputError as error:
            raise _NoReportError(str(error), reply) from None

    async def _reject(self, item: Pass, reason: str, reply: Completion | None = None) -> None:
        """Report at once that a reply was rejected, and store the reply. Raises DatabaseError."""
        partition, count = self._order.partition.id, len(self._packed.passes)
        self._tools.on_event(ReplyRejected(partition, item.number, count, reason))
        if reply is not None and self._tools.replies is not None and not reply.usage.cached:
            await self._tools.replies.keep_rejected(reply, reason, partition, item.number)

    def _add_outcome(self, outcome: _Outcome) -> None:
        self._outcomes.append(outcome)
        self._changes += 1
        self._ended = perf_counter()
        self._pending.discard(outcome.item.label)
        if not outcome.stop and outcome.item.label not in self._to_ask_again:
            self._send_finished(outcome)

    def _send_finished(self, outcome: _Outcome) -> None:
        partition_id, number = self._order.partition.id, outcome.item.number
        count, error, spent = len(self._packed.passes), outcome.error, self._spending.take(number)
        event = PassFinished(partition_id, number, count, error or None, spent.usage, spent.cost)
        self._tools.on_event(event)

    async def _record(self) -> None:
        # One at a time, so that the last record includes all earlier changes.
        async with self._recording:
            if self._recorded == self._changes:
                return  # the previous record included these changes
            rows, self._rows = self._rows, []
            changes = self._changes
            await self._tools.record(self._order, self._make_sweep(), rows)
            self._recorded = changes

    def _sorted_outcomes(self) -> list[_Outcome]:
        return sorted(self._outcomes, key=lambda outcome: (outcome.item.number, outcome.item.half))

    def _make_sweep(self) -> Sweep:
        """Return the sweep so far; pending passes do not count as accepted."""
        outcomes = self._sorted_outcomes()
        accepted = [outcome for outcome in outcomes if outcome.report is not None]
        reports = {o.item.label: o.report for o in accepted if o.report is not None}
        passes = len(outcomes) + len(self._pending)
        uncut = [outcome for outcome in accepted if not outcome.cut]
        read = find_whole_ranges(outcome.item for outcome in uncut if outcome.proven)
        proven = all(outcome.proven for outcome in uncut)
        shown = read if proven else find_whole_ranges(outcome.item for outcome in uncut)
        partition_id = self._order.partition.id
        return Sweep(
            partition=partition_id,
            status=_find_status(outcomes, uncut, passes),
            nodes=len(self._packed.nodes),
            read=read,
            unproven=subtract_ranges(shown, read),
            without_text=ranks_without_text((outcome.item for outcome in uncut), read),
            passes=passes,
            passes_accepted=len(uncut),
            report=merge_reports(partition_id, reports, passes) if reports else None,
            errors=tuple(outcome.error for outcome in outcomes if outcome.error),
            usage=self._usage,
            seconds=self._ended - self._began,
            generation=self._order.generation,
            wave=self._order.wave,
        )

    def _make_row(self, replies: Replies, key: str, reply: Completion, item: Pass) -> Row:
        partition, limit = self._order.partition.id, self._packed.context_limit
        return replies.row(key, reply, partition, item.number, limit)

    def _make_prompt(self, item: Pass) -> Prompt:
        coded = self._tools.calls.asks_receipts(self._tools.llm)
        return sweep_prompt(self._order, item, len(self._packed.passes), with_receipts=coded)

    def _without_needless_codes(self, item: Pass, prompt: Prompt, *, short: bool) -> Prompt:
        """Return the prompt without codes if other replies have shown that it needs none."""
        if not prompt.receipts or self._tools.calls.asks_receipts(self._tools.llm):
            return prompt
        bare = self._make_prompt(item)
        return short_prompt(bare) if short else bare

    def _find_key(self, item: Pass, *, short: bool = False) -> str:
        """Return the cache key of the reply to a pass or half, or to its ``short`` format.

        The key is empty if replies are not cached.
        """
        key = self._keys.get(item.number)
        return key + item.half + (SHORT_MARK if short else "") if key else ""

    def _find_paid_form(self, item: Pass) -> PaidForm | None:
        return find_paid_form(self._find_key(item), self._paid)


def order_passes(passes: Sequence[Pass], matches: Sequence[int]) -> list[Pass]:
    """Sort passes by their best match; passes without a match follow in their former order.

    A budget may end the reading after any pass. ``matches`` are ranks, the best first.
    """
    place = {rank: at for at, rank in enumerate(matches)}
    return sorted(
        passes,
        key=lambda item: min(place.get(piece.rank, len(place)) for piece in item.pieces),
    )


def _find_status(
    outcomes: Sequence[_Outcome], uncut: Sequence[_Outcome], passes: int
) -> SweepStatus:
    if len(uncut) == passes:
        return SweepStatus.ACCEPTED
    if any(outcome.report is not None for outcome in outcomes):
        return SweepStatus.PARTIAL
    stopped = bool(outcomes) and all(outcome.stop for outcome in outcomes)
    return SweepStatus.UNREAD if stopped else SweepStatus.FAILED
