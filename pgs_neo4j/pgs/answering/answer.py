"""Answers a question from the results of a search: one prompt, one call, and checks."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from pgs_neo4j.database import queries
from pgs_neo4j.errors import PGSError
from pgs_neo4j.events import ignore
from pgs_neo4j.model import Answer, Coverage, Crosscheck, Routing, Shown, Synthesis, Usage
from pgs_neo4j.pgs.answering.context import Context
from pgs_neo4j.pgs.answering.model_help import (
    asks_for_keywords,
    orders_by_model,
    rerank_found,
    search_by_model_keywords,
)
from pgs_neo4j.pgs.answering.reading import ReadReply, shown_citations
from pgs_neo4j.pgs.answering.record import AnswerOrder, AnswerRecord, record_answer
from pgs_neo4j.pgs.answering.reply import CheckedReply, ask_within_limits, check_prices, fit_prompt
from pgs_neo4j.pgs.answering.statement import read_model_statement
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.pipeline import tidy_replies
from pgs_neo4j.pgs.route import route_question
from pgs_neo4j.pgs.runs import answers, session
from pgs_neo4j.pgs.runs.answer_rows import write_search_answer
from pgs_neo4j.pgs.runs.answers import result_properties
from pgs_neo4j.pgs.runs.runs import StoredRun, find_run_by_key
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.synthesis.statements import doubted_sentences


async def answer_request(order: AnswerOrder, tools: RunTools) -> Answer:
    """Answer a request, or return the stored answer of the run with its idempotency key.

    A run with that key but without an answer is resumed. Raises IdempotencyError when the key
    belongs to another request, BusyError while that run is still running, and the errors of
    ``answer_found``.
    """
    run, request = order.run, order.run.request
    former = await find_run_by_key(
        tools.db, run.graph, request.session, request.idempotency_key, run.identity
    )
    if former is not None and former.properties.get("details"):
        return await answers.load(tools.db, former)
    return await answer_found(order, tools, former)


async def answer_found(
    order: AnswerOrder, tools: RunTools, stored: StoredRun | None = None
) -> Answer:
    """Answer from the results of a search, and record the answer.

    With ``stored``, that run is resumed. Nodes in the prompt do not count as read. Raises
    UsageError, StoppedError, DatabaseError, and ModelError.
    """
    began = perf_counter()
    helpers = [
        *([tools.keyword_llm] if asks_for_keywords(order, tools) else []),
        *([tools.ordering_llm] if orders_by_model(order, tools) else []),
    ]
    check_prices(tools, helpers)
    asked = [tools.synthesis_llm, *helpers]
    await tools.ask_contexts(asked)
    fit_prompt(order, tools)  # raises before a run is recorded, if no prompt fits the limits
    async with record_answer(order, tools, stored) as record:
        found = await search_by_model_keywords(order, tools, record)
        found = await read_model_statement(order, tools, record, found)
        order = replace(order, found=await rerank_found(order, tools, record, found))
        with tools.log.phase("synthesize"):
            context, replied = await ask_within_limits(order, tools, record)
        shown = await _describe_shown(order, tools, record, context, replied.read)
        read = await _read_so_far(order, tools, record)
        partitioning = record.partitioning
        if partitioning is not None:
            partitioning = replace(partitioning, outdated=order.found.changed)
        routing = await _suggest_routing(order.run, tools, partitioning)
        tools.report_contexts(asked)
        seconds = {**tools.log.seconds, "search": order.found.seconds}
        seconds["total"] = perf_counter() - began + order.found.seconds
        answer = _compose_answer(order, tools, record, replied, shown, read, routing, seconds)
        if answer.text:
            recording = record.recording
            await write_search_answer(
                recording.db, recording.handle, answer, context.nodes, context.facts
            )
        await record.recording.finish(result_properties(answer, read))
    await tidy_replies(order.run, tools, record.replies, answer)
    return answer


async def _describe_shown(
    order: AnswerOrder, tools: RunTools, record: AnswerRecord, context: Context, read: ReadReply
) -> Shown:
    cited = shown_citations(context)
    partitioning = record.partitioning
    if partitioning is not None:
        total = partitioning.generation.node_count
    else:
        labels = list(order.run.mapping.labels)
        rows = await tools.db.read(queries.get("pgs/answering/count_view"), labels=labels)
        total = int(rows[0]["nodes"])
    return Shown(
        nodes=tuple(citation for citation in cited if citation.alias in context.nodes),
        relationships=tuple(citation for citation in cited if citation.alias in context.facts),
        nodes_total=total,
        tokens=context.tokens,
        findings=read.findings,
        reason=order.found.reason,
        rows=order.found.rows,
    )


async def _read_so_far(order: AnswerOrder, tools: RunTools, record: AnswerRecord) -> Read:
    """Return what the session has read; this answer adds nothing to it."""
    if record.partitioning is None:
        return Read({})
    run, generation = order.run, record.partitioning.generation.id
    return await session.read_so_far(tools.db, run.graph, run.request.session, generation)


async def _suggest_routing(
    order: RunOrder, tools: RunTools, partitioning: Partitioning | None
) -> Routing:
    """Return the routing of the question as if a run swept the graph, to suggest what to read next.

    The result is empty without partitions. If routing fails, it is also empty, and a warning is
    given.
    """
    if partitioning is None:
        return Routing(routes=(), considered=0)
    quiet = replace(tools, log=RunLog(ignore))
    try:
        return await route_question(order, quiet, partitioning, partitioning.partitions)
    except PGSError as error:
        tools.log.warn(f"what to read next is not known: {error}")
        return Routing(routes=(), considered=len(partitioning.partitions))


def _compose_answer(
    order: AnswerOrder,
    tools: RunTools,
    record: AnswerRecord,
    replied: CheckedReply,
    shown: Shown,
    read: Read,
    routing: Routing,
    seconds: dict[str, float],
) -> Answer:
    spent = record.recording.before + tools.calls.settled()
    found = order.found
    coverage, nothing = _measure_coverage(record.partitioning, read, shown.nodes_total)
    return Answer(
        question=order.run.request.question,
        graph=order.run.graph,
        session=order.run.request.session,
        run=record.id,
        mode=found.mode,
        model=tools.synthesis_llm.name,
        synthesis=_make_synthesis(replied),
        routing=routing,
        sweeps=(),
        coverage=coverage,
        own_coverage=nothing,
        usage=spent.usage,
        seconds=seconds,
        warnings=(*found.warnings, *tools.log.warnings),
        crosscheck=Crosscheck(absences=replied.absences),
        generation=record.partitioning.generation.id if record.partitioning else "",
        cost=spent.cost,
        shown=shown,
        contexts=tuple(tools.log.contexts.items()),
    )


def _make_synthesis(replied: CheckedReply) -> Synthesis:
    read, completion = replied.read, replied.completion
    return Synthesis(
        text=replied.text,
        thesis=read.answer,
        absences=read.missing,
        citations=read.citations,
        usage=completion.usage if completion else Usage(),
        complete=completion is None or not completion.truncated,
        judged=True,
        in_doubt=doubted_sentences(replied.text),
        struck=read.struck,
        proven=completion is None or completion.proven,
    )


def _measure_coverage(
    partitioning: Partitioning | None, read: Read, nodes: int
) -> tuple[Coverage, Coverage]:
    """Return the coverage of the session, and the coverage of this answer, which reads nothing."""
    if partitioning is None:
        none = Coverage(partitions_swept=0, partitions_total=0, nodes_read=0, nodes_total=nodes)
        return none, none
    partitions, texts = partitioning.partitions, partitioning.generation.texts
    return read.coverage(partitions, texts), Read({}).coverage(partitions, texts)
