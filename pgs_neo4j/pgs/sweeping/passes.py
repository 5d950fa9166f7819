"""Reads the passes of one partition; repeats replies cut off."""

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
from pgs_neo4j.pgs.sweeping.claims import known_to, words_around
from pgs_neo4j.pgs.sweeping.material import REASKS, PaidPasses
from pgs_neo4j.pgs.sweeping.order import SweepOrder, SweepResult, SweepTools
from pgs_neo4j.pgs.sweeping.pack import (
    HALVES,
    Pass,
    halves,
    ranks_without_text,
    read_ranges,
    without_ranges,
)
from pgs_neo4j.pgs.sweeping.report import has_sections, merge_reports, parse_report, sweep_prompt
from pgs_neo4j.pgs.sweeping.short_report import SHORT_MARK, short_prompt
from pgs_neo4j.pgs.sweeping.strict import ask_again, failed_sentences, stands_better, strike_report
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.spans import start_span

# Characters of a reply. Shorter ones are parsed in a few milliseconds; longer ones in a thread.
LONG_REPLY = 50_000
LONG_TEXTS = 200_000  # of nodes, in which what a report says is looked up
MOST_ROOM = 4  # times the usual room; after that a smaller pass is asked


@dataclass(slots=True)
class PassSpending:
    """The calls of each pass that no event has told yet, by its number."""

    _calls: defaultdict[int, list[CallCost]] = field(default_factory=lambda: defaultdict(list))

    def add(self, number: int, call: CallCost) -> None:
        """Add a call of a pass, which may still be in flight."""
        self._calls[number].append(call)

    def add_cached(self, number: int, usage: Usage) -> None:
        """Add a reply from the cache, which cost nothing."""
        self.add(number, CallCost(Spent(), counted=Spent(usage)))

    def take(self, number: int) -> Spent:
        """Return what the calls of a pass that have ended cost, each once.

        Those of its other half may still be in flight.
        """
        calls = self._calls.pop(number, [])
        self._calls[number] = [call for call in calls if call.counted is None]
        return sum((call.counted for call in calls if call.counted is not None), Spent())


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The accepted report of a pass, or the reason for its lack.

    ``stop``: the pass was not asked, since it could have crossed a limit of the run. ``proven``:
    the model is known to have been given all of it. ``cut``: it is known not to, so the pass has to
    be read again. ``proof`` may still show either. ``keys`` are those of its cached replies; the
    last is that of the report.
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
    """A reply came that does not keep the contract."""

    def __init__(self, message: str, reply: Completion) -> None:
        super().__init__(message)
        self.reply = reply


