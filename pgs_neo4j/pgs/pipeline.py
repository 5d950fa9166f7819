"""Carries a question through all phases of a run.

The phases are: partition, select, route, sweep, check, synthesize, and record.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import perf_counter

from pgs_neo4j.documents.stored import warn_of_unread
from pgs_neo4j.errors import DatabaseError, ModelError, StoppedError
from pgs_neo4j.events import ReportsChecked
from pgs_neo4j.export.wording import EXTRACTIVE
from pgs_neo4j.llm.calls.outcome import UpcomingCall
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    SweepStatus,
    Synthesis,
)
from pgs_neo4j.pgs.checking.absences import Lookups
from pgs_neo4j.pgs.checking.check import (
    CheckOrder,
    CheckTools,
    check_reports,
    open_lookups,
    word_checks,
)
from pgs_neo4j.pgs.checking.citing import locate_answer, read_cited_texts
from pgs_neo4j.pgs.claiming import choose_partitions
from pgs_neo4j.pgs.forgetting import forget_deleted, forget_recovered, notice_deletions
from pgs_neo4j.pgs.order import RunOrder, RunTools, extractive_warning
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.record import Prepared, record_run
from pgs_neo4j.pgs.refusals import check_matched
from pgs_neo4j.pgs.run import Run
from pgs_neo4j.pgs.runs import answers, keys, session
from pgs_neo4j.pgs.runs.answers import result_properties
from pgs_neo4j.pgs.runs.runs import StoredRun
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.runs.sweeps import read_unsynthesized
from pgs_neo4j.pgs.sweeping.order import without_centroid
from pgs_neo4j.pgs.synthesis.reply import SynthesisOrder, SynthesisTools
from pgs_neo4j.pgs.synthesis.write import write_synthesis
from pgs_neo4j.pgs.waves import judge_sweeps, settle_sweeps, sweep_run
from pgs_neo4j.text.shown import counted

CUT_LATE = (
    "the synthesis showed that the server had cut prompts of sweeps; what may be missing from them "
    "does not count as read, and the next run of the session reads it"
)


async def execute(
    order: RunOrder,
    tools: RunTools,
    stored: StoredRun | None = None,
    prepared: Prepared | None = None,
) -> Answer:
    """Carry out a run and return its answer.

    With ``stored``, that run is resumed. With ``prepared``, its partitions are used, and none are
    prepared here. Raises UsageError, StoppedError, DatabaseError, and ModelError; the session keeps
    the record of everything read before a failure.
    """
    began = perf_counter()
    tools.calls.budget.check(tools.models)
    await tools.ask_contexts()
    tools = await tools.fenced()
    async with record_run(order, tools, stored, prepared) as record:
        run = Run(order, tools, record)
        tools.log.warn(await warn_of_unread(tools.db, order.graph, order.mapping))
        tools.log.warn(extractive_warning(tools.sweep_llm.name, tools.synthesis_llm.name))
        await recover_reports(run)
        await route(run)
        last = UpcomingCall(tools.synthesis_llm, order.config.synthesis_effort, stream=True)
        tools.calls.upcoming = (last,)
        async with _open_lookups(run) as lookups:
            await sweep(run, lookups)
            await check(run, lookups)
        await synthesize(run)
        tools.report_contexts()
        await withdraw_cut_nodes(run)
        seconds = {**tools.log.seconds, "total": perf_counter() - began}
        answer = await locate_answer(record.db, compose_answer(run, seconds))
        await record_answer(run, answer)
    await tidy_replies(order, tools, record.replies, answer)
    return answer


async def recover_reports(run: Run) -> None:
    """Add reports of the session's earlier runs that ended without an answer.

    Their nodes are not read again, so this run's answer includes those reports. In mode ``full``,
    everything is read again, so there are no such reports.
    """
    order, tools = run.order, run.tools
    if order.request.mode == "full":
        return
    run.earlier = tuple(
        await read_unsynthesized(
            tools.db, order.graph, order.request.session, run.record.id, run.generation.id
        )
    )
    if run.earlier:
        tools.log.warn(
            f"the answer includes {counted(len(run.earlier), 'report')} of earlier runs that ended "
            "without an answer"
        )


async def route(run: Run) -> None:
    """Phase 1: choose the partitions that the question needs, and claim them."""
    with run.tools.log.phase("route"):
        selection, run.routing = await choose_partitions(
            run.order, run.tools, run.record, answer_missing=bool(run.earlier)
        )
        check_matched(run.order, run.tools, run.routing, selection.partitions, selection.read)
    run.read = selection.read


async def sweep(run: Run, lookups: Lookups) -> None:
    """Phase 2: sweep the routed and the flagged partitions, and warn of incomplete reading.

    Text of documents that were deleted during the sweeps is removed from the results.
    """
    tools = run.tools
    with tools.log.phase("sweep"):
        run.results = await sweep_run(run, lookups)
    judge_sweeps(tools.log, run.results)
    tools.report_contexts()  # replies to the sweeps may have revealed context lengths
    holds = await notice_deletions(tools.db, tools.log)
    run.sweeps = tuple(forget_deleted(result.sweep, holds) for result in run.results)
    run.earlier = forget_recovered(run.earlier, holds)


async def check(run: Run, lookups: Lookups) -> None:
    """Check the reports against each other and against all nodes that the session has read."""
    run.read = await _read_coverage(run)
    order = CheckOrder(
        mapping=run.order.mapping,
        generation=run.generation.id,
        sweeps=run.reports,
        read=run.read.ranks,
    )
    run.crosscheck = await check_reports(order, CheckTools(db=run.tools.db, lookups=lookups))
    contradicted = [one.status is AbsenceStatus.CONTRADICTED for one in run.crosscheck.absences]
    run.tools.log.on_event(
        ReportsChecked(
            absences=len(contradicted),
            contradicted=sum(contradicted),
            flags=len(run.crosscheck.flags),
            convergences=len(run.crosscheck.convergences),
        )
    )


def _open_lookups(run: Run) -> Lookups:
    """Open lookups of absences, which search the routed and the read partitions first."""
    tools, partitioning = run.tools, run.record.partitioning
    first = {*(route.partition for route in run.routing.routes), *run.read.ranks}
    return open_lookups(tools.db, run.order.mapping, partitioning, first, tools.log.warn)


async def _read_coverage(run: Run) -> Read:
    """Return what the session has read by now, including by other runs."""
    order = run.order
    return await session.read_so_far(
        run.tools.db, order.graph, order.request.session, run.generation.id
    )


async def synthesize(run: Run) -> None:
    """Phase 3: write the synthesis, and record which limit ended the run early, if any.

    The synthesis is empty when a limit leaves no room for it. If the model fails, nodes that its
    server is known to have cut off are withdrawn from the coverage before the error is raised.
    """
    tools = run.tools
    stop = tools.calls.sweeping_stop()
    unread = [sweep for sweep in run.sweeps if sweep.status is SweepStatus.UNREAD]
    order = await _make_synthesis_order(run)
    synthesis_tools = SynthesisTools.of_run(
        tools, tools.synthesis_llm, run.record.replies, reducing_llm=tools.sweep_llm
    )
    with tools.log.phase("synthesize"):
        try:
            run.synthesis = await write_synthesis(order, synthesis_tools)
        except StoppedError as error:
            tools.log.warn(str(error))
            run.synthesis, run.stopped = Synthesis(text="", complete=False), str(error)
            return
        except ModelError:
            await withdraw_cut_nodes(run)
            raise
    reasons = [stop.text] if stop else [error for sweep in unread for error in sweep.errors]
    run.stopped = reasons[0] if unread and reasons else ""


async def _make_synthesis_order(run: Run) -> SynthesisOrder:
    order, partitions = run.order, run.record.partitioning.partitions
    units = await generation.read_units(run.tools.db, run.generation.id)
    texts = None  # the extractive reader only quotes, so its sentences need no check
    if run.tools.synthesis_llm.name != EXTRACTIVE:
        texts = await read_cited_texts(run.tools.db, order.mapping, partitions, run.reports)
    return SynthesisOrder(
        question=order.request.question,
        sweeps=run.reports,
        partitions=tuple(map(without_centroid, partitions)),
        config=order.config,
        units=tuple(map(without_centroid, units)),
        search_answer=order.search_answer,
        checks=word_checks(run.crosscheck, structure_only=not run.generation.texts),
        absences=run.crosscheck.absences,
        texts=texts,
    )


async def withdraw_cut_nodes(run: Run) -> None:
    """Withdraw nodes from the coverage if the synthesis shows that they were cut off.

    The prompt of the synthesis is often the longest of a run, so it may be the first to show that a
    server cuts prompts at some length. Nodes that were cut off in a sweep no longer count as read,
    and the next run of the session reads them.
    """
    settled = [result.sweep for result in await settle_sweeps(run.results, again=False)]
    pairs = list(zip(run.sweeps, settled, strict=True))
    if all((one.read, one.unproven) == (now.read, now.unproven) for one, now in pairs):
        return
    if any(now.passes_accepted < one.passes_accepted for one, now in pairs):
        run.tools.log.warn(CUT_LATE)
    run.sweeps = tuple(
        # Keep the earlier reports and errors, because deleted text has been removed from them.
        replace(now, report=one.report, errors=one.errors)
        for one, now in pairs
    )
    run.read = await _read_coverage(run)


def compose_answer(run: Run, seconds: dict[str, float]) -> Answer:
    """Return the answer of a run."""
    order, tools = run.order, run.tools
    spent = run.record.before + tools.calls.settled()
    partitions, texts = run.record.partitioning.partitions, run.generation.texts
    return Answer(
        question=order.request.question,
        graph=order.graph,
        session=order.request.session,
        run=run.record.id,
        mode=order.request.mode,
        model=tools.model_names,
        synthesis=run.synthesis,
        routing=run.routing,
        sweeps=run.sweeps,
        coverage=run.read.coverage(partitions, texts),
        own_coverage=run.read.of_sweeps(run.reports).coverage(partitions, texts),
        usage=spent.usage,
        seconds=seconds,
        warnings=tuple(tools.log.warnings),
        crosscheck=run.crosscheck,
        generation=run.generation.id,
        stopped=run.stopped,
        cost=spent.cost,
        contexts=tuple(tools.log.contexts.items()),
    )


async def record_answer(run: Run, answer: Answer) -> None:
    """Store the answer and end the record. Raises DatabaseError."""
    record = run.record
    used: list[str] = []
    if answer.text:
        await answers.write(record.db, record.handle, answer)
        used += [keys.sweep_id(record.id, sweep.partition) for sweep in answer.sweeps]
        used += [recovered.key for recovered in run.earlier]
    await record.recording.finish(result_properties(answer, run.read), used)


async def tidy_replies(order: RunOrder, tools: RunTools, replies: Replies, answer: Answer) -> None:
    """Remove old replies from the reply cache.

    A failure only causes a warning, because the answer is already stored.
    """
    try:
        async with asyncio.timeout_at(tools.end):
            await replies.tidy(order.config.cache_mb, done=not answer.partial)
    except (DatabaseError, TimeoutError) as error:
        reason = str(error) or "the run reached its time limit"
        tools.log.warn(f"old replies could not be removed from the reply cache: {reason}")
