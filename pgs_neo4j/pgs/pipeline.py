"""The four phases of one question, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter

from pgs_neo4j.errors import AllSweepsFailedError, ModelError
from pgs_neo4j.events import Routed
from pgs_neo4j.model import Answer, Partition, Routing, Sweep, SweepStatus, Synthesis
from pgs_neo4j.pgs import schedule, session
from pgs_neo4j.pgs.partition import Partitioning
from pgs_neo4j.pgs.recover import Recovered, unsynthesized
from pgs_neo4j.pgs.route import route
from pgs_neo4j.pgs.run import Request, Run, Work, check, recorded, usage_properties
from pgs_neo4j.pgs.sweep import Reader, sweep
from pgs_neo4j.pgs.synthesize import synthesize
from pgs_neo4j.search.embedding import QuestionVector, embed_question


async def execute(work: Work, request: Request) -> Answer:
    """Partition, route, sweep, synthesize, record.

    Raises UsageError, DatabaseError, and ModelError; whatever was read before the failure
    stays recorded in the session.
    """
    began = perf_counter()
    check(request)
    async with recorded(work, request) as run:
        earlier = await _earlier(work, request, run)
        chosen, read = await _select(work, request, run, earlier)
        with work.phase("route"):
            routing = await route_question(work, request, chosen, run.partitioning)
        sweeps = await _sweep(work, request, routing, read, run)
        synthesis = await _synthesize(work, request, run, [*sweeps, *(e.sweep for e in earlier)])
        answer = await _answer(work, request, routing, sweeps, synthesis, run)
        answer.seconds["total"] = perf_counter() - began
        used = [session.sweep_key(run.id, result) for result in sweeps]
        used += [recovered.key for recovered in earlier]
        await session.finish_run(work.db, run.id, _properties(answer), used)
    return answer


async def _earlier(work: Work, request: Request, run: Run) -> list[Recovered]:
    """Reports of runs without an answer: their nodes are not read again, so they come in now."""
    if request.mode == "full":
        return []
    generation = run.partitioning.generation.id
    earlier = await unsynthesized(
        work.db, request.graph, request.session, generation, request.mapping
    )
    if earlier:
        work.warn(
            f"{len(earlier)} reports of earlier runs that ended without an answer are part of "
            "this one"
        )
    return earlier


async def _select(
    work: Work, request: Request, run: Run, earlier: Sequence[Recovered]
) -> tuple[list[Partition], session.Read]:
    everything = list(run.partitioning.partitions)
    if request.mode == "full":
        return everything, session.Read({})
    read = await session.read_so_far(
        work.db, request.graph, request.session, run.partitioning.generation.id
    )
    chosen, skipping = session.candidates(request.mode, everything, read)
    if skipping:
        return chosen, read
    if earlier:
        return [], read  # all is read, and what is missing is only the synthesis
    work.warn(f"session {request.session} has read the whole graph, so everything is read again")
    return chosen, session.Read({})


async def asked_vector(work: Work, request: Request, dimensions: int | None) -> QuestionVector:
    """The question in the graph's space, once per run; a failing embedder is only a note."""
    if work.asked is None:
        try:
            work.asked = await embed_question(
                work.db, work.space, request.mapping, request.question, dimensions
            )
        except ModelError as error:
            work.asked = QuestionVector(None, f"the question could not be embedded ({error})")
    return work.asked


async def route_question(
    work: Work, request: Request, chosen: Sequence[Partition], partitioning: Partitioning
) -> Routing:
    """Phase 1 alone: embed the question and route it among ``chosen``."""
    asked = await asked_vector(work, request, partitioning.generation.dimensions)
    routing = route(
        request.question,
        asked.vector,
        chosen,
        work.config,
        threshold=_threshold(work),
        centered=asked.borrowed or work.space.lexical,
        full_sweep=request.full_sweep,
        everything_unread=request.mode == "continue",
        note=asked.note,
    )
    if routing.fallback or asked.vector is None:
        work.warn(routing.note)
    work.on_event(Routed(routing))
    return routing


def _threshold(work: Work) -> float | None:
    """The space's own threshold, unless the user set one."""
    if "partition_relevance_threshold" in work.config.model_fields_set:
        return None
    return work.space.threshold


async def _sweep(
    work: Work, request: Request, routing: Routing, read: session.Read, run: Run
) -> list[Sweep]:
    by_id = {part.id: part for part in run.partitioning.partitions}
    reader = Reader(
        db=work.db,
        llm=work.sweep_llm,
        mapping=request.mapping,
        generation=run.partitioning.generation.id,
        partitions=by_id,
        question=request.question,
        config=work.config,
        calls=asyncio.Semaphore(work.config.max_concurrent_sweeps),
        on_event=work.on_event,
        known=request.known,
    )

    async def one(part: Partition) -> Sweep:
        result = await sweep(reader, part, read.ranks.get(part.id, frozenset()))
        work.spent += result.usage
        await session.record_sweep(work.db, run.id, result)
        return result

    with work.phase("sweep"):
        sweeps = await schedule.run_all(
            [by_id[chosen.partition] for chosen in routing.routes],
            one,
            limit=work.config.max_concurrent_sweeps,
            length=lambda part: part.tokens,
        )
    _judge(work, sweeps)
    return sweeps


def _judge(work: Work, sweeps: Sequence[Sweep]) -> None:
    """Tell which partitions were not read whole; raise AllSweepsFailedError when none was."""
    why = {result.partition: "; ".join(dict.fromkeys(result.errors)) for result in sweeps}
    if sweeps and all(result.status is SweepStatus.FAILED for result in sweeps):
        raise AllSweepsFailedError(why)
    for result in sweeps:
        if result.status is not SweepStatus.ACCEPTED:
            work.warn(
                f"P{result.partition}: {result.nodes_read} of {result.nodes} nodes were read "
                f"({why[result.partition]}); 'continue' reads the rest"
            )


async def _synthesize(work: Work, request: Request, run: Run, sweeps: Sequence[Sweep]) -> Synthesis:
    with work.phase("synthesize"):
        result = await synthesize(
            work.synthesis_llm,
            request.question,
            sweeps,
            run.partitioning.partitions,
            work.config,
            on_event=work.on_event,
            warn=work.warn,
            known=request.known,
        )
    work.spent += result.usage
    return result


async def _answer(
    work: Work,
    request: Request,
    routing: Routing,
    sweeps: Sequence[Sweep],
    synthesis: Synthesis,
    run: Run,
) -> Answer:
    read = await session.read_so_far(
        work.db, request.graph, request.session, run.partitioning.generation.id
    )
    names = dict.fromkeys((work.sweep_llm.name, work.synthesis_llm.name))
    return Answer(
        question=request.question,
        graph=request.graph,
        session=request.session,
        run=run.id,
        mode=request.mode,
        model=" / ".join(names),
        synthesis=synthesis,
        routing=routing,
        sweeps=tuple(sweeps),
        coverage=read.coverage(run.partitioning.partitions),
        usage=work.spent,
        seconds=work.seconds,
        warnings=tuple(work.warnings),
    )


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
    }
