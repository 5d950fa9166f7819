"""Takes a question through all phases.

Partition, select, route, sweep, check, synthesize, record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from pgs_neo4j.documents.unread import warn_of_unread
from pgs_neo4j.errors import DatabaseError, ModelError, StoppedError
from pgs_neo4j.events import ReportsChecked
from pgs_neo4j.export.counts import EXTRACTIVE
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.llm.calls.settling import UpcomingCall
from pgs_neo4j.model import (
    AbsenceStatus,
    Answer,
    Crosscheck,
    Routing,
    Sweep,
    SweepStatus,
    Synthesis,
)
from pgs_neo4j.pgs.checking.check import (
    CheckOrder,
    CheckTools,
    check_reports,
    open_lookups,
    word_checks,
)
from pgs_neo4j.pgs.checking.cited_texts import read_cited_texts
from pgs_neo4j.pgs.checking.citing import locate_answer
from pgs_neo4j.pgs.checking.lookups import Lookups
from pgs_neo4j.pgs.claiming import choose_partitions
from pgs_neo4j.pgs.forgetting import forget_deleted, forget_recovered, meet_deletions
from pgs_neo4j.pgs.order import RunOrder, RunTools, check_order, warn_of_quotes
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.record import Prepared, RunRecord, record_run
from pgs_neo4j.pgs.route import Selection
from pgs_neo4j.pgs.runs import answers, keys, session
from pgs_neo4j.pgs.runs.details import result_properties
from pgs_neo4j.pgs.runs.runs import StoredRun
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.runs.sweeps import Recovered, read_unsynthesized
from pgs_neo4j.pgs.sweeping.order import SweepResult, without_centroid
from pgs_neo4j.pgs.synthesis.order import SynthesisOrder, SynthesisTools
from pgs_neo4j.pgs.synthesis.write import write_synthesis
from pgs_neo4j.pgs.unmatched import check_matched
from pgs_neo4j.pgs.waves import judge_sweeps, settle_sweeps, sweep_run
from pgs_neo4j.text.shown import counted

CUT_LATE = (
    "the synthesis showed that the server had cut prompts of sweeps; what may be missing from them "
    "does not count as read, and the next run of the session reads it"
)


@dataclass(frozen=True, slots=True)
class CheckedReports:
    """The reports that a run answers from, and the checks on them.

    ``earlier`` are reports of runs that ended without an answer. ``read`` is everything that the
    session has read by now.
    """

    routing: Routing
    sweeps: tuple[Sweep, ...]
    earlier: tuple[Recovered, ...]
    read: Read
    crosscheck: Crosscheck

    @property
    def reports(self) -> tuple[Sweep, ...]:
        """All sweeps, those of earlier runs last."""
        return (*self.sweeps, *(recovered.sweep for recovered in self.earlier))


async def execute(
    order: RunOrder,
    tools: RunTools,
    stored: StoredRun | None = None,
    prepared: Prepared | None = None,
) -> Answer:
    """Carry out a run and return its answer.

    A ``stored`` run is resumed. ``prepared`` partitions are used instead of preparing them here.
    Raises UsageError, StoppedError, DatabaseError, and ModelError; whatever was read before a
    failure stays recorded in the session.
    """
    began = perf_counter()
    check_order(order)
    tools.calls.budget.check(tools.models)
    await tools.ask_contexts()
    tools = await tools.fenced()
    async with record_run(order, tools, stored, prepared) as record:
        tools.log.warn(await warn_of_unread(tools.db, order.graph, order.mapping))
        tools.log.warn(warn_of_quotes(tools.sweep_llm.name, tools.synthesis_llm.name))
        earlier = await recover_reports(order, tools, record)
        with tools.log.phase("route"):
            selection, routing = await choose_partitions(
                order, tools, record, answer_missing=bool(earlier)
            )
            check_matched(order, tools, routing, selection.partitions, selection.read)
        last = UpcomingCall(tools.synthesis_llm, order.config.synthesis_effort, stream=True)
        tools.calls.upcoming = (last,)
        async with _lookups(order, tools, record, selection, routing) as lookups:
            results = await sweep(order, tools, record, lookups, routing, selection.read, earlier)
            tools.report_contexts()  # some are only known by now
            holds = await meet_deletions(tools.db, tools.log)
            sweeps = tuple(forget_deleted(result.sweep, holds) for result in results)
            earlier = forget_recovered(earlier, holds)
            evidence = await check(order, tools, record, lookups, routing, sweeps, earlier)
        try:
            synthesis, stopped = await synthesize(order, tools, record, evidence)
        except ModelError:
            await withdraw_cut(order, tools, record, evidence, results)
            raise
        tools.report_contexts()
        evidence = await withdraw_cut(order, tools, record, evidence, results)
        seconds = {**tools.log.seconds, "total": perf_counter() - began}
        answer = compose_answer(order, tools, record, evidence, synthesis, stopped, seconds)
        answer = await locate_answer(record.db, answer)
        await record_answer(record, answer, evidence)
    await tidy_replies(order, tools, record.replies, answer)
    return answer


async def recover_reports(
    order: RunOrder, tools: RunTools, record: RunRecord
) -> tuple[Recovered, ...]:
    """Return reports of earlier runs that ended without an answer.

    Their nodes are not read again, so the reports join this run.
    """
    if order.mode == "full":
        return ()
    earlier = await read_unsynthesized(
        tools.db,
        order.graph,
        order.session,
        record.id,
        record.partitioning.generation.id,
    )
    if earlier:
        tools.log.warn(
            f"the answer includes {counted(len(earlier), 'report')} of earlier runs that ended "
            "without an answer"
        )
    return tuple(earlier)


async def sweep(
    order: RunOrder,
    tools: RunTools,
    record: RunRecord,
    lookups: Lookups,
    routing: Routing,
    read: Read,
    earlier: tuple[Recovered, ...],
) -> list[SweepResult]:
    """Phase 2: sweep routes, then flags, and judge the results."""
    with_reports = [recovered.sweep for recovered in earlier]
    with tools.log.phase("sweep"):
        results = await sweep_run(order, tools, record, lookups, routing.routes, read, with_reports)
    judge_sweeps(tools.log, results)
    return results


async def check(
    order: RunOrder,
    tools: RunTools,
    record: RunRecord,
    lookups: Lookups,
    routing: Routing,
    sweeps: tuple[Sweep, ...],
    earlier: tuple[Recovered, ...],
) -> CheckedReports:
    """Check the reports against each other and against everything read by now."""
    generation_id = record.partitioning.generation.id
    now = await session.read_so_far(tools.db, order.graph, order.session, generation_id)
    reports = CheckOrder(
        mapping=order.mapping,
        generation=generation_id,
        sweeps=(*sweeps, *(recovered.sweep for recovered in earlier)),
        read=now.ranks,
    )
    crosscheck = await check_reports(reports, CheckTools(db=tools.db, lookups=lookups))
    tools.log.on_event(
        ReportsChecked(
            absences=len(crosscheck.absences),
            contradicted=sum(
                one.status is AbsenceStatus.CONTRADICTED for one in crosscheck.absences
            ),
            flags=len(crosscheck.flags),
            convergences=len(crosscheck.convergences),
        )
    )
    return CheckedReports(routing, sweeps, earlier, now, crosscheck)


def _lookups(
    order: RunOrder, tools: RunTools, record: RunRecord, selection: Selection, routing: Routing
) -> Lookups:
    """Open lookups that begin with partitions swept or read."""
    first = {*(route.partition for route in routing.routes), *selection.read.ranks}
    return open_lookups(tools.db, order.mapping, record.partitioning, first, tools.log.warn)


async def synthesize(
    order: RunOrder, tools: RunTools, record: RunRecord, evidence: CheckedReports
) -> tuple[Synthesis, str]:
    """Phase 3: return the synthesis, and why the run stopped early.

    The synthesis is empty when a limit left no room for it.
    """
    stop = tools.calls.sweeping_stop()
    unread = [sweep for sweep in evidence.sweeps if sweep.status is SweepStatus.UNREAD]
    partitioning = record.partitioning
    units = await generation.read_units(tools.db, partitioning.generation.id)
    synthesis_order = SynthesisOrder(
        question=order.question,
        sweeps=evidence.reports,
        partitions=tuple(map(without_centroid, partitioning.partitions)),
        config=order.config,
        units=tuple(map(without_centroid, units)),
        search_answer=order.search_answer,
        checks=word_checks(evidence.crosscheck, structure_only=not partitioning.generation.texts),
        absences=evidence.crosscheck.absences,
        texts=await _cited_texts(order, tools, record, evidence),
    )
    synthesis_tools = SynthesisTools(
        llm=tools.synthesis_llm,
        calls=tools.calls,
        replies=record.replies,
        on_event=tools.log.on_event,
        warn=tools.log.warn,
        check_deleted=tools.db.check_deleted,
        reducing_llm=tools.sweep_llm,
    )
    with tools.log.phase("synthesize"):
        try:
            synthesis = await write_synthesis(synthesis_order, synthesis_tools)
        except StoppedError as error:
            tools.log.warn(str(error))
            return Synthesis(text="", complete=False), str(error)
    reasons = [stop.text] if stop else [error for sweep in unread for error in sweep.errors]
    return synthesis, reasons[0] if unread and reasons else ""


async def withdraw_cut(
    order: RunOrder,
    tools: RunTools,
    record: RunRecord,
    evidence: CheckedReports,
    results: Sequence[SweepResult],
) -> CheckedReports:
    """Return the reports with what the synthesis has shown of their prompts.

    The longest prompt of a run may be the first to show what a server cuts. Nodes that were cut off
    from a sweep count as read no longer, and the next run of the session reads them.
    """
    settled = [result.sweep for result in await settle_sweeps(results, again=False)]
    if [one.read for one in settled] == [one.read for one in evidence.sweeps]:
        return evidence
    tools.log.warn(CUT_LATE)
    sweeps = tuple(
        replace(now, report=one.report, errors=one.errors)  # as deletions have left them
        for one, now in zip(evidence.sweeps, settled, strict=True)
    )
    generation_id = record.partitioning.generation.id
    read = await session.read_so_far(tools.db, order.graph, order.session, generation_id)
    return replace(evidence, sweeps=sweeps, read=read)


async def _cited_texts(
    order: RunOrder, tools: RunTools, record: RunRecord, evidence: CheckedReports
) -> dict[tuple[int, int], str] | None:
    """Return the texts that the answer's sentences are looked up in; None if none are needed."""
    if tools.synthesis_llm.name == EXTRACTIVE:
        return None
    partitions = record.partitioning.partitions
    return await read_cited_texts(tools.db, order.mapping, partitions, evidence.reports)


def compose_answer(
    order: RunOrder,
    tools: RunTools,
    record: RunRecord,
    evidence: CheckedReports,
    synthesis: Synthesis,
    stopped: str,
    seconds: dict[str, float],
) -> Answer:
    """Return the answer of a run.

    ``stopped`` is the limit that ended it early.
    """
    spent = record.before + tools.calls.settled()
    partitions, texts = record.partitioning.partitions, record.partitioning.generation.texts
    return Answer(
        question=order.question,
        graph=order.graph,
        session=order.session,
        run=record.id,
        mode=order.mode,
        model=tools.model_names,
        synthesis=synthesis,
        routing=evidence.routing,
        sweeps=evidence.sweeps,
        coverage=evidence.read.coverage(partitions, texts),
        own_coverage=evidence.read.of_sweeps(evidence.reports).coverage(partitions, texts),
        usage=spent.usage,
        seconds=seconds,
        warnings=tuple(tools.log.warnings),
        crosscheck=evidence.crosscheck,
        generation=record.partitioning.generation.id,
        stopped=stopped,
        cost=spent.cost,
        contexts=tuple(tools.log.contexts.items()),
    )


async def record_answer(record: RunRecord, answer: Answer, evidence: CheckedReports) -> None:
    """Store the answer and end the record. Raises DatabaseError."""
    if answer.text:
        await answers.write(record.db, record.handle, answer)
    used: Sequence[str] = ()
    if answer.text:
        used = [keys.sweep_id(record.id, sweep.partition) for sweep in answer.sweeps]
        used += [recovered.key for recovered in evidence.earlier]
    await record.recording.finish(result_properties(answer, evidence.read), used)


async def tidy_replies(order: RunOrder, tools: RunTools, replies: Replies, answer: Answer) -> None:
    """Tidy up the cached replies.

    A failure is only a warning, since the answer is already stored.
    """
    try:
        async with asyncio.timeout_at(tools.end):
            await replies.tidy(order.config.cache_mb, done=not answer.partial)
    except (DatabaseError, TimeoutError) as error:
        reason = str(error) or "the run reached its time limit"
        tools.log.warn(f"old replies could not be removed from the reply cache: {reason}")
