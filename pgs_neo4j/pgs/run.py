"""One run: what was asked, what it works with, and a record that says how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import get_args
from uuid import uuid4

from pgs_neo4j.cancellation import to_the_end
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.db import Database
from pgs_neo4j.errors import DatabaseError, PGSError, QuestionError, UsageError
from pgs_neo4j.events import OnEvent, Phase, PhaseFinished, PhaseStarted, Warned
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import GraphMapping, Mode, Usage
from pgs_neo4j.pgs import partition, session
from pgs_neo4j.pgs.partition import OpenGDS, Partitioning, Target
from pgs_neo4j.search.embedding import QuestionVector, Space

MAX_QUESTION = 20_000
ATTEMPTS = 3  # to begin on a generation before somebody takes it away
CLOSE_TIMEOUT_S = 10.0


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
    """What a run works with, what it noticed, and what it has spent."""

    db: Database
    open_gds: OpenGDS
    space: Space
    sweep_llm: LLM
    synthesis_llm: LLM
    config: PGSConfig
    on_event: OnEvent
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    spent: Usage = field(default_factory=Usage)
    partitioning: Partitioning | None = None
    asked: QuestionVector | None = None

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


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is recorded, and the generation that it keeps from being deleted."""

    id: str
    partitioning: Partitioning


def check(request: Request) -> None:
    """Raise QuestionError or UsageError when the request cannot be carried out as it is."""
    check_question(request.question)
    session.check_name(request.session)
    if request.mode not in get_args(Mode):
        raise UsageError(
            f"there is no mode {request.mode!r}; the modes are {', '.join(get_args(Mode))}"
        )


def check_question(question: str) -> None:
    """Raise QuestionError when there is nothing to ask, or more than a question."""
    if not question.strip():
        raise QuestionError("the question is empty; write what you want to know")
    if len(question) > MAX_QUESTION:
        raise QuestionError(
            f"the question has {len(question):,} characters; ask in at most {MAX_QUESTION:,}"
        )
    try:
        question.encode()
    except UnicodeEncodeError as error:
        raise QuestionError(
            "the question holds bytes that are no text in UTF-8; write it again"
        ) from error


async def prepare(work: Work, request: Request) -> Partitioning:
    """Phase 0, once per run: check the session, then the current partitions."""
    if work.partitioning is not None:
        return work.partitioning
    began = perf_counter()
    await work.db.ensure_schema()
    if request.mode != "full":
        await session.check_exists(work.db, request.graph, request.session)
    target = Target(
        db=work.db,
        graph=request.graph,
        mapping=request.mapping,
        config=work.config,
        space=work.space,
    )
    work.partitioning = await partition.ensure(
        target, work.open_gds, work.on_event, when_busy="reuse"
    )
    work.seconds["partition"] = perf_counter() - began
    return work.partitioning


@asynccontextmanager
async def recorded(work: Work, request: Request) -> AsyncIterator[Run]:
    """A run whose record says how it ended and what it had cost, whatever happens."""
    run = f"r{uuid4().hex[:12]}"
    try:
        yield Run(run, await _begin(work, request, run))
    except BaseException as error:
        # Shielded: a cancelled run, too, is closed before its caller goes on.
        await to_the_end(_close(work, run, error))
        raise


async def _begin(work: Work, request: Request, run: str) -> Partitioning:
    given = {"question": request.question, "mode": request.mode}
    for _ in range(ATTEMPTS):
        partitioning = await prepare(work, request)
        await session.open_session(work.db, request.graph, request.session)
        generation = partitioning.generation.id
        if await session.begin_run(work.db, request.graph, request.session, run, generation, given):
            return partitioning
        work.partitioning = None
    raise DatabaseError(
        f"graph {request.graph} was repartitioned {ATTEMPTS} times while the run began; "
        "try again when that is over"
    )


async def _close(work: Work, run: str, error: BaseException) -> None:
    stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
    outcome = {
        "status": "interrupted" if stopped else "failed",
        "error": str(error) if isinstance(error, PGSError) else type(error).__name__,
        **usage_properties(work.spent),
    }
    # A database that is gone cannot be told; the error under way says so.
    with suppress(PGSError, TimeoutError):
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await session.finish_run(work.db, run, outcome)


def usage_properties(usage: Usage) -> dict[str, object]:
    """Usage as it is stored on a run."""
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }
