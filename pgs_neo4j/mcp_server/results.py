"""Builds replies about plans, and about runs: in progress, answered, or ended without an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgs_neo4j.engine import StoredRun
from pgs_neo4j.engine.live_work import is_active
from pgs_neo4j.errors import UnknownRunError
from pgs_neo4j.mcp_server.questions import LiveQuestion
from pgs_neo4j.mcp_server.replies import (
    AnswerText,
    CitedNode,
    PlannedPartition,
    PlannedTotals,
    PlanReply,
    RunCoverage,
    RunReply,
)
from pgs_neo4j.mcp_server.service import AgentCaller, McpService, unknown_run
from pgs_neo4j.mcp_server.tool_rules import cut_text, fit_items
from pgs_neo4j.model import Answer, Citation, Coverage, Plan, PlannedTotal
from pgs_neo4j.text.prompt_text import clean_text
from pgs_neo4j.text.shown import counted, one_line, plain

MOST_WARNINGS = 5
LINE = 300
ELSEWHERE = "it was asked elsewhere, and is in progress; ask again later"
RESUMABLE = "continue_reading with this run resumes it; what was read is not paid for again"


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A stored run that the caller may see, and its answer if there is one."""

    service: McpService
    stored: StoredRun
    session: str
    answer: Answer | None

    def reply(self, offset: int = 0) -> RunReply:
        """Return a reply about the run, with its answer from character ``offset`` on."""
        properties = self.stored.properties
        reply = RunReply(
            run=self.stored.id,
            state=self.stored.status,
            graph=self.stored.graph,
            session=self.session,
            question=plain(str(properties.get("question", ""))),
            error=one_line(str(properties.get("error") or ""), LINE),
        )
        if self.answer is not None:
            return with_answer(reply, self.answer, offset, self.service)
        running = self.stored.status == "running" and not self.stored.silent
        return reply.model_copy(update={"note": ELSEWHERE if running else RESUMABLE})


async def read_result(service: McpService, caller: AgentCaller, run: str) -> StoredResult:
    """Return a stored run. Raises UnknownRunError, also for the run of another caller."""
    pgs = service.engine(caller)
    try:
        stored = await pgs.runs.get(run)
    except UnknownRunError:
        raise unknown_run(run) from None
    own = caller.own_session(stored.session)
    if own is None or not caller.sees(stored.graph):
        raise unknown_run(run)
    answered = bool(stored.properties.get("details"))
    answer = await pgs.runs.answer(stored.id) if answered else None
    return StoredResult(service, stored, own, answer)


async def question_reply(
    service: McpService, caller: AgentCaller, live: LiveQuestion, offset: int
) -> RunReply:
    """Return a reply about a question that this process was asked.

    The answer of an ended run is read from the database, since the copy in memory may quote text
    that was deleted later. Raises UnknownRunError if the answer no longer exists.
    """
    if not is_active(live) and (live.answer is not None or live.advance.run):
        try:
            stored = (await read_result(service, caller, live.id)).reply(offset)
            return stored.model_copy(update={"error": live.error or stored.error})
        except UnknownRunError:  # the run's session was deleted, or everything in the database
            if live.answer is not None:
                raise
    state = "running" if is_active(live) else "interrupted" if live.cancelled else "failed"
    reply = RunReply(
        run=live.id,
        state=state,
        graph=live.graph,
        session=caller.own_session(live.session) or "",
        question=plain(live.question),
        progress=live.advance.line,
        error=one_line(live.error, LINE),
    )
    note = "result with this run and wait_s fetches the answer" if is_active(live) else ""
    return reply.model_copy(update={"note": note})


def with_answer(reply: RunReply, answer: Answer, offset: int, service: McpService) -> RunReply:
    """Add an answer to a reply, cut so that the reply stays within its token limit."""
    text = plain(answer.text)
    piece, following = cut_text(text, offset, service.tokens(0.6))
    cited = _list_cited_nodes(answer, piece)
    fitting = fit_items(cited, service.tokens(0.25))
    left = len(cited) - len(fitting)
    notes = (
        f"the answer is cut; result with offset={following} has the rest" if following else "",
        f"{counted(left, 'citation')} left out to keep the reply short" if left else "",
        f"a limit ended the run early: {one_line(answer.stopped, LINE)}" if answer.stopped else "",
        "" if answer.coverage.exhausted else "continue_reading reads what the session has not read",
    )
    return reply.model_copy(
        update={
            "run": answer.run,
            "state": "partial" if answer.partial else "complete",
            "from_model": AnswerText(
                text=piece,
                offset=min(offset, len(text)),
                characters=len(text),
                next_offset=following,
                citations=fitting,
            ),
            "coverage": _coverage(answer.coverage),
            "own_coverage": _coverage(answer.own_coverage),
            "model_calls": answer.usage.calls,
            "tokens": answer.usage.tokens,
            "cache_read_tokens": answer.usage.cache_read_tokens,
            "cache_write_tokens": answer.usage.cache_write_tokens,
            "cost": answer.cost,
            "contexts": _contexts(answer.contexts),
            "warnings": [one_line(text, LINE) for text in answer.warnings[:MOST_WARNINGS]],
            "note": "; ".join(filter(None, notes)),
        }
    )


def plan_reply(plan: Plan, session: str, tokens: int) -> PlanReply:
    """Return a reply about a plan, with as many partitions as fit into ``tokens``."""
    entries = [
        PlannedPartition(
            partition=one.partition,
            nodes=one.nodes,
            passes=one.passes,
            reason=one_line(one.reason, LINE),
        )
        for one in plan.sweeps
    ]
    fitting = fit_items(entries, tokens)
    left = len(entries) - len(fitting)
    short = f"{counted(left, 'partition')} left out to keep the reply short" if left else ""
    return PlanReply(
        graph=plan.graph,
        session=session,
        mode=plan.mode,
        partition_count=len(entries),
        partitions=fitting,
        model_calls=plan.calls,
        input_tokens=plan.input_tokens,
        output_tokens=plan.output_tokens,
        cost_low=plan.low,
        cost_high=plan.high,
        without_flags=_totals(plan.without_flags),
        with_flags=_totals(plan.with_flags),
        most=_totals(plan.most),
        limits=one_line(plan.budget, LINE),
        contexts=_contexts(plan.contexts),
        context_advice=[one_line(text, LINE) for text in plan.context_advice],
        note="; ".join(filter(None, [one_line(plan.partitions_note, LINE), short])),
    )


def _totals(total: PlannedTotal) -> PlannedTotals:
    return PlannedTotals(
        partitions=total.partitions,
        calls=total.calls,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        cost=total.cost,
    )


def _list_cited_nodes(answer: Answer, piece: str) -> list[CitedNode]:
    """Return each node that a piece of an answer cites, in the order of the answer's citations."""
    valid: dict[str, Citation] = {}
    for citation in answer.synthesis.citations:
        if citation.valid:
            valid.setdefault(f"P{citation.partition}:{citation.alias}", citation)
    return [
        CitedNode(
            name=name,
            title=one_line(clean_text(citation.title or ""), LINE),
            element_id=citation.element_id,
        )
        for name, citation in valid.items()
        if name in piece
    ]


def _contexts(contexts: Sequence[tuple[str, str]]) -> dict[str, str]:
    return {one_line(name, LINE): text for name, text in contexts}


def _coverage(coverage: Coverage) -> RunCoverage:
    return RunCoverage(
        partitions_read=coverage.partitions_swept,
        partitions=coverage.partitions_total,
        nodes_read=coverage.nodes_read,
        nodes_unproven=coverage.nodes_unproven,
        nodes=coverage.nodes_total,
    )
