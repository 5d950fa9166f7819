"""Makes a run's model calls within its budget, and counts them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from weakref import WeakKeyDictionary

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.errors import (
    BudgetError,
    ModelError,
    ModelOutputError,
    PromptCutError,
    PromptTooLongError,
)
from pgs_neo4j.events import OnEvent, UsageCounted, Warned, ignore
from pgs_neo4j.llm.calls.budget import (
    Amount,
    Budget,
    Purpose,
    SpendingLimits,
    Stop,
    StopKind,
    estimated_tokens,
)
from pgs_neo4j.llm.calls.ledger import CallCost, Ledger, Spent, Total, current_day, worst_case
from pgs_neo4j.llm.calls.outcome import (
    PROMPT,
    ROOM,
    Settlements,
    UpcomingCall,
    UsageDoubts,
    check_size,
    refuses_kind,
    without_retry,
)
from pgs_neo4j.llm.calls.proofs import OpenProof, Proofs, Verdict, returned_receipts
from pgs_neo4j.llm.calls.queue import ConcurrencyLimit, Scheduler, deadline_passed
from pgs_neo4j.llm.calls.waits import WaitReporter, stopping
from pgs_neo4j.llm.context import Advised, Contexts, Limited, ModelContext
from pgs_neo4j.llm.lessons import ToldLessons
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.llm.protocol import (
    LLM,
    Embedder,
    Named,
    Preparing,
    Relearning,
    is_free,
    shared_pace,
    take_lessons,
)
from pgs_neo4j.llm.retry import paused
from pgs_neo4j.llm.tracing import Pieces, complete_traced, stream_traced
from pgs_neo4j.model import Completion, Effort, Prompt, Usage
from pgs_neo4j.text.tokens import TextSize, measure

ENDING_SHARE = 0.2  # share of a run's time, reserved for its end after the sweeps
LONGEST_ENDING_S = 180.0

SIZES = 16  # sizes of prompts to remember; the oldest are dropped

UNSETTLED = "no sweep was paid for, because the synthesis would fail: {error}"

Hear = Callable[[str], Awaitable[None]]

_PACES: WeakKeyDictionary[LLM | Embedder, Pace] = WeakKeyDictionary()
"""The paces of models without an endpoint, shared by all runs as long as the model exists."""


@dataclass(slots=True)
class Calls:
    """The model calls of a run, with their limits and their usage.

    Times are seconds of the event loop's clock. Sweeping ends at ``ends_at``. The ``ledger``
    records the calls of a run before they are sent. With ``traced_text``, spans contain prompts and
    replies. ``uncounted`` is the number of calls without a proof that the model was given the whole
    prompt. ``upcoming`` are the kinds of calls that the run will make after its sweeps.
    """

    scheduler: Scheduler
    budget: Budget
    contexts: Contexts = field(default_factory=lambda: Contexts({}))
    proofs: Proofs = field(default_factory=Proofs)
    tokens_per_minute: int | None = None
    ends_at: float | None = None
    usage: Usage = field(default_factory=Usage)
    ledger: Ledger = field(default_factory=Ledger)
    waits: WaitReporter = field(default_factory=WaitReporter)
    traced_text: bool = False
    uncounted: int = 0
    settlements: Settlements = field(default_factory=Settlements)
    upcoming: tuple[UpcomingCall, ...] = ()
    _sizes: dict[tuple[str, str], TextSize] = field(default_factory=dict, repr=False)
    _settling: asyncio.Lock = field(default_factory=asyncio.Lock)
    _unsettled: ModelError | None = None
    _tried: int = 0  # test calls, which only show what a model accepts
    _doubts: UsageDoubts = field(default_factory=UsageDoubts)
    _told: ToldLessons = field(default_factory=ToldLessons)
    _own: dict[int, Pace] = field(default_factory=dict)
    _settled: list[asyncio.Future[None]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        config: PGSConfig,
        models: Mapping[str, ModelEntry],
        on_event: OnEvent = ignore,
        warn: Callable[[str], None] | None = None,
    ) -> Calls:
        """Return calls with the configured limits; the time of the run begins now.

        ``warn`` records a warning. By default, each warning is an event.
        """
        now = asyncio.get_running_loop().time()
        time_s = config.run_timeout_s
        ending_s = min(LONGEST_ENDING_S, ENDING_SHARE * time_s) if time_s else 0.0
        return cls(
            scheduler=Scheduler(
                limit=ConcurrencyLimit(config.max_concurrent_sweeps, config.max_concurrent_calls),
                timeout_s=config.model_timeout_s,
                deadline=now + time_s if time_s else None,
                hedge=config.hedge,
            ),
            budget=Budget(
                SpendingLimits(config.max_calls, config.max_tokens, config.max_cost), models
            ),
            contexts=Contexts(models),
            tokens_per_minute=config.tokens_per_minute,
            ends_at=now + time_s - ending_s if time_s else None,
            waits=WaitReporter(on_event),
            _doubts=UsageDoubts(warn or (lambda message: on_event(Warned(message)))),
        )

    async def complete(
        self,
        llm: LLM,
        prompt: Prompt,
        *,
        room: int,
        effort: Effort | None,
        priority: float | None = None,
        last: bool = False,
        divisible: bool = False,
        repeat_malformed: bool = True,
        renew: Callable[[], Prompt] | None = None,
        then: Callable[[Completion], Awaitable[None]] | None = None,
        on_call: Callable[[CallCost], None] = lambda _: None,
    ) -> Completion:
        """Return a whole reply of at most ``room`` tokens.

        ``on_call`` receives the cost of each try, which is final when this method returns. ``then``
        receives the reply before the next call gets its turn. Among waiting calls, the call with
        the highest ``priority`` is next, by default the longest call. A call with ``last`` may use
        the time reserved for the end, and all of the budget that is not reserved for the synthesis.
        If a ``divisible`` prompt is too large for the budget but a smaller one would fit, the
        sweeping continues after its refusal. ``repeat_malformed`` is false if the caller itself
        repeats the call after a malformed reply. ``renew`` builds the prompt again when its turn
        has come, because other replies may have shown that a shorter one is enough; it never
        returns a longer one. Raises ModelError, BudgetError, DeadlineError, and WaitError when the
        endpoint asks for too long a wait. After a WaitError, the run makes no further call.
        """
        estimated = estimated_tokens(prompt)
        room = self.contexts.reply_room(llm.name, estimated, room)
        if not last:
            await self._settle_upcoming(llm, prompt, room)
        purpose: Purpose = "rest" if last else "sweep"
        asked: Prompt | None = None
        verdict: Verdict = "unproven"

        async def once() -> Completion:
            nonlocal asked, verdict
            async with self.reserving(llm, estimated, room, purpose, divisible) as paid:
                on_call(paid)
                asked = asked or (renew() if renew is not None else prompt)
                with (
                    self.waits.hearing(asked),
                    self._learning(llm),
                    without_retry(of_malformed=not repeat_malformed),
                ):
                    reply = await complete_traced(llm, asked, room, effort, text=self.traced_text)
                paid.usage = reply.usage
                self._note_lessons(llm, reply)
                check_size(llm.name, reply, room)
                # Calls that wait for this call build their prompts from the results of its reply.
                verdict = await self._check_prompt(llm, asked, reply)
                return reply

        proven = True

        async def take(reply: Completion) -> None:
            nonlocal proven
            self.settlements.add(llm, effort, stream=False)
            proven = await self._accept(llm, asked or prompt, reply, room, verdict)
            if then is not None:
                await then(replace(reply, proven=proven))

        with stopping(self.budget, self.scheduler.timeout_s):
            reply = await self.scheduler.call(
                once,
                self.pace(llm),
                length=float(estimated),
                who=f"model {llm.name}",
                priority=priority,
                tokens=estimated + room,
                until=None if last else self.ends_at,
                then=take,
                on_wait=partial(self.waits.tell, prompt),
            )
        return replace(reply, proven=proven)

    async def stream(
        self, llm: LLM, prompt: Prompt, hear: Hear, *, room: int, effort: Effort | None
    ) -> Completion:
        """Pass a reply to ``hear`` piece by piece, and return the whole reply.

        The call is paid from the reserve. It is tried again only before the first piece. Each try
        is reserved and counted separately. Raises the errors of ``complete``; PromptCutError is
        raised after the last piece, when the endpoint has counted the prompt.
        """
        estimated = estimated_tokens(prompt)
        room = self.contexts.reply_room(llm.name, estimated, room)
        async with AsyncExitStack() as streaming:

            async def first() -> tuple[str | Completion | None, Pieces, CallCost]:
                async with AsyncExitStack() as opened:
                    paid = await opened.enter_async_context(
                        self.reserving(llm, estimated, room, "synthesis")
                    )
                    pieces = await opened.enter_async_context(
                        aclosing(stream_traced(llm, prompt, room, effort, text=self.traced_text))
                    )
                    piece = await anext(pieces, None)
                    streaming.push_async_exit(opened.pop_all())
                    return piece, pieces, paid

            with self._learning(llm), stopping(self.budget, self.scheduler.timeout_s):
                piece, pieces, paid = await self.scheduler.call(
                    first,
                    self.pace(llm),
                    length=float(estimated),
                    tokens=estimated + room,
                    who=f"model {llm.name}",
                    alone=True,
                    on_wait=partial(self.waits.tell, prompt),
                )
            reply = await self._hear_all(llm, piece, pieces, hear)
            paid.usage = reply.usage
            self._note_lessons(llm, reply)
        self.settlements.add(llm, effort, stream=True)
        verdict = await self._check_prompt(llm, prompt, reply)
        return replace(reply, proven=await self._accept(llm, prompt, reply, room, verdict))

    def needs_settling(self, call: UpcomingCall) -> bool:
        """Return whether an endpoint has not yet answered a call of this kind."""
        return isinstance(call.llm, Limited) and not self.settlements.know(call)

    async def _settle_upcoming(self, llm: LLM, prompt: Prompt, room: int) -> None:
        """Test each kind of later call that its endpoint has not answered yet.

        The arguments describe the next call. A test is skipped if the budget could not pay for both
        the test and that call. Raises ModelError if an endpoint would refuse a later call, so that
        the run does not pay for sweeps in vain. A temporary failure, such as a rate limit, is only
        a warning.
        """
        first = self.budget.most(llm.name, estimated_tokens(prompt), room)
        # One call makes the tests, and all other calls wait for their result.
        async with self._settling:
            if self._unsettled is not None:
                raise self._unsettled
            while self.upcoming:
                call = self.upcoming[0]
                tried = self.budget.most(call.llm.name, estimated_tokens(PROMPT), ROOM)
                if self.needs_settling(call) and self.budget.allows(tried + first):
                    if call.llm is llm and isinstance(llm, Preparing):
                        await llm.prepare(prompt, max_tokens=room)
                    try:
                        await self._settle(call)
                    except BudgetError:
                        pass  # the model of the next upcoming call may have a lower price
                    except PromptTooLongError:
                        # There is no memory for the next call, so its caller sends a smaller one.
                        return
                    except ModelError as error:
                        if refuses_kind(error):
                            self._unsettled = ModelError(UNSETTLED.format(error=error))
                            raise self._unsettled from None
                        self._doubts.warn(
                            f"{call.llm.name} could not be tried before the first sweep: {error}"
                        )
                self.upcoming = self.upcoming[1:]

    async def _settle(self, call: UpcomingCall) -> None:
        """Make a small call of this kind.

        Raises ModelError if it fails, and StoppedError if a limit of the run ends it.
        """
        llm, estimated = call.llm, estimated_tokens(PROMPT)

        async def once() -> None:
            async with self.reserving(llm, estimated, ROOM, "rest", typical=False) as paid:
                with self._learning(llm):
                    reply = await self._try(call)
                paid.usage = reply.usage
                self._note_lessons(llm, reply)

        try:
            with stopping(self.budget, self.scheduler.timeout_s):
                await self.scheduler.call(
                    once,
                    self.pace(llm),
                    length=float(estimated),
                    tokens=estimated + ROOM,
                    who=f"model {llm.name}",
                    until=self.ends_at,
                    alone=True,
                    on_wait=partial(self.waits.tell, PROMPT),
                )
        except ModelOutputError as error:
            # An empty answer or a refusal to answer still shows that the endpoint accepts the call.
            # A malformed reply, which has a retry, does not show that.
            if error.retry is not None:
                raise
        self.settlements.add(llm, call.effort, stream=call.stream)

    async def _try(self, call: UpcomingCall) -> Completion:
        """Send the test prompt in the way of an upcoming call, streamed or not."""
        llm, effort = call.llm, call.effort
        if not call.stream:
            return await complete_traced(llm, PROMPT, ROOM, effort, text=self.traced_text)
        async with aclosing(
            stream_traced(llm, PROMPT, ROOM, effort, text=self.traced_text)
        ) as pieces:
            return await self._hear_all(llm, await anext(pieces, None), pieces, _ignore_piece)

    def _note_lessons(self, llm: LLM, reply: Completion) -> None:
        """Warn of doubtful counts and of lessons that a reply shows about its endpoint."""
        self._doubts.note(llm.name, reply)
        for lesson in self.take_lessons(llm):
            self._doubts.warn(lesson)

    def take_lessons(self, model: object) -> tuple[str, ...]:
        """Return sentences about a model's lessons that this run has not reported yet.

        Lessons from other runs in this process are included.
        """
        return take_lessons(model, self._told)

    @property
    def any_paid(self) -> bool:
        """Whether the run has made any call besides test calls."""
        return self.usage.calls > self._tried

    def pass_tokens(self, llm: LLM, most: int | None, room: int) -> int | None:
        """Return the maximum input tokens of a pass: ``most``, or less in a small context."""
        return self.contexts.input_room(llm.name, most, room)

    def asks_receipts(self, llm: LLM) -> bool:
        """Return whether prompts need receipts.

        They do if the server may cut a prompt and its counts of tokens cannot show that.
        """
        if not self._may_cut(llm):
            return False
        known = self.contexts.of(llm.name)
        return known is None or known.origin == "cut" or not self.proofs.counts(llm.name)

    async def lacks_counts(self, llm: LLM, prompt: Prompt) -> bool:
        """Return whether a prompt needs receipts.

        Unlike ``asks_receipts``, this is also true if no count of a similar text is known.
        """
        if self.asks_receipts(llm):
            return True
        return self._may_cut(llm) and not self.proofs.knows(llm.name, await self._measure(prompt))

    def _may_cut(self, llm: LLM) -> bool:
        """Return whether a model's server may cut a prompt.

        It may if it has cut one before, or if it is not known to refuse prompts that are too long.
        """
        if not isinstance(llm, Limited):
            return False
        known = self.contexts.of(llm.name)
        if known is not None and known.origin == "cut":
            return True
        return not (llm.refuses_long_prompts or (known is not None and known.refuses))

    async def _check_prompt(self, llm: LLM, prompt: Prompt, reply: Completion) -> Verdict:
        """Return whether the model was given the whole prompt, and learn from a whole one.

        A server that refuses long prompts needs no proof. But a gateway may answer at its address
        and cut the prompt, so the count of tokens must not be too small. A model without a known
        server is trusted, unless it counts fewer tokens than the prompt must have.
        """
        if not isinstance(llm, Limited):
            if reply.counted is None:
                return "read"
            return "cut" if reply.counted < (await self._measure(prompt)).floor else "read"
        if self.contexts.is_new_model(llm.name, reply.model):
            self._forget(llm)
            self.contexts.forget(llm.name)
            await self.contexts.ask(llm)
        size = await self._measure(prompt)
        verdict = self._judge(llm, prompt, reply, size)
        if verdict == "read":
            self.proofs.learn(llm.name, size, reply.counted)
            counts = self.proofs.is_count(llm.name, reply.counted)
            if counts and reply.counted and self._is_surely_read(llm, prompt, reply):
                self.contexts.learn_whole(llm.name, reply.counted)
        return verdict

    async def _accept(
        self, llm: LLM, prompt: Prompt, reply: Completion, room: int, verdict: Verdict
    ) -> bool:
        """Return whether the verdict proves that the model read the whole prompt.

        Raises PromptCutError if the model was not given the whole prompt.
        """
        if verdict == "unproven":
            self.uncounted += 1
        if verdict != "cut":
            return verdict == "read"
        size = await self._measure(prompt)
        counts = self.proofs.is_count(llm.name, reply.counted)
        short = counts and self.proofs.is_short(llm.name, size, reply.counted or 0)
        short = short or not isinstance(llm, Limited)
        if not self._may_cut(llm):
            self.proofs.distrust(llm.name)
        if short and reply.counted is not None:
            self.contexts.learn_cut(llm.name, reply.counted, room)
        raise PromptCutError(
            _explain_cut(llm, prompt, reply.counted, int(size.floor)),
            prompt=reply.counted,
            usage=reply.usage,
        )

    def _is_surely_read(self, llm: LLM, prompt: Prompt, reply: Completion) -> bool:
        """Return whether something besides the count of tokens proves that a prompt was read.

        The count alone is no proof, because a server may count first and cut the prompt later.
        """
        return not self._may_cut(llm) or returned_receipts(prompt, reply.text) == "all"

    async def ask_context(self, llm: LLM) -> None:
        """Ask a server for its model's context, and forget a model that was replaced.

        Raises nothing.
        """
        if await self.contexts.ask_again(llm):
            self._forget(llm)

    def _forget(self, llm: LLM) -> None:
        """Forget what a model's replies have shown, because another model now has its name."""
        self.proofs.forget(llm.name)
        self.settlements.forget(llm)
        if isinstance(llm, Relearning):
            llm.forget_lessons()

    def _judge(self, llm: LLM, prompt: Prompt, reply: Completion, size: TextSize) -> Verdict:
        """Return whether the model was given the whole prompt, which has this size."""
        if not self._may_cut(llm):
            return "cut" if self.proofs.belies(llm.name, size, reply.counted) else "read"
        receipts = returned_receipts(prompt, reply.text)
        context = self.contexts.of(llm.name)
        return self.proofs.judge(llm.name, size, reply.counted, receipts, context)

    async def keep_proof(self, llm: LLM, prompt: Prompt, reply: Completion) -> OpenProof | None:
        """Return evidence that may later prove that a prompt was read or cut; None without any.

        Later replies may reveal a cut that this reply has hidden, even if it comes from the cache.
        """
        if not isinstance(llm, Limited):
            return None
        receipts = returned_receipts(prompt, reply.text)
        needs_count = not reply.proven or receipts == "all"
        if needs_count and not self.proofs.is_count(llm.name, reply.counted):
            return None
        return OpenProof(await self._measure(prompt), reply.counted, receipts)

    def settle_proof(self, llm: LLM, proof: OpenProof) -> Verdict:
        """Judge a prompt once more with what later replies have shown about the model.

        The first replies of a run arrive too early to judge: only a longer prompt shows where the
        server cuts, and only a shorter one shows how many tokens a text of this kind has.
        """
        if not self._may_cut(llm):
            belied = self.proofs.belies(llm.name, proof.size, proof.counted)
            return "cut" if belied else "read"
        context = self.contexts.of(llm.name)
        return self.proofs.judge(llm.name, proof.size, proof.counted, proof.receipts, context)

    async def _measure(self, prompt: Prompt) -> TextSize:
        """Return the size of a prompt, measured in another thread and remembered."""
        key = (prompt.system, prompt.user)
        size = self._sizes.get(key)
        if size is None:
            size = self._sizes[key] = await asyncio.to_thread(measure, prompt.system + prompt.user)
            if len(self._sizes) > SIZES:
                del self._sizes[next(iter(self._sizes))]
        return size

    def fits(self, llm: LLM, prompt: Prompt) -> bool:
        """Return whether a prompt and a reply fit in the model's context, as far as it is known."""
        return self.contexts.fits(llm.name, estimated_tokens(prompt))

    def reply_room(self, llm: LLM, prompt: Prompt, room: int) -> int:
        """Return the maximum tokens of a reply: ``room``, or less in a small context."""
        return self.contexts.reply_room(llm.name, estimated_tokens(prompt), room)

    @contextmanager
    def _learning(self, llm: LLM) -> Iterator[None]:
        """Learn a model's context from the refusal of a prompt that is too long."""
        try:
            yield
        except PromptTooLongError as error:
            if error.context is not None:
                refused = ModelContext(error.context, "refusal", refuses=error.refuses)
                self.contexts.learn(llm.name, refused)
            raise

    def spent(self) -> Spent:
        """Return the spending so far; calls in flight count at their worst case."""
        return sum((call.worst for call in self.ledger.in_flight), self.settled())

    def spent_before(self) -> Total:
        """Return the spending before the run's record began, as its first total."""
        return Total(0, self.spent(), self.ledger.by_day())

    def settled(self) -> Spent:
        """Return the spending on calls that have ended."""
        return Spent(self.usage, self.budget.cost)

    def count_cached(self, reply: Completion) -> None:
        """Count a reply that came from the cache."""
        self.usage += reply.usage
        self.ledger.settle(current_day(), Spent(reply.usage))
        self.waits.on_event(UsageCounted(self.usage, self.budget.cost))

    @property
    def bounded(self) -> bool:
        """Whether the budget has limits, so that the order of calls matters."""
        return self.budget.bounds.any

    def close(self, why: str) -> None:
        """Refuse all further calls, including calls that already wait for their turn."""
        self.budget.closed = self.budget.closed or Stop(StopKind.BUDGET, why)

    def sweeping_stop(self) -> Stop | None:
        """Return why sweeping has stopped; None while it may continue."""
        if self.budget.closed:
            return self.budget.closed
        late = self.ends_at is not None and asyncio.get_running_loop().time() >= self.ends_at
        return Stop.from_error(deadline_passed()) if late else None

    async def _hear_all(
        self, llm: LLM, piece: str | Completion | None, pieces: Pieces, hear: Hear
    ) -> Completion:
        """Pass the pieces of a reply to ``hear`` before the deadline; return the whole reply.

        Raises DeadlineError, and ModelOutputError if the pieces end without a Completion.
        """
        try:
            async with asyncio.timeout_at(self.scheduler.deadline):
                while piece is not None:
                    if isinstance(piece, Completion):
                        return piece
                    await hear(piece)
                    piece = await anext(pieces, None)
        except TimeoutError:
            raise deadline_passed() from None
        own = "" if isinstance(llm, Limited) else "; yield the Completion last"
        raise ModelOutputError(f"the reply of the model {llm.name} stopped before its end{own}")

    async def _reserve(
        self, llm: Named, estimated: int, room: int, purpose: Purpose, divisible: bool
    ) -> Amount:
        """Reserve the maximum cost of a call.

        The first call of a model runs alone, because its reply shows the true size of prompts. A
        call that does not fit waits for calls in flight, which may cost less than they reserved.
        """
        while True:
            if self.budget.knows(llm.name) or self.budget.idle:
                amount = self.budget.most(llm.name, estimated, room)
                try:
                    return self.budget.reserve(amount, purpose)
                except BudgetError as error:
                    if self.budget.idle or self.budget.closed:
                        # A smaller prompt may still fit: a part of a divisible prompt or, before
                        # the first paid call, the prompt of another partition.
                        first = divisible or not self.any_paid
                        smaller = first and self.budget.fits(llm.name, room)
                        if purpose == "sweep" and not smaller:
                            self.budget.closed = self.budget.closed or Stop.from_error(error)
                        raise
            settled = asyncio.get_running_loop().create_future()
            self._settled.append(settled)
            with paused():
                await settled

    @asynccontextmanager
    async def reserving(
        self,
        llm: Named,
        estimated: int,
        room: int,
        purpose: Purpose,
        divisible: bool = False,
        *,
        typical: bool = True,
    ) -> AsyncIterator[CallCost]:
        """Reserve and record the maximum cost of a call, then count its actual cost.

        The size of a ``typical`` prompt helps to predict the size of the model's other prompts.
        """
        amount = await self._reserve(llm, estimated, room, purpose, divisible)
        cost = self.budget.worst_cost(llm.name, amount, free=is_free(llm))
        paid = CallCost(worst_case(estimated, cost))
        try:
            await self.ledger.send(paid, free=is_free(llm))
            yield paid
        except BaseException as error:
            paid.fail(error)
            raise
        finally:
            self.budget.release(amount)
            # Roles and separators dominate a prompt of a few words. Its ratio of actual to
            # estimated tokens would make other prompts look costlier than they are.
            size = estimated if typical else 0
            paid.counted = self._count_usage(llm, size, amount, paid.usage)
            self._tried += 0 if typical else paid.counted.usage.calls
            for settled in self._settled:
                if not settled.done():
                    settled.set_result(None)
            self._settled.clear()
            self.waits.on_event(UsageCounted(self.usage, self.budget.cost, llm.name))
            await self.ledger.end(paid)

    def _count_usage(
        self, llm: Named, estimated: int, amount: Amount, usage: Usage | None
    ) -> Spent:
        """Count the usage of a call, or its worst case if unknown; return what was counted."""
        free = is_free(llm)
        if usage is None:
            usage = worst_case(estimated, None).usage
            cost = self.budget.lose(llm.name, amount, free=free)
        else:
            cost = self.budget.spend(llm.name, estimated, usage, free=free)
        self.usage += usage
        return Spent(usage, cost)

    def pace(self, llm: LLM | Embedder) -> Pace:
        """Return the pace that all users of an endpoint share, or else this model's own pace."""
        pace = shared_pace(llm)
        if pace is None:
            try:
                pace = _PACES.setdefault(llm, Pace())
            except TypeError:
                # the model cannot be a weak key, so its pace is shared only within this run
                pace = self._own.setdefault(id(llm), Pace())
        pace.allow(self.tokens_per_minute)
        return pace


