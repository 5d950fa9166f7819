"""Tools for questions: plan, ask, fetch the result, continue reading, and cancel."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from typing import Annotated, cast

from pydantic import Field

from pgs_neo4j.config import Knobs, lower_limit
from pgs_neo4j.engine import PGS, Request
from pgs_neo4j.errors import UnknownRunError, UsageError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.mcp_server.looking import Graph
from pgs_neo4j.mcp_server.questions import Advance, LiveQuestion, Work
from pgs_neo4j.mcp_server.replies import PlanReply, RunReply
from pgs_neo4j.mcp_server.results import plan_reply, question_reply, read_result
from pgs_neo4j.mcp_server.service import Call, McpService
from pgs_neo4j.mcp_server.tool_rules import tool_errors
from pgs_neo4j.model import Answer, Mode

SESSION = "mcp"
Question = Annotated[str, Field(max_length=20_000, description="The question, in full sentences.")]
Session = Annotated[
    str, Field(min_length=1, max_length=120, description="Questions that share what was read.")
]
WaitS = Annotated[
    float,
    Field(ge=0, description="Seconds to wait for the answer; longer work stays in progress."),
]
MaxCost = Annotated[
    float | None, Field(gt=0, description="Most that this run may cost; only lowers the setting.")
]
MaxPartitions = Annotated[int | None, Field(ge=1, description="Most partitions to read.")]
MaxCalls = Annotated[
    int | None, Field(ge=1, description="Most calls of models; only lowers the setting.")
]
MaxTokens = Annotated[
    int | None, Field(ge=1, description="Most tokens of all calls; only lowers the setting.")
]
AskMode = Annotated[
    Mode,
    Field(
        description=(
            "full reads what fits the question, continue what the session has not read yet, and "
            "targeted of that only what fits."
        )
    ),
]
Strict = Annotated[
    bool | None, Field(description="Strike sentences that what they cite does not say.")
]
FullSweep = Annotated[
    bool, Field(description="Read all partitions again, also those that were read before.")
]
Run = Annotated[str, Field(description="'run' of an earlier reply.")]
Offset = Annotated[int, Field(ge=0, description="Character of the answer to begin at.")]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run besides its cost, named like the settings; None means no limit."""

    max_calls: int | None = None
    max_tokens: int | None = None
    max_sweep_partitions: int | None = None

    def lowered(self, stored: object) -> Limits:
        """Return the lower of each limit here and the same limit in the stored knobs of a run."""
        own = asdict(self).items()
        return Limits(**{name: lower_limit(stored, name, most) for name, most in own})


