"""The four phases of one question, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from pydantic import TypeAdapter

from pgs_neo4j.errors import (
    AllSweepsFailedError,
    BudgetError,
    DeadlineError,
    StoppedError,
)
from pgs_neo4j.events import Routed
from pgs_neo4j.llm.tokens import estimate
from pgs_neo4j.model import Answer, Partition, Routing, Sweep, SweepStatus, Synthesis
from pgs_neo4j.pgs import answers, generation, runs, session
from pgs_neo4j.pgs.reader import Reader, new_gate
from pgs_neo4j.pgs.recover import Recovered, unsynthesized
from pgs_neo4j.pgs.reduce import Reducer
from pgs_neo4j.pgs.report import render_report
from pgs_neo4j.pgs.routing import route_question, select
from pgs_neo4j.pgs.run import Request, Run, Work, check, recorded, usage_properties
from pgs_neo4j.pgs.runs import StoredRun
from pgs_neo4j.pgs.schedule import together
from pgs_neo4j.pgs.sweep import sweep
from pgs_neo4j.pgs.synthesis import SYSTEM
from pgs_neo4j.pgs.synthesize import Writer, synthesize

ROUTING = TypeAdapter(Routing)
ENDING_SHARE = 8  # of a bound on tokens one part is held back for the text of the synthesis
ENDING_FRAME = 300  # tokens of its prompt beside the instructions and the reports


@dataclass(frozen=True, slots=True)
class Material:
    """What a run answers from: how it was routed, its sweeps, and reports of earlier runs."""

    routing: Routing
    sweeps: tuple[Sweep, ...]
    earlier: tuple[Recovered, ...]

    @property
    def reports(self) -> tuple[Sweep, ...]:
        """All sweeps, those of earlier runs last."""
        return (*self.sweeps, *(recovered.sweep for recovered in self.earlier))


async def execute(work: Work, request: Request, stored: StoredRun | None = None) -> Answer:
    """Partition, route, sweep, chase flags, synthesize, record; a ``stored`` run goes on.

    Raises UsageError, StoppedError, DatabaseError, and ModelError; whatever was read before the
    failure stays recorded in the session.
    """
    began = perf_counter()
    check(request)
    work.calls.budget.check(work.models)
    async with recorded(work, request, stored) as run:
        material = await _read(work, request, run)
        synthesis, stopped = await _synthesize(work, request, run, material)
        answer = await _answer(work, request, run, material, synthesis, stopped)
        answer.seconds["total"] = perf_counter() - began
        await _finish(work, run, answer, material)
    return answer


async def _read(work: Work, request: Request, run: Run) -> Material:
    """Phases 1 and 2: what is read, and the reports on it."""
    earlier = await _earlier(work, request, run)
    chosen, read = await select(
        work, request, run.partitioning, before=run.id, answer_missing=bool(earlier)
    )
    with work.phase("route"):
        routing = await _routed(work, request, run, chosen)
    reader = _reader(work, request, run)
    with work.phase("sweep"):
        routed = [reader.partitions[route.partition] for route in routing.routes]
        sweeps = await _swept(reader, routed, read)
        flagged = _flagged(reader, sweeps, read, request)
        sweeps += await _swept(replace(reader, wave=2), flagged, read)
    _judge(work, sweeps)
    return Material(routing, tuple(sweeps), tuple(earlier))


async def _earlier(work: Work, request: Request, run: Run) -> list[Recovered]:
    """Reports of runs without an answer: their nodes are not read again, so they come in now."""
    if request.mode == "full":
        return []
    generation = run.partitioning.generation.id
    earlier = await unsynthesized(
        work.db, request.graph, request.session, run.id, generation, request.mapping
    )
    if earlier:
        work.warn(
            f"{len(earlier)} reports of earlier runs that ended without an answer are part of "
            "this one"
        )
    return earlier


async def _routed(work: Work, request: Request, run: Run, chosen: Sequence[Partition]) -> Routing:
    """The routing of a run that goes on is the one it had: its calls are found by that."""
    if run.routing is not None:
        routing = ROUTING.validate_json(run.routing)
        work.on_event(Routed(routing))
        return routing
    routing = await route_question(work, request, chosen, run.partitioning)
    await runs.remember_routing(work.db, run.handle, ROUTING.dump_json(routing).decode())
    return routing


def _reader(work: Work, request: Request, run: Run) -> Reader:
    async def record(result: Sweep, replies: Sequence[dict[str, object]]) -> None:
        await session.record_sweep(work.db, run.handle, result, replies)
        if result.report is not None:
            read[result.partition] = estimate(render_report(result.report))
            _hold_back(work, sum(read.values()))

    read: dict[int, int] = {}
    _hold_back(work, 0)
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
        gate=new_gate(),
        known=request.known,
    )


def _hold_back(work: Work, reports: int) -> None:
    """Keep what a synthesis of so many tokens of reports will take from the sweeps."""
    budget = work.calls.budget
    if not budget.bounds.any:
        return
    room = work.config.synthesis_max_tokens
    if budget.bounds.tokens is not None:
        room = min(room, budget.bounds.tokens // ENDING_SHARE)
    frame = estimate(SYSTEM) + ENDING_FRAME
    budget.ending = budget.most(work.synthesis_llm.name, reports + frame, room)


async def _swept(
    reader: Reader, partitions: Sequence[Partition], read: session.Read
) -> list[Sweep]:
    """Sweeps in the order of ``partitions``. Within a budget that order decides who comes first,

    else the longest do.
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