def explain_late_cut(llm: LLM) -> str:
    """Return a sentence about a cut that only later replies revealed, with advice."""
    return _cut_sentence(llm, "it counted no more tokens than its context holds")


def _explain_cut(llm: LLM, prompt: Prompt, counted: int | None, floor: int) -> str:
    """Return a sentence about a cut prompt that names the evidence, with advice."""
    how = "its reply does not repeat the codes of the prompt"
    if counted is not None and not prompt.receipts:
        how = f"it counted {counted:,} tokens, fewer than for similar prompts"
    if counted is not None and counted < floor:
        how = f"it counted {counted:,} tokens where the prompt has at least {floor:,}"
    return _cut_sentence(llm, how)


def _cut_sentence(llm: LLM, how: str) -> str:
    if not isinstance(llm, Limited):
        return (
            f"the model {llm.name} was not given all of the prompt ({how}); send it the whole "
            "prompt, or set counted to all prompt tokens, including those from a cache "
            "('pgs help extending' says how)"
        )
    larger = llm.larger_context if isinstance(llm, Advised) else ""
    return (
        f"the server of {llm.name} cut the prompt and answered anyway ({how}); "
        f"{larger or 'give the model a larger context on the server'}, or write its real context "
        f"under [models.{llm.name!r}] in pgs.toml"
    )


async def _ignore_piece(piece: str) -> None:
    """Ignore a piece of a test call's reply."""
