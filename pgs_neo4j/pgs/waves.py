"""Phase 2: sweeps the routes, then the flags of all reports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import together
from pgs_neo4j.errors import AllSweepsFailedError, TextDeletedError
from pgs_neo4j.events import Event, SweepFinished
from pgs_neo4j.llm.calls.budget import Stop
from pgs_neo4j.model import Partition, Sweep, SweepStatus
from pgs_neo4j.model.ceilings import BULLETS_PER_SECTION
from pgs_neo4j.pgs.checking.absences import Lookups
from pgs_neo4j.pgs.claiming import claim_flagged
from pgs_neo4j.pgs.forgetting import forget_deleted, forget_replies, notice_deletions
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.result import Partitioning
from pgs_neo4j.pgs.run import Run
from pgs_neo4j.pgs.runs import session
from pgs_neo4j.pgs.runs.runs import Handle
from pgs_neo4j.pgs.runs.session import Read
from pgs_neo4j.pgs.sweeping.neighbors import digest_neighbors, read_analogies, read_reached
from pgs_neo4j.pgs.sweeping.order import (
    SweepOrder,
    SweepResult,
    SweepTools,
    new_gate,
    without_centroid,
)
from pgs_neo4j.pgs.sweeping.report import render_report
from pgs_neo4j.pgs.sweeping.sweep import sweep_partition
from pgs_neo4j.pgs.synthesis import reserve
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.tokens import estimate


@dataclass(slots=True)
class SweepRecorder:
    """Records the sweeps of a run, and reserves their synthesis.

    ``shown`` is the number of tokens in the synthesis prompt besides the reports of this run. Only
    ``record`` writes ``report_tokens``, by partition id.
    """

    order: RunOrder
    tools: RunTools
    lookups: Lookups
    shown: int
    report_tokens: dict[int, int] = field(default_factory=dict)

    async def record(self, order: SweepOrder, sweep: Sweep, replies: Sequence[Row]) -> None:
        """Store a sweep, queue its absences, and update the reserve.

        It is stored without text of documents that were deleted since the run began.
        """
        handle = Handle(order.run, order.holder)
        total = self.tools.calls.ledger.total()
        try:
            await session.record_sweep(self.tools.db, handle, sweep, replies, total)
        except TextDeletedError:
            holds = await notice_deletions(self.tools.db, self.tools.log)
            sweep, replies = forget_deleted(sweep, holds), forget_replies(replies, holds)
            await session.record_sweep(self.tools.db, handle, sweep, replies, total)
        if sweep.report is not None:
            self.lookups.begin(sweep.report)
            self.report_tokens[sweep.partition] = _report_tokens(sweep)
            self.reserve_synthesis()

    def report_event(self, event: Event) -> None:
        """Pass an event on; the report of a sweep is told as it was stored."""
        fence = self.tools.db.fence
        if fence is not None and isinstance(event, SweepFinished):
            event = SweepFinished(forget_deleted(event.sweep, fence.holds))
        self.tools.log.on_event(event)

    def reserve_synthesis(self) -> None:
        """Reserve the cost of a synthesis of the reports so far.

        Nothing is reserved without spending limits.
        """
        calls = self.tools.calls
        if calls.bounded:
            shown = self.shown + sum(self.report_tokens.values())
            cost = reserve.synthesis_cost(calls, self.tools.synthesis_llm, self.order.config, shown)
            # A strict answer may be asked for once more.
            calls.budget.ending = cost + cost if self.order.config.strict else cost


async def sweep_run(run: Run, lookups: Lookups) -> list[SweepResult]:
    """Sweep the routed partitions, then those that their flags name."""
    order, tools, record, read = run.order, run.tools, run.record, run.read
    shown = estimate(order.request.question) + estimate(order.search_answer or "")
    shown += sum(_report_tokens(recovered.sweep) for recovered in run.earlier)
    recorder = SweepRecorder(order, tools, lookups, shown)
    recorder.reserve_synthesis()
    sweep_tools = SweepTools(
        db=tools.db,
        llm=tools.sweep_llm,
        calls=tools.calls,
        replies=record.replies,
        on_event=recorder.report_event,
        record=recorder.record,
        gate=new_gate(in_order=tools.calls.bounded),
    )
    partitioning, handle = record.partitioning, record.handle
    by_id = {part.id: part for part in partitioning.partitions}
    routed = [by_id[route.partition] for route in run.routing.routes]
    matches = {route.partition: route.matches for route in run.routing.routes}
    first = await order_sweeps(tools.db, order, partitioning, routed, read, handle, matches=matches)
    results = await sweep_partitions(first, sweep_tools)
    flagged = find_flagged(order, by_id, [result.sweep for result in results], read)
    flagged = await claim_flagged(order, tools, record, flagged)
    second = await order_sweeps(tools.db, order, partitioning, flagged, read, handle, wave=2)
    return await settle_sweeps([*results, *await sweep_partitions(second, sweep_tools)])


async def settle_sweeps(results: Sequence[SweepResult], *, again: bool = True) -> list[SweepResult]:
    """Return results with all nodes that are proven read by now.

    A model's context may be learned from the last call. What was cut is read ``again``, which may
    show more of sweeps that were settled before, so all are settled until none changes. Otherwise
    it counts as read no longer. Raises DatabaseError.
    """
    settled, before = list(results), list[SweepResult]()
    while settled != before:
        before = settled
        settled = [
            one if one.settle is None else replace(one, sweep=await one.settle(again=again))
            for one in before
        ]
    return settled


async def order_sweeps(
    db: Database,
    order: RunOrder,
    partitioning: Partitioning,
    partitions: Iterable[Partition],
    read: Read,
    handle: Handle | None = None,
    wave: int = 1,
    matches: Mapping[int, tuple[int, ...]] | None = None,
) -> list[SweepOrder]:
    """Return one order per partition; ``handle`` says who records the sweeps.

    ``matches`` are the ranks that match the question best, by partition id. Raises DatabaseError.
    """
    partitions = tuple(partitions)
    reached = await read_reached(db, partitioning.generation.id, [part.id for part in partitions])
    by_id = {part.id: part for part in partitioning.partitions}
    ids, generation = frozenset(by_id), partitioning.generation.id
    alike = await read_analogies(db, order.graph, generation, partitions, order.mapping)
    return [
        SweepOrder(
            question=order.request.question,
            partition=without_centroid(part),
            neighbors=digest_neighbors(part, by_id, reached),
            partition_ids=ids,
            mapping=order.mapping,
            generation=partitioning.generation.id,
            config=order.config,
            search_answer=order.search_answer,
            skip=read.shown(part.id),
            matches=(matches or {}).get(part.id, ()),
            wave=wave,
            run=handle.id if handle else "",
            holder=handle.holder if handle else "",
            analogies=alike.get(part.id, ()),
        )
        for part in partitions
    ]


async def sweep_partitions(orders: Sequence[SweepOrder], tools: SweepTools) -> list[SweepResult]:
    """Carry out sweeps; the results are in the order of ``orders``.

    Within a budget, that order decides which sweep goes first; otherwise the longest goes first.
    """
    if tools.calls.bounded:
        begun = [replace(order, priority=float(-place)) for place, order in enumerate(orders)]
    else:
        begun = sorted(orders, key=lambda order: -order.partition.tokens)
    results = await together(*(sweep_partition(order, tools) for order in begun))
    by_id = {result.sweep.partition: result for result in results}
    return [by_id[order.partition.id] for order in orders]


def find_flagged(
    order: RunOrder, by_id: Mapping[int, Partition], sweeps: Sequence[Sweep], read: Read
) -> list[Partition]:
    """Return unswept partitions that flags name, most often flagged first."""
    swept = {sweep.partition for sweep in sweeps}
    pointed = Counter(
        flag.target
        for sweep in sweeps
        if sweep.report is not None
        for flag in sweep.report.flags
        if flag.target is not None and flag.target not in swept
    )
    ranked = sorted(pointed, key=lambda target: (-pointed[target], target))
    candidates = [by_id[target] for target in ranked if target in by_id]
    if order.request.mode != "full":
        candidates = [part for part in candidates if read.unread(part)]
    return candidates[: order.config.max_flag_sweeps]


def judge_sweeps(log: RunLog, results: Sequence[SweepResult]) -> None:
    """Warn of partitions that were not read completely.

    Raises StoppedError or AllSweepsFailedError when no partition has a report.
    """
    sweeps = [result.sweep for result in results]
    reasons = {sweep.partition: "; ".join(dict.fromkeys(sweep.errors)) for sweep in sweeps}
    stops = [result.stop for result in results if result.stop is not None]
    if sweeps and all(sweep.report is None for sweep in sweeps):
        if stops:
            first = next((f"{reason}, and then " for reason in _rejection_reasons(results)), "")
            raise _smallest_stop(stops).to_error(f"nothing was read: {first}")
        # So that the exception of an own model is in the traceback.
        cause = next((result.cause for result in results if result.cause is not None), None)
        raise AllSweepsFailedError(reasons) from cause
    for sweep in sweeps:
        if sweep.status in (SweepStatus.PARTIAL, SweepStatus.FAILED):
            log.warn(
                f"P{sweep.partition}: {sweep.nodes_read} of {counted(sweep.nodes, 'node')} were "
                f"read ({reasons[sweep.partition]}); mode 'continue' reads the rest"
            )
        if sweep.report is not None and sweep.report.omitted:
            log.warn(
                f"P{sweep.partition}: its report has {counted(sweep.report.omitted, 'bullet')} "
                f"more than pgs keeps ({BULLETS_PER_SECTION} for each section and pass)"
            )
    if unproven := sum(sweep.nodes_unproven for sweep in sweeps):
        log.warn(
            f"{counted(unproven, 'node')} of {sum(sweep.nodes for sweep in sweeps):,} were shown "
            "to the model, but nothing proves that it was given them: its endpoint counts no "
            "tokens, and its reports do not repeat the codes of their prompts; use an endpoint "
            "that reports its usage, or another model"
        )
    if stops:
        of = counted(len(sweeps), "partition")
        were = "was" if len(stops) == 1 else "were"
        log.warn(f"{len(stops)} of {of} {were} left unread: {stops[0].text}")


def _rejection_reasons(results: Sequence[SweepResult]) -> Iterator[str]:
    """Yield why replies were not accepted before limits kept others from being asked for."""
    for result in results:
        yield from result.refused or (result.sweep.errors if result.stop is None else ())


def _smallest_stop(stops: Sequence[Stop]) -> Stop:
    """Return the stop of the call that needs the smallest limit, and name that limit."""
    stop = min(stops, key=lambda stop: math.inf if stop.least is None else stop.least)
    if stop.least is None:
        return stop
    least = f"{math.ceil(stop.least):,}" if stop.least > 100 else f"{stop.least:.4g}"
    return replace(stop, text=f"{stop.text}; the smallest limit that allows a call is {least}")


def _report_tokens(sweep: Sweep) -> int:
    return estimate(render_report(sweep.report)) if sweep.report is not None else 0
