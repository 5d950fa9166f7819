"""The four phases of one question, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from uuid import uuid4

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.db import Database
from pgs_neo4j.errors import AllSweepsFailedError, ModelError, PGSError, QuestionError
from pgs_neo4j.events import OnEvent, Phase, PhaseFinished, PhaseStarted, Routed, Warned
from pgs_neo4j.gds import GDS
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import (
    Answer,
    GraphMapping,
    Mode,
    Partition,
    Routing,
    Sweep,
    SweepStatus,
    Synthesis,
    Usage,
)
from pgs_neo4j.pgs import partition, schedule, session
from pgs_neo4j.pgs.partition import Partitioning
from pgs_neo4j.pgs.route import route
from pgs_neo4j.pgs.sweep import Reader, sweep
from pgs_neo4j.pgs.synthesize import synthesize
from pgs_neo4j.search.embedding import QuestionVector, Space, embed_question

MAX_QUESTION = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question and how to treat it."""

    question: str
    graph: str
    mapping: GraphMapping
    mode: Mode = "full"
    session: str = session.DEFAULT
    full_sweep: bool = False
    known: str | None = None


@dataclass(slots=True)
class Work:
    """What a run works with, and what it noticed on the way."""

    db: Database
    gds: GDS
    space: Space
    sweep_llm: LLM
    synthesis_llm: LLM
    config: PGSConfig
    on_event: OnEvent
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    partitioning: Partitioning | None = None

    @contextmanager
    def phase(self, phase: Phase) -> Iterator[None]:
        """Time a phase and tell its beginning and end."""
        self.on_event(PhaseStarted(phase))
        began = perf_counter()
        yield
        self.seconds[phase] = perf_counter() - began
        self.on_event(PhaseFinished(phase, self.seconds[phase]))

    def warn(self, message: str) -> None:
        """Tell that something is not as expected; an empty message is none."""
        if message:
            self.warnings.append(message)
            self.on_event(Warned(message))


async def execute(work: Work, request: Request) -> Answer:
    """Partition, route, sweep, synthesize, record.

    Raises QuestionError, UnknownSessionError, DatabaseError, and ModelError; whatever was
    read before the failure stays recorded in the session.
    """
    began = perf_counter()
    check_question(request.question)
    partitioning = await prepare(work, request)
    chosen, read = await _select(work, request, partitioning)
    with work.phase("route"):
        routing = await route_question(work, request, chosen, partitioning)
    async with _run(work, request, partitioning) as run:
        sweeps = await _sweep(work, request, partitioning, routing, read, run)
        synthesis = await _synthesize(work, request, partitioning, sweeps)
        answer = await _answer(work, request, partitioning, routing, sweeps, synthesis, run)
        answer.seconds["total"] = perf_counter() - began
        await session.finish_run(work.db, run, _run_properties(answer))
    return answer


def check_question(question: str) -> None:
    """Raise QuestionError when there is nothing to ask, or more than a question."""
    if not question.strip():
        raise QuestionError("the question is empty; write what you want to know")
    if len(question) > MAX_QUESTION:
        raise QuestionError(
            f"the question has {len(question):,} characters; ask in at most {MAX_QUESTION:,}"
        )


async def prepare(work: Work, request: Request) -> Partitioning:
    """Phase 0, once per run: check the session, then the current partitions."""
    if work.partitioning is not None:
        return work.partitioning
    began = perf_counter()
    await work.db.ensure_schema()
    if request.mode != "full":
        await session.check_exists(work.db, request.graph, request.session)
    work.partitioning = await partition.ensure(
        work.db, work.gds, request.graph, request.mapping, work.config, work.space, work.on_event
    )
    work.seconds["partition"] = perf_counter() - began
    return work.partitioning


async def _select(
    work: Work, request: Request, partitioning: Partitioning
) -> tuple[list[Partition], session.Read]:
    await session.open_session(work.db, request.graph, request.session)
    everything = list(partitioning.partitions)
    if request.mode == "full":
        return everything, session.Read({})
    read = await session.read_so_far(
        work.db, request.graph, request.session, partitioning.generation.id
    )
    chosen, skipping = session.candidates(request.mode, everything, read)
    if not skipping:
        work.warn(
            f"session {request.session} has read the whole graph, so everything is read again"
        )
    return chosen, read if skipping else session.Read({})


