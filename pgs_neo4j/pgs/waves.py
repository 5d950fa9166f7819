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
from pgs_neo4j.pgs.synthesis.prompt import synthesis_cost
from pgs_neo4j.text.shown import counted
from pgs_neo4j.text.tokens import estimate


@dataclass(slots=True)
class SweepRecorder:
    """Records the sweeps of a run, and reserves the cost of their synthesis.

    ``shown`` is the number of tokens in the synthesis prompt besides the reports of this run.
    ``report_tokens`` is the length of each report by partition id; only ``record`` changes it.
    """

    order: RunOrder
    tools: RunTools
    lookups: Lookups
    shown: int
    report_tokens: dict[int, int] = field(default_factory=dict)

    async def record(self, order: SweepOrder, sweep: Sweep, replies: Sequence[Row]) -> None:
        """Store a sweep, look up its absences in the background, and update the reserved cost.

        Text of documents that were deleted since the run began is left out.
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
        """Report an event, without deleted text in the report of a sweep."""
        fence = self.tools.db.fence
        if fence is not None and isinstance(event, SweepFinished):
            event = SweepFinished(forget_deleted(event.sweep, fence.holds))
        self.tools.log.on_event(event)

    def reserve_synthesis(self) -> None:
        """Reserve the cost of a synthesis of the reports so far, if there are spending limits."""
        calls = self.tools.calls
        if calls.bounded:
            shown = self.shown + sum(self.report_tokens.values())
            cost = synthesis_cost(calls, self.tools.synthesis_llm, self.order.config, shown)
            # Strict checks may request the answer a second time.
            calls.budget.ending = cost + cost if self.order.config.strict else cost


async def sweep_run(run: Run, lookups: Lookups) -> list[SweepResult]:
    """Sweep the routed partitions, then the partitions that their flags name."""
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
    """Return the results updated by what is now known about the model's context.

    Even the last call may show that a server cuts prompts. Nodes that were cut off are read
    ``again``; otherwise they no longer count as read. Reading again may show even more about
    sweeps that were settled before, so this is repeated until no sweep changes. Raises
    DatabaseError.
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
    """Return the order of each partition's sweep.

    ``handle`` is the run that records the sweeps, None outside of runs. ``matches`` are the ranks
    of the best-matching nodes, by partition id. Raises DatabaseError.
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
    """Carry out sweeps concurrently, and return their results in the order of ``orders``.

    With spending limits, sweeps begin in that order. Otherwise the longest sweep begins first.
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
    """Return the unswept partitions that flags name, the most often named first.

    There are at most ``max_flag_sweeps``. Except in mode ``full``, they have unread nodes.
    """
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
    """Warn about partitions that were not read completely or not provably.

    Raises StoppedError or AllSweepsFailedError when no partition has a report.
    """
    sweeps = [result.sweep for result in results]
    reasons = {sweep.partition: "; ".join(dict.fromkeys(sweep.errors)) for sweep in sweeps}
    stops = [result.stop for result in results if result.stop is not None]
    if sweeps and all(sweep.report is None for sweep in sweeps):
        if stops:
            first = next((f"{reason}, and then " for reason in _rejection_reasons(results)), "")
            raise _smallest_stop(stops).to_error(f"nothing was read: {first}")
        # The cause puts the exception of a user's own model into the traceback.
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
    """Yield the reasons why replies were not accepted before a limit ended the sweeps."""
    for result in results:
        yield from result.refused or (result.sweep.errors if result.stop is None else ())


def _smallest_stop(stops: Sequence[Stop]) -> Stop:
    """Return the stop that the smallest limit would have avoided; its text names that limit."""
    stop = min(stops, key=lambda stop: math.inf if stop.least is None else stop.least)
    if stop.least is None:
        return stop
    least = f"{math.ceil(stop.least):,}" if stop.least > 100 else f"{stop.least:.4g}"
    return replace(stop, text=f"{stop.text}; the smallest limit that allows a call is {least}")


def _report_tokens(sweep: Sweep) -> int:
    return estimate(render_report(sweep.report)) if sweep.report is not None else 0