def _flagged(
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


def _judge(work: Work, sweeps: Sequence[Sweep]) -> None:
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


async def _synthesize(
    work: Work, request: Request, run: Run, material: Material
) -> tuple[Synthesis, str]:
    """The synthesis, and why the run stopped early; an empty one when a bound left no room."""
    ended = work.calls.sweeping_ended()
    stopped = ended if any(s.status is SweepStatus.UNREAD for s in material.sweeps) else ""
    writer = Writer(
        llm=work.synthesis_llm,
        config=work.config,
        calls=work.calls,
        replies=work.replies,
        on_event=work.on_event,
        warn=work.warn,
        known=request.known,
        units=await generation.read_units(work.db, run.partitioning.generation.id),
        reducer=Reducer(
            llm=work.sweep_llm,
            config=work.config,
            calls=work.calls,
            replies=work.replies,
            warn=work.warn,
        ),
    )
    with work.phase("synthesize"):
        try:
            made = await synthesize(
                writer, request.question, material.reports, run.partitioning.partitions
            )
        except StoppedError as stop:
            work.warn(str(stop))
            return Synthesis(text="", complete=False), str(stop)
    return made, stopped


async def _answer(
    work: Work,
    request: Request,
    run: Run,
    material: Material,
    synthesis: Synthesis,
    stopped: str,
) -> Answer:
    read = await session.read_so_far(
        work.db, request.graph, request.session, run.partitioning.generation.id
    )
    return Answer(
        question=request.question,
        graph=request.graph,
        session=request.session,
        run=run.id,
        mode=request.mode,
        model=" / ".join(work.models),
        synthesis=synthesis,
        routing=material.routing,
        sweeps=material.sweeps,
        coverage=read.coverage(run.partitioning.partitions),
        usage=work.before + work.calls.usage,
        seconds=work.seconds,
        warnings=tuple(work.warnings),
        generation=run.partitioning.generation.id,
        stopped=stopped,
        cost=work.calls.budget.cost,
    )


async def _finish(work: Work, run: Run, answer: Answer, material: Material) -> None:
    used = [session.sweep_key(run.id, result) for result in answer.sweeps]
    used += [recovered.key for recovered in material.earlier]
    answered = bool(answer.text)
    if answered:
        await answers.write(work.db, run.handle, answer)
    mine = await runs.finish(work.db, run.handle, _properties(answer), used if answered else ())
    if not mine:
        raise runs.taken_away()
    if work.replies is not None:
        await work.replies.tidy(work.config.cache_mb, done=not answer.partial)


def _properties(answer: Answer) -> dict[str, object]:
    return {
        "status": "partial" if answer.partial else "complete",
        "answer": answer.text,
        "thesis": answer.synthesis.thesis,
        "model": answer.model,
        **usage_properties(answer.usage),
        "seconds": round(answer.seconds["total"], 3),
        "nodes_read": sum(result.nodes_read for result in answer.sweeps),
        "warnings": list(answer.warnings),
        "stopped": answer.stopped,
        "cost": answer.cost,
        "details": answers.details_of(answer),
    }