async def route_question(
    work: Work, request: Request, chosen: Sequence[Partition], partitioning: Partitioning
) -> Routing:
    """Phase 1 alone: embed the question and route it among ``chosen``."""
    dimensions = partitioning.generation.dimensions
    try:
        asked = await embed_question(
            work.db, work.space, request.mapping, request.question, dimensions
        )
    except ModelError as error:
        asked = QuestionVector(None, f"the question could not be embedded ({error})")
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
    work: Work,
    request: Request,
    partitioning: Partitioning,
    routing: Routing,
    read: session.Read,
    run: str,
) -> list[Sweep]:
    generation = partitioning.generation.id
    by_id = {part.id: part for part in partitioning.partitions}
    reader = Reader(
        db=work.db,
        llm=work.sweep_llm,
        mapping=request.mapping,
        generation=generation,
        partitions=by_id,
        question=request.question,
        config=work.config,
        calls=asyncio.Semaphore(work.config.max_concurrent_sweeps),
        on_event=work.on_event,
        known=request.known,
    )

    async def one(part: Partition) -> Sweep:
        result = await sweep(reader, part, read.ranks.get(part.id, frozenset()))
        await session.record_sweep(work.db, run, generation, result)
        return result

    with work.phase("sweep"):
        sweeps = await schedule.run_all(
            [by_id[chosen.partition] for chosen in routing.routes],
            one,
            limit=work.config.max_concurrent_sweeps,
            length=lambda part: part.tokens,
        )
    if all(result.status is SweepStatus.FAILED for result in sweeps):
        raise AllSweepsFailedError(
            {result.partition: "; ".join(dict.fromkeys(result.errors)) for result in sweeps}
        )
    for result in sweeps:
        if result.status is not SweepStatus.ACCEPTED:
            work.warn(
                f"P{result.partition}: {result.nodes_read} of {result.nodes} nodes were read "
                f"({'; '.join(dict.fromkeys(result.errors))}); 'continue' reads the rest"
            )
    return sweeps


async def _synthesize(
    work: Work, request: Request, partitioning: Partitioning, sweeps: Sequence[Sweep]
) -> Synthesis:
    with work.phase("synthesize"):
        return await synthesize(
            work.synthesis_llm,
            request.question,
            sweeps,
            partitioning.partitions,
            work.config,
            on_event=work.on_event,
            warn=work.warn,
            known=request.known,
        )


async def _answer(
    work: Work,
    request: Request,
    partitioning: Partitioning,
    routing: Routing,
    sweeps: Sequence[Sweep],
    synthesis: Synthesis,
    run: str,
) -> Answer:
    read = await session.read_so_far(
        work.db, request.graph, request.session, partitioning.generation.id
    )
    usage = sum((result.usage for result in sweeps), Usage()) + synthesis.usage
    names = dict.fromkeys((work.sweep_llm.name, work.synthesis_llm.name))
    return Answer(
        question=request.question,
        graph=request.graph,
        session=request.session,
        run=run,
        mode=request.mode,
        model=" / ".join(names),
        synthesis=synthesis,
        routing=routing,
        sweeps=tuple(sweeps),
        coverage=read.coverage(partitioning.partitions),
        usage=usage,
        seconds=work.seconds,
        warnings=tuple(work.warnings),
    )


@asynccontextmanager
async def _run(work: Work, request: Request, partitioning: Partitioning) -> AsyncIterator[str]:
    """A recorded run, whose status says how it ended, whatever happens."""
    run = f"r{uuid4().hex[:12]}"
    began = {"question": request.question, "mode": request.mode}
    await session.begin_run(
        work.db, request.graph, request.session, run, partitioning.generation, began
    )
    try:
        yield run
    except asyncio.CancelledError:
        await asyncio.shield(_close(work.db, run, "interrupted", "interrupted by the caller"))
        raise
    except PGSError as error:
        await _close(work.db, run, "failed", str(error))
        raise


async def _close(db: Database, run: str, status: str, error: str) -> None:
    try:
        await session.finish_run(db, run, {"status": status, "error": error})
    except PGSError:
        return  # the database is gone; the error under way says so


def _run_properties(answer: Answer) -> dict[str, object]:
    return {
        "status": "partial" if answer.partial else "complete",
        "answer": answer.text,
        "thesis": answer.synthesis.thesis,
        "model": answer.model,
        "calls": answer.usage.calls,
        "input_tokens": answer.usage.input_tokens,
        "output_tokens": answer.usage.output_tokens,
        "seconds": round(answer.seconds["total"], 3),
        "nodes_read": sum(result.nodes_read for result in answer.sweeps),
        "warnings": list(answer.warnings),
    }