@dataclass(frozen=True, slots=True)
class AskingTools:
    """Tools that call models or write partitions."""

    service: McpService

    @tool_errors
    async def plan(
        self,
        ctx: Call,
        question: Question,
        graph: Graph = None,
        session: Session = SESSION,
        mode: AskMode = "full",
        max_cost: MaxCost = None,
        max_calls: MaxCalls = None,
        max_tokens: MaxTokens = None,
        max_sweep_partitions: MaxPartitions = None,
        strict: Strict = None,
    ) -> PlanReply:
        """Tell what a question would read and cost. No language model is called.

        A graph without partitions is partitioned first, which can take minutes. Partitions that
        there are stay, and the note says whether a question would replace them first.
        """
        stored = await self.service.graph(ctx, graph)
        caller = self.service.caller(ctx)
        caller.require("asker")
        limits = Limits(max_calls, max_tokens, max_sweep_partitions)
        request = Request(
            question,
            graph=stored.name,
            mode=mode,
            session=caller.stored_session(session),
            knobs=self._knobs(self._lower_cost(max_cost), limits, strict),
        )
        plan = await self.service.engine(caller).plan(request)
        return plan_reply(plan, session, self.service.tokens(0.7))

    @tool_errors
    async def ask(
        self,
        ctx: Call,
        question: Question,
        graph: Graph = None,
        session: Session = SESSION,
        mode: AskMode = "full",
        wait_s: WaitS = 60.0,
        max_cost: MaxCost = None,
        max_calls: MaxCalls = None,
        max_tokens: MaxTokens = None,
        max_sweep_partitions: MaxPartitions = None,
        strict: Strict = None,
    ) -> RunReply:
        """Read all of a graph that matters to a question, and answer with citations.

        Whole partitions are read at full text, so it also tells what is missing. That takes
        minutes and costs model calls: see plan first. When wait_s is over, the run stays in
        progress, and result fetches its answer. A canceled call cancels the run, which can be
        resumed.
        """
        stored = await self.service.graph(ctx, graph)
        caller = self.service.caller(ctx)
        live = LiveQuestion(
            id=self.service.pgs.runs.new_id(),
            graph=stored.name,
            session=caller.stored_session(session),
            question=question,
            max_cost=self._lower_cost(max_cost),
            scope=caller.scope,
        )
        limits = Limits(max_calls, max_tokens, max_sweep_partitions)
        work = self._asked(self.service.engine(caller), live, mode, limits, strict)
        return await self._start(ctx, live, work, wait_s)

    @tool_errors
    async def continue_reading(
        self,
        ctx: Call,
        graph: Graph = None,
        session: Session = SESSION,
        question: Annotated[
            str | None, Field(max_length=20_000, description="Default: the last one.")
        ] = None,
        run: Annotated[
            str | None, Field(description="Resume this run, which has no answer yet, instead.")
        ] = None,
        wait_s: WaitS = 60.0,
        max_cost: MaxCost = None,
        max_calls: MaxCalls = None,
        max_tokens: MaxTokens = None,
        max_sweep_partitions: MaxPartitions = None,
        strict: Strict = None,
        full_sweep: FullSweep = False,
    ) -> RunReply:
        """Read what a session has not read yet, and answer again; or resume a run.

        What was read before is not paid for again. If nothing is left to read, an error says so;
        full_sweep then reads and pays for everything once more.
        """
        if run is not None and full_sweep:
            raise UsageError("a run is resumed as it was asked; leave out run or full_sweep")
        caller = self.service.caller(ctx)
        pgs = self.service.engine(caller)
        most = self._lower_cost(max_cost)
        limits = Limits(max_calls, max_tokens, max_sweep_partitions)
        if run is not None:
            stored = (await read_result(self.service, caller, run)).stored
            asked, knobs = str(stored.properties["question"]), stored.properties["config"]
            most = lower_limit(knobs, "max_cost", most)
            limits = limits.lowered(knobs)
            former = LiveQuestion(
                stored.id,
                stored.graph,
                stored.session,
                asked,
                most,
                resumed=True,
                scope=caller.scope,
            )
            return await self._start(ctx, former, self._resumed(pgs, former, limits), wait_s)
        named = await self.service.graph(ctx, graph)
        own = caller.stored_session(session)
        if question is None:
            latest = await pgs.runs(named.name, own, asked=True, limit=1)
            if not latest:
                raise UnknownRunError(f"session {session} of graph {named.name} has no question")
            question = latest[0].question
        new = LiveQuestion(pgs.runs.new_id(), named.name, own, question, most, scope=caller.scope)
        work = self._asked(pgs, new, "continue", limits, strict, full_sweep=full_sweep)
        return await self._start(ctx, new, work, wait_s)

    @tool_errors
    async def cancel(self, ctx: Call, run: Run) -> RunReply:
        """Stop a question that is in progress here. Its run can be resumed."""
        caller = self.service.caller(ctx)
        caller.require("asker")
        live = self.service.questions.live.find(run, caller)
        if live is None:
            return (await read_result(self.service, caller, run)).reply()
        await self.service.questions.live.cancel(live)
        return await question_reply(self.service, caller, live, 0)

    async def _start(self, ctx: Call, live: LiveQuestion, work: Work, wait_s: float) -> RunReply:
        caller = self.service.caller(ctx)
        caller.require("asker")
        await self.service.questions.start(live, caller, work)
        try:
            await wait_for(self.service, ctx, live, wait_s)
        except asyncio.CancelledError:
            if live.task is not None:
                live.task.cancel()
            raise
        if live.failure is not None:
            if live.advance.run:
                live.failure.add_note(f"continue_reading with run {live.id} resumes it")
            raise live.failure
        return await question_reply(self.service, caller, live, 0)

    def _asked(
        self,
        pgs: PGS,
        live: LiveQuestion,
        mode: Mode,
        limits: Limits,
        strict: bool | None,
        *,
        full_sweep: bool = False,
    ) -> Work:
        """Return the work that answers a question in a new run."""

        async def execute(on_event: OnEvent, max_cost: float | None) -> Answer:
            request = Request(
                live.question,
                graph=live.graph,
                mode=mode,
                session=live.session,
                full_sweep=full_sweep,
                knobs=self._knobs(max_cost, limits, strict),
                run_id=live.id,
            )
            return await pgs.execute(request, on_event=on_event)

        return execute

    def _resumed(self, pgs: PGS, live: LiveQuestion, limits: Limits) -> Work:
        """Return the work that resumes a run that ended without an answer."""

        async def resume(on_event: OnEvent, max_cost: float | None) -> Answer:
            knobs = self._knobs(max_cost, limits)
            return await pgs.resume(live.id, on_event=on_event, **knobs)

        return resume

    def _lower_cost(self, max_cost: float | None) -> float | None:
        return _lower(max_cost, self.service.pgs.config.max_cost)

    def _knobs(self, max_cost: float | None, limits: Limits, strict: bool | None = None) -> Knobs:
        """Return knobs for strictness, and for limits that are lower than the settings."""
        config = self.service.pgs.config
        lower = {name: _lower(most, getattr(config, name)) for name, most in asdict(limits).items()}
        limit_values = {"max_cost": max_cost, **lower, "strict": strict}
        return cast(
            "Knobs", {name: value for name, value in limit_values.items() if value is not None}
        )


@dataclass(frozen=True, slots=True)
class ResultTool:
    """The tool that fetches answers. It only reads."""

    service: McpService

    @tool_errors
    async def result(
        self, ctx: Call, run: Run, wait_s: WaitS = 0.0, offset: Offset = 0
    ) -> RunReply:
        """Fetch the answer of a run, or how far it is; offset leads through a long answer."""
        caller = self.service.caller(ctx)
        live = self.service.questions.live.find(run, caller)
        if live is None:
            return (await read_result(self.service, caller, run)).reply(offset)
        await wait_for(self.service, ctx, live, wait_s)
        return await question_reply(self.service, caller, live, offset)


async def wait_for(service: McpService, ctx: Call, live: LiveQuestion, wait_s: float) -> None:
    """Wait for a question, at most as long as the bounds allow, and report its progress."""

    async def report(advance: Advance) -> None:
        await ctx.report_progress(advance.value, advance.total, advance.line)

    await service.questions.wait(live, min(wait_s, service.bounds.most_wait_s), report)


def _lower(limit_values: float | None, configured: float | None) -> float | None:
    """Return the limit that a caller wants if it is below the configured limit, else None."""
    if limit_values is None or (configured is not None and configured <= limit_values):
        return None
    return limit_values
