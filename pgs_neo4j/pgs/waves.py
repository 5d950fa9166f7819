"""Phase 2 for a whole run: what is swept in which order, what flags add, and how it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pgs_neo4j.calls.queue import together
from pgs_neo4j.checking.lookups import Lookups
from pgs_neo4j.errors import AllSweepsFailedError, BudgetError, DeadlineError, StoppedError
from pgs_neo4j.model import Partition, Sweep, SweepStatus
from pgs_neo4j.pgs.run import Request, Run, Work
from pgs_neo4j.runs import session
from pgs_neo4j.sweeping.context import Reader, new_gate
from pgs_neo4j.sweeping.report import render_report
from pgs_neo4j.sweeping.sweep import sweep
from pgs_neo4j.synthesis import reserve
from pgs_neo4j.text.tokens import estimate


def reader_of(
    work: Work, request: Request, run: Run, lookups: Lookups, earlier: Sequence[Sweep] = ()
) -> Reader:
    """What a run reads with. The synthesis will be shown reports of ``earlier`` runs as well."""

    async def record(result: Sweep, replies: Sequence[dict[str, object]]) -> None:
        await session.record_sweep(work.db, run.handle, result, replies)
        if result.report is not None:
            lookups.begin(result.report)
            read[result.partition] = _size(result)
            _hold_back(work, shown + sum(read.values()))

    read: dict[int, int] = {}
    shown = estimate(request.question) + estimate(request.known or "") + sum(map(_size, earlier))
    _hold_back(work, shown)
    return Reader(
        db=work.db,
        llm=work.sweep_llm,
        mapping=request.mapping,
        generation=run.partitioning.generation.id,
        partitions={part.id: part for part in run.partitioning.partitions},
        question=request.question,
        config=work.config,
        calls=work.calls,
        replies=work.replies,
        on_event=work.on_event,
        record=record,
        gate=new_gate(in_order=work.calls.bounded),
        known=request.known,
    )


def _size(result: Sweep) -> int:
    return estimate(render_report(result.report)) if result.report is not None else 0


def _hold_back(work: Work, shown: int) -> None:
    """Keep what a synthesis that is shown so many tokens will take."""
    if work.calls.bounded:
        work.calls.budget.ending = reserve.held(work.calls, work.synthesis_llm, work.config, shown)


async def swept(reader: Reader, partitions: Sequence[Partition], read: session.Read) -> list[Sweep]:
    """Sweeps in the order of ``partitions``.

    Within a budget that order decides who comes first, else the longest do.
    """
    bounded = reader.calls.bounded
    begun = partitions if bounded else sorted(partitions, key=lambda part: -part.tokens)
    made = await together(
        [
            sweep(
                reader,
                part,
                read.ranks.get(part.id, frozenset()),
                priority=float(-place) if bounded else None,
            )
            for place, part in enumerate(begun)
        ]
    )
    by_id = {result.partition: result for result in made}
    return [by_id[part.id] for part in partitions]


def flagged(
    reader: Reader, sweeps: Sequence[Sweep], read: session.Read, request: Request
) -> list[Partition]:
    """Partitions that flags point to and nobody has swept, the most flagged first."""
    swept = {result.partition for result in sweeps}
    pointed = Counter(
        flag.target
        for result in sweeps
        if result.report is not None
        for flag in result.report.flags
        if flag.target is not None and flag.target not in swept
    )
    ranked = sorted(pointed, key=lambda target: (-pointed[target], target))
    candidates = [reader.partitions[target] for target in ranked if target in reader.partitions]
    if request.mode != "full":
        candidates = [part for part in candidates if read.unread(part)]
    return candidates[: reader.config.max_flag_sweeps]


def judge(work: Work, sweeps: Sequence[Sweep]) -> None:
    """Tell which partitions were not read whole; raise when none was."""
    why = {result.partition: "; ".join(dict.fromkeys(result.errors)) for result in sweeps}
    unread = [result for result in sweeps if result.status is SweepStatus.UNREAD]
    if sweeps and all(result.report is None for result in sweeps):
        if unread:
            raise _stopped(unread[0].errors[0])
        raise AllSweepsFailedError(why)
    for result in sweeps:
        if result.status in (SweepStatus.PARTIAL, SweepStatus.FAILED):
            work.warn(
                f"P{result.partition}: {result.nodes_read} of {result.nodes} nodes were read "
                f"({why[result.partition]}); 'continue' reads the rest"
            )
    if unread:
        work.warn(
            f"{len(unread)} of {len(sweeps)} partitions were left unread: {unread[0].errors[0]}"
        )


def _stopped(why: str) -> StoppedError:
    kind = BudgetError if "budget" in why else DeadlineError
    return kind(f"nothing was read: {why}")