class PassReader:
    """Reads the passes of one partition into one record."""

    def __init__(
        self, order: SweepOrder, tools: SweepTools, paid: PaidPasses, began: float
    ) -> None:
        packed = paid.packed
        self._order, self._tools, self._packed, self._began = order, tools, packed, began
        self._ended = began  # time of the last reply, the same in the record and in the answer
        self._nodes = {node.alias: node for node in packed.nodes}
        self._outcomes: list[_Outcome] = []
        self._out = {item.label for item in packed.passes}
        self._prompts = dict(paid.prompts)
        self._keys = paid.keys
        self._paid = dict(paid.replies)
        self._busy, self._own = paid.busy, set(paid.own)
        self._rows: list[Row] = []
        self._usage = Usage()
        self._spending = PassSpending()
        self._refused: dict[int, str] = {}  # why the last reply to a pass was not accepted
        self._cause: ModelError | None = None  # the first failure that was no matter of one reply
        self._held: dict[str, Report] = {}  # reports to ask for once more, by the label of the pass
        self._changes = self._recorded = 0
        self._recording = asyncio.Lock()

    async def read_once(self, item: Pass) -> None:
        """Read a pass, unless another run is buying its reply: then wait for it.

        Raises DatabaseError.
        """
        key, replies, calls = self._key(item), self._tools.replies, self._tools.calls
        if replies is not None and (buyer := self._busy.get(key)):
            replies.note_wait(buyer, self._tools.on_event)
            if await wait_for_purchase(
                self._tools.db, replies.run, key, lambda: calls.sweeping_stop() is not None
            ):
                self._own.add(key)
            self._paid |= await replies.find_divided([key])
            if (stop := calls.sweeping_stop()) and not self._is_paid(item):
                return self._note(_Outcome(item, error=stop.text, stop=stop))
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

        ``tries`` are those left for malformed replies. After one that keeps no contract, the
        ``short`` contract is tried once. Raises DatabaseError when recording fails.
        """
        usual, calls, llm = self._order.config.sweep_max_tokens, self._tools.calls, self._tools.llm
        room = room or usual
        if self._was_halved(item):
            return await self._halve(item, MOST_ROOM * usual, 0, "")
        short = short or self._is_paid_short(item)
        prompt = self._prompts.get(item.label) or self._prompt(item)
        if not calls.fits(llm, prompt) and not self._is_paid(item):
            return await self._halve(item, room, reasks, self._too_small())
        prompt = short_prompt(prompt) if short else prompt
        granted = calls.reply_room(llm, prompt, room)
        divisible = self._is_divisible(item, reasks)
        try:
            reply = await self._reply(item, prompt, room, short=short, divisible=divisible)
            if not reply.truncated:
                return None
            # More room helps a report that was cut off, and thinking. Other prose that fills all of
            # its room comes from a model that has lost the contract.
            error = f"the report was cut off at {granted} tokens"
            await self._reject(item, error, reply)
            if tries > 1 and not short and not has_sections(reply.text):
                return await self.read(item, room, reasks, tries - 1, short=True)
            self._refused[item.number] = error
        except PromptCutError as cut:
            self._usage += cut.usage or Usage()
            self._refused[item.number] = str(cut)
            await self._reject(item, str(cut))
            return await self._halve(item, room, reasks, str(cut))
        except PromptTooLongError as too_long:
            # The refusal may name a context that holds the prompt beside a shorter reply.
            if calls.fits(llm, prompt) and calls.reply_room(llm, prompt, room) < granted:
                return await self.read(item, room, reasks, tries, short=short)
            return await self._halve(item, room, reasks, str(too_long))
        except ModelOutputError as refused:
            self._refused[item.number] = str(refused)
            await self._reject(item, str(refused), getattr(refused, "reply", None))
            if tries > 1:
                other = isinstance(refused, _NoReportError) and not short
                return await self.read(item, room, reasks, tries - 1, short=other)
            error = f"{refused}, {MALFORMED_TRIES} times in all"
            return self._note(_Outcome(item, error=error))
        except StoppedError as stopped:
            if divisible and not self._tools.calls.sweeping_stop():
                return await self._halve(item, room, reasks - 1, str(stopped))
            stop = Stop.from_error(stopped)
            refusal = self._refused.get(item.number)
            error = f"{refusal}; {stop.text}" if refusal else stop.text
            return self._note(_Outcome(item, error=error, stop=stop))
        except ModelError as failed:
            self._cause = self._cause or failed
            return self._note(_Outcome(item, error=str(failed)))
        if not reasks:
            return self._note(_Outcome(item, error=f"{error}, {REASKS + 1} times in a row"))
        if granted == room < MOST_ROOM * usual:
            return await self.read(item, 2 * room, reasks - 1, tries)
        return await self._halve(item, room, reasks - 1, error)

    async def finish(self) -> SweepResult:
        """Record the whole sweep, unless no pass was begun."""
        if self._tools.replies is not None:
            await free_purchases(self._tools.db, self._tools.replies.run, self._own)
        result = self._sweep()
        refused = tuple(dict.fromkeys(self._refused.values()))
        if result.status is SweepStatus.UNREAD:
            return SweepResult(result, self._sorted_outcomes()[0].stop, refused)
        if self._recorded < self._changes:
            await self._record()
        undecided = result.nodes_unproven or any(outcome.proof for outcome in self._outcomes)
        settle = self._settle if undecided else None
        return SweepResult(result, None, refused, settle, self._cause)

    async def _settle(self, *, again: bool = True) -> Sweep:
        """Return the sweep with what later calls have proven read.

        What was cut is read ``again``, or else counts as read no longer. Raises DatabaseError.
        """
        room, llm = self._order.config.sweep_max_tokens, self._tools.llm
        while (cut := await self._settle_proofs(again=again)) and again:
            error = explain_late_cut(llm)
            await together(*(self._halve(item, room, REASKS, error) for item in cut))
        if self._recorded < self._changes:
            await self._record()
        return self._sweep()

    async def _settle_proofs(self, *, again: bool) -> list[Pass]:
        """Judge again what later replies may have decided.

        Returns the passes that were cut after all. Their replies are no longer cached, so that a
        later run asks again as well. Those that are not read ``again`` keep their reports. Raises
        DatabaseError.
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

        Only the first pass of a run is, so that a small budget reads a part of it.
        """
        return bool(reasks) and len(item.pieces) > 1 and not self._tools.calls.any_paid

    async def _reply(
        self, item: Pass, prompt: Prompt, room: int, *, short: bool, divisible: bool
    ) -> Completion:
        """Return a reply. Unless it was cut off, its report was accepted and recorded."""
        about = {
            spans.PARTITION: self._order.partition.id,
            spans.PASS_NUMBER: item.number,
            spans.NODES: len(item.pieces),
        }
        with start_span(spans.PASS, about, current=True):
            return await self._buy(item, prompt, room, short=short, divisible=divisible)

    async def _buy(
        self, item: Pass, prompt: Prompt, room: int, *, short: bool, divisible: bool
    ) -> Completion:
        reply = self._paid.pop(self._key(item, short=short), None)
        if reply is not None:
            self._tools.calls.count_cached(reply)
            self._usage += reply.usage
            self._spending.add_cached(item.number, reply.usage)
            await self._accept(item, prompt, reply, short=short)
            await self._read_again(item, prompt)
            return reply
        asked = prompt

        def renew() -> Prompt:
            nonlocal asked
            asked = self._renewed(item, prompt, short=short)
            return asked

        async def take(reply: Completion) -> None:
            # A reply proves only the prompt that was sent, and that one may have had no codes.
            await self._take(item, asked, short, reply)

        reply = await self._tools.calls.complete(
            self._tools.llm,
            prompt,
            room=room,
            effort=self._order.config.sweep_effort,
            priority=self._order.priority,
            divisible=divisible,
            repeat_malformed=False,  # as ``read`` asks again, whatever is wrong with a reply
            renew=renew,
            then=take,
            on_call=partial(self._spending.add, item.number),
        )
        await self._read_again(item, prompt)
        return reply

    async def _read_again(self, item: Pass, prompt: Prompt) -> None:
        """Ask once more for a report of which something failed; what still fails is struck.

        Where that fails as well, the first report stays without what failed.
        """
        first = self._held.pop(item.label, None)
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
                await self._take_again(item, first, again, key, cached)
            elif calls.fits(llm, again):
                await calls.complete(
                    llm,
                    again,
                    room=room,
                    effort=effort,
                    priority=self._order.priority,
                    repeat_malformed=False,
                    then=partial(self._take_again, item, first, again, key),
                    on_call=partial(self._spending.add, item.number),
                )
        except PromptCutError as cut:
            self._usage += cut.usage or Usage()
        except (ModelError, StoppedError):
            pass
        finally:
            self._tell(self._outcome_of(item))

    async def _take_again(
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
            self._rows.append(self._row(replies, key, reply, item))
        if stands_better(second, first):
            earlier = self._outcome_of(item)
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

    def _outcome_of(self, item: Pass) -> _Outcome:
        return next(one for one in self._outcomes if one.item.label == item.label)

    async def _take(self, item: Pass, prompt: Prompt, short: bool, reply: Completion) -> None:
        """Accept and record a paid reply before anything else is bought."""
        self._usage += reply.usage
        if not reply.truncated:
            await self._accept(item, prompt, reply, short=short)
            await self._record()

    async def _halve(self, item: Pass, room: int, reasks: int, error: str) -> None:
        """Read a pass as two smaller ones.

        A prompt that is too long for the model costs none of ``reasks``.
        """
        smaller = halves(item, self._packed.relationships)
        if not smaller:
            return self._note(_Outcome(item, error=error))
        self._out = self._out - {item.label} | {half.label for half in smaller}
        ordered = order_passes(smaller, self._order.matches)
        await together(*(self.read(half, room, reasks) for half in ordered))
        return None

    def _too_small(self) -> str:
        """Return why a pass that cannot be divided further is not asked."""
        llm = self._tools.llm
        context = self._tools.calls.contexts.of(llm.name)
        described = context.described if context else "too few tokens"
        return (
            f"the context of {llm.name} is {described}, which cannot hold the instructions and one "
            "node; use a model with a larger context, or let its server give it more"
        )

    async def _accept(self, item: Pass, prompt: Prompt, reply: Completion, *, short: bool) -> None:
        report = await self._parse(item, reply, short=short)
        replies, key = self._tools.replies, self._key(item, short=short)
        if replies is not None and key and not reply.usage.cached:
            self._rows.append(self._row(replies, key, reply, item))
            self._own.discard(key)
        self._prompts.pop(item.label, None)
        if self._order.config.strict and failed_sentences(report):
            # Without what failed it is accepted as it is, should the second call come to nothing.
            self._held[item.label] = report
            report = strike_report(report)
        proof = await self._tools.calls.keep_proof(self._tools.llm, prompt, reply)
        kept = (key,) if key else ()
        return self._note(_Outcome(item, report, proven=reply.proven, proof=proof, keys=kept))

    async def _parse(self, item: Pass, reply: Completion, *, short: bool = False) -> Report:
        shown = {piece.node.alias: self._nodes[piece.node.alias] for piece in item.pieces}
        part = f"{item.label} of {len(self._packed.passes)}"
        quotes = self._tools.llm.name == EXTRACTIVE  # a reader that quotes is not looked up
        parse = partial(
            parse_report,
            reply.text,
            self._order.partition.id,
            shown,
            known_partitions=self._order.partition_ids,
            relationships=item.relationships,
            known=None if quotes else known_to(self._order),
            around="" if quotes else words_around(self._order, shown, item.relationships, part),
            short=short,
        )
        texts = sum(len(node.text) for node in shown.values())
        apart = len(reply.text) > LONG_REPLY or texts > LONG_TEXTS
        try:
            return await asyncio.to_thread(parse) if apart else parse()
        except ModelOutputError as error:
            raise _NoReportError(str(error), reply) from None

    async def _reject(self, item: Pass, reason: str, reply: Completion | None = None) -> None:
        """Report at once that a reply was not accepted, and store it. Raises DatabaseError."""
        partition, count = self._order.partition.id, len(self._packed.passes)
        self._tools.on_event(ReplyRejected(partition, item.number, count, reason))
        if reply is not None and self._tools.replies is not None and not reply.usage.cached:
            await self._tools.replies.keep_rejected(reply, reason, partition, item.number)

    def _note(self, outcome: _Outcome) -> None:
        self._outcomes.append(outcome)
        self._changes += 1
        self._ended = perf_counter()
        self._out.discard(outcome.item.label)
        if not outcome.stop and outcome.item.label not in self._held:
            self._tell(outcome)

    def _tell(self, outcome: _Outcome) -> None:
        partition_id, number = self._order.partition.id, outcome.item.number
        count, error, spent = len(self._packed.passes), outcome.error, self._spending.take(number)
        event = PassFinished(partition_id, number, count, error or None, spent.usage, spent.cost)
        self._tools.on_event(event)

    async def _record(self) -> None:
        # In sequence, so that the last record includes all earlier ones.
        async with self._recording:
            if self._recorded == self._changes:
                return  # by the one before
            rows, self._rows = self._rows, []
            noted = self._changes
            await self._tools.record(self._order, self._sweep(), rows)
            self._recorded = noted

    def _sorted_outcomes(self) -> list[_Outcome]:
        return sorted(self._outcomes, key=lambda outcome: (outcome.item.number, outcome.item.half))

    def _sweep(self) -> Sweep:
        """Return the sweep so far; pending passes count as not accepted."""
        outcomes = self._sorted_outcomes()
        accepted = [outcome for outcome in outcomes if outcome.report is not None]
        reports = {o.item.label: o.report for o in accepted if o.report is not None}
        passes = len(outcomes) + len(self._out)
        given = [outcome for outcome in accepted if not outcome.cut]
        read = read_ranges(outcome.item for outcome in given if outcome.proven)
        proven = all(outcome.proven for outcome in given)
        shown = read if proven else read_ranges(outcome.item for outcome in given)
        partition_id = self._order.partition.id
        return Sweep(
            partition=partition_id,
            status=_status(outcomes, given, passes),
            nodes=len(self._packed.nodes),
            read=read,
            unproven=without_ranges(shown, read),
            without_text=ranks_without_text((outcome.item for outcome in given), read),
            passes=passes,
            passes_accepted=len(given),
            report=merge_reports(partition_id, reports, passes) if reports else None,
            errors=tuple(outcome.error for outcome in outcomes if outcome.error),
            usage=self._usage,
            seconds=self._ended - self._began,
            generation=self._order.generation,
            wave=self._order.wave,
        )

    def _row(self, replies: Replies, key: str, reply: Completion, item: Pass) -> Row:
        partition, limit = self._order.partition.id, self._packed.context_limit
        return replies.row(key, reply, partition, item.number, limit)

    def _prompt(self, item: Pass) -> Prompt:
        coded = self._tools.calls.asks_receipts(self._tools.llm)
        return sweep_prompt(self._order, item, len(self._packed.passes), with_receipts=coded)

    def _renewed(self, item: Pass, prompt: Prompt, *, short: bool) -> Prompt:
        """Return a prompt without codes where other replies have shown that it needs none."""
        if not prompt.receipts or self._tools.calls.asks_receipts(self._tools.llm):
            return prompt
        bare = self._prompt(item)
        return short_prompt(bare) if short else bare

    def _key(self, item: Pass, *, short: bool = False) -> str:
        """Return the key of a reply to a pass or half, or to its ``short`` contract.

        Empty where replies are not cached.
        """
        key = self._keys.get(item.number)
        return key + item.half + (SHORT_MARK if short else "") if key else ""

    def _is_paid(self, item: Pass) -> bool:
        """Return whether a reply to a pass is cached, whatever its contract."""
        return self._key(item) in self._paid or self._is_paid_short(item)

    def _is_paid_short(self, item: Pass) -> bool:
        """Return whether only a reply to the short contract of a pass is cached."""
        return self._key(item) not in self._paid and self._key(item, short=True) in self._paid

    def _was_halved(self, item: Pass) -> bool:
        """Return whether only replies to halves of a pass are cached."""
        key = self._key(item)
        if not key or self._is_paid(item):
            return False
        return any(other.startswith(f"{key}{half}") for other in self._paid for half in HALVES)


def order_passes(passes: Sequence[Pass], matches: Sequence[int]) -> list[Pass]:
    """Return passes with their best match first, then by number.

    A budget may stop the reading between them. ``matches`` are ranks, the best first.
    """
    place = {rank: at for at, rank in enumerate(matches)}
    return sorted(
        passes,
        key=lambda item: min(place.get(piece.rank, len(place)) for piece in item.pieces),
    )


def _status(outcomes: Sequence[_Outcome], given: Sequence[_Outcome], passes: int) -> SweepStatus:
    if len(given) == passes:
        return SweepStatus.ACCEPTED
    if any(outcome.report is not None for outcome in outcomes):
        return SweepStatus.PARTIAL
    stopped = bool(outcomes) and all(outcome.stop for outcome in outcomes)
    return SweepStatus.UNREAD if stopped else SweepStatus.FAILED
