"""The four phases of one question, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from pydantic import TypeAdapter

from pgs_neo4j.checking.check import crosscheck, lookups_on, told
from pgs_neo4j.checking.lookups import Lookups
from pgs_neo4j.errors import DatabaseError, StoppedError
from pgs_neo4j.events import Routed
from pgs_neo4j.model import (
    Answer,
    Crosscheck,
    Partition,
    Routing,
    Sweep,
    SweepStatus,
    Synthesis,
)
from pgs_neo4j.partitioning import generation
from pgs_neo4j.pgs.route import route_question, select
from pgs_neo4j.pgs.run import Request, Run, Work, check, recorded, usage_properties
from pgs_neo4j.pgs.waves import flagged, judge, reader_of, swept
from pgs_neo4j.runs import answers, keys, runs, session
from pgs_neo4j.runs.details import details_json
from pgs_neo4j.runs.runs import StoredRun
from pgs_neo4j.runs.sweeps import Recovered, unsynthesized
from pgs_neo4j.synthesis.reduce import Reducer
from pgs_neo4j.synthesis.write import Writer, synthesize

ROUTING = TypeAdapter(Routing)


@dataclass(frozen=True, slots=True)
class Material:
    """What a run answers from; ``read`` is what its session has read by now.

    ``earlier`` are reports of runs that ended without an answer.
    """

    routing: Routing
    sweeps: tuple[Sweep, ...]
    earlier: tuple[Recovered, ...]
    read: session.Read
    crosscheck: Crosscheck

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
    await _tidy(work, answer)
    return answer


async def _read(work: Work, request: Request, run: Run) -> Material:
    """Phases 1 and 2: what is read, and the reports on it."""
    earlier = await _earlier(work, request, run)
    chosen, read = await select(
        work, request, run.partitioning, before=run.id, answer_missing=bool(earlier)
    )
    with work.phase("route"):
        routing = await _routed(work, request, run, chosen)
    numbers = [route.partition for route in routing.routes]
    first = {*numbers, *read.ranks}
    async with _lookups(work, request, run, first) as lookups:
        reader = reader_of(work, request, run, lookups, [each.sweep for each in earlier])
        with work.phase("sweep"):
            sweeps = await swept(reader, [reader.partitions[n] for n in numbers], read)
            second = flagged(reader, sweeps, read, request)
            sweeps += await swept(replace(reader, wave=2), second, read)
        judge(work, sweeps)
        reports = [*sweeps, *(each.sweep for each in earlier)]
        for each in reports:
            if each.report is not None:
                lookups.begin(each.report)
        now = await _read_now(work, request, run)
        generation_id = run.partitioning.generation.id
        found = await crosscheck(
            work.db, request.mapping, generation_id, reports, now.ranks, lookups
        )
    return Material(routing, tuple(sweeps), tuple(earlier), now, found)


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


def _lookups(work: Work, request: Request, run: Run, first: Collection[int]) -> Lookups:
    embedder = work.space.embedder if work.space.kind == "stored" else None
    return lookups_on(work.db, request.mapping, run.partitioning, first, embedder, work.warn)


async def _read_now(work: Work, request: Request, run: Run) -> session.Read:
    return await session.read_so_far(
        work.db, request.graph, request.session, run.partitioning.generation.id
    )


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
        checks=told(material.crosscheck),
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
        coverage=material.read.coverage(run.partitioning.partitions),
        usage=work.before + work.calls.usage,
        seconds=work.seconds,
        warnings=tuple(work.warnings),
        crosscheck=material.crosscheck,
        generation=run.partitioning.generation.id,
        stopped=stopped,
        cost=work.cost,
    )


async def _finish(work: Work, run: Run, answer: Answer, material: Material) -> None:
    used = [keys.sweep_id(run.id, result.partition) for result in answer.sweeps]
    used += [recovered.key for recovered in material.earlier]
    answered = bool(answer.text)
    if answered:
        await answers.write(work.db, run.handle, answer)
    properties = _properties(answer, material.read)
    mine = await runs.finish(work.db, run.handle, properties, used if answered else ())
    if not mine:
        raise runs.taken_away()
    work.finished = True


async def _tidy(work: Work, answer: Answer) -> None:
    """Bring the kept replies in order; the answer is recorded, so a failure is only told."""
    if work.replies is None:
        return
    try:
        async with asyncio.timeout_at(work.end):
            await work.replies.tidy(work.config.cache_mb, done=not answer.partial)
    except (DatabaseError, TimeoutError) as error:
        why = str(error) or "the time of the run is over"
        work.warn(f"the kept replies could not be tidied up: {why}")


def _properties(answer: Answer, read: session.Read) -> dict[str, object]:
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
        "details": details_json(answer, read),
    }
