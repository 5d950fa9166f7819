"""One run: what was asked, what it works with, and a record that says how it ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, get_args

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.calls.queue import deadline_passed
from pgs_neo4j.calls.replies import Replies
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config import stored as stored_config
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import (
    BusyError,
    DatabaseError,
    DeadlineError,
    PGSError,
    QuestionError,
    StoppedError,
    UsageError,
)
from pgs_neo4j.events import OnEvent, Phase, PhaseFinished, PhaseStarted, RunStarted, Warned
from pgs_neo4j.llm.protocol import LLM
from pgs_neo4j.model import GraphMapping, Mode, Usage
from pgs_neo4j.partitioning.ensure import ensure_partitions
from pgs_neo4j.partitioning.order import OpenGDS, PartitionOrder, PartitionTools
from pgs_neo4j.partitioning.result import Partitioning, read_generation
from pgs_neo4j.retrieval.space import QuestionVector, Space
from pgs_neo4j.runs import keys, runs, session
from pgs_neo4j.runs.runs import Handle, StoredRun

MAX_QUESTION = 20_000
ATTEMPTS = 3  # to begin on a generation before somebody takes it away
CLOSE_TIMEOUT_S = 10.0
MAX_KEY = 200
GRACE_S = 0.5  # after the deadline of a run: to record what came last
LATE_CLOSE_S = 0.3  # and then to say that it is over


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question and how to treat it; ``asked`` tells it from every other request."""

    question: str
    graph: str
    mapping: GraphMapping
    mode: Mode = "full"
    session: str = session.DEFAULT
    full_sweep: bool = False
    known: str | None = None
    idempotency_key: str | None = None
    asked: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Work:
    """What a run works with, and what it noticed; ``before`` is what it cost until it stopped.

    Once it is ``finished`` its record says so, and nothing that comes after changes that.
    """

    db: Database
    open_gds: OpenGDS
    space: Space
    sweep_llm: LLM
    synthesis_llm: LLM
    config: PGSConfig
    on_event: OnEvent
    calls: Calls
    replies: Replies | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    before: Usage = field(default_factory=Usage)
    cost_before: float | None = 0.0
    partitioning: Partitioning | None = None
    asked: QuestionVector | None = None
    finished: bool = False

    @property
    def cost(self) -> float | None:
        """What the run has cost in all; None when a model that was called has no price."""
        now = self.calls.budget.cost
        return None if now is None or self.cost_before is None else now + self.cost_before

    @property
    def end(self) -> float | None:
        """When everything must be over, on the loop's clock: a little after the deadline."""
        deadline = self.calls.scheduler.deadline
        return None if deadline is None else deadline + GRACE_S

    @property
    def models(self) -> dict[str, bool]:
        """The models by name, and whether they cost nothing."""
        both = (self.sweep_llm, self.synthesis_llm)
        return {llm.name: bool(getattr(llm, "free", False)) for llm in both}

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
    """A run that is recorded, and the generation that it keeps from being deleted.

    ``routing`` is as it is stored, when the run had got that far before.
    """

    handle: Handle
    partitioning: Partitioning
    routing: str | None = None

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.handle.id


def check(request: Request) -> None:
    """Raise QuestionError or UsageError when the request cannot be carried out as it is."""
    check_question(request.question)
    session.check_name(request.session)
    key = request.idempotency_key
    if key is not None and not (key.strip() and len(key) <= MAX_KEY and key.isprintable()):
        raise UsageError(f"an idempotency key has 1 to {MAX_KEY} printable characters")
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
    await ensure_schema(work.db)
    if request.mode != "full":
        await session.check_exists(work.db, request.graph, request.session)
    order = PartitionOrder(
        graph=request.graph,
        mapping=request.mapping,
        config=work.config,
        when_busy="reuse",
    )
    tools = PartitionTools(
        db=work.db, open_gds=work.open_gds, space=work.space, on_event=work.on_event
    )
    work.partitioning = await ensure_partitions(order, tools)
    work.seconds["partition"] = perf_counter() - began
    return work.partitioning


@asynccontextmanager
async def recorded(
    work: Work, request: Request, stored: StoredRun | None = None
) -> AsyncIterator[Run]:
    """A run whose record says how it ended and what it had cost, whatever happens.

    With ``stored`` that run goes on. Raises DeadlineError when the time of the whole run is over,
    a little later than its calls are given up.
    """
    run: Run | None = None
    try:
        async with asyncio.timeout_at(work.end) as limit:
            run = await _resumed(work, request, stored) if stored else await _begun(work, request)
            work.on_event(RunStarted(run.id, resumed=stored is not None))
            work.replies = Replies(work.db, run.handle.id, shared=_shared(work.config))
            async with runs.alive(work.db, run.handle):
                yield run
    except TimeoutError:
        error = deadline_passed() if limit.expired() else None
        if run is not None and not work.finished:
            await to_the_end(_close(work, run, error or TimeoutError()))
        if error is None:
            raise
        raise error from None
    except BaseException as error:
        # Shielded: a cancelled run, too, is closed before its caller goes on.
        if run is not None and not work.finished:
            await to_the_end(_close(work, run, error))
        raise


async def _begun(work: Work, request: Request) -> Run:
    handle = Handle(keys.new_run_id(), runs.new_holder())
    given = {
        "question": request.question,
        "mode": request.mode,
        "request": json.dumps(request.asked, sort_keys=True),
        "config": stored_config(work.config),
        "known": request.known,
    }
    for _ in range(ATTEMPTS):
        partitioning = await prepare(work, request)
        await session.open_session(work.db, request.graph, request.session)
        generation = partitioning.generation.id
        began = await runs.begin(
            work.db,
            handle,
            keys.session_uid(request.graph, request.session),
            generation,
            given,
            idempotency(request),
        )
        if began == handle.id:
            return Run(handle, partitioning)
        if began is not None:
            raise BusyError(
                f"run {began} has just begun with the same idempotency key; wait for its end"
            )
        work.partitioning = None
    raise DatabaseError(
        f"graph {request.graph} was repartitioned {ATTEMPTS} times while the run began; "
        "try again when that is over"
    )


async def _resumed(work: Work, request: Request, stored: StoredRun) -> Run:
    if stored.generation is None:
        raise UsageError(
            f"the partitions of run {stored.id} were given up since, so it cannot go on; what it "
            "read counts, so ask again in mode 'continue'"
        )
    await ensure_schema(work.db)
    handle = await runs.take_over(work.db, stored)
    work.partitioning = await read_generation(work.db, stored.generation)
    before = stored.properties
    work.before = Usage(
        calls=before.get("calls") or 0,
        input_tokens=before.get("input_tokens") or 0,
        output_tokens=before.get("output_tokens") or 0,
    )
    work.cost_before = before.get("cost") if work.before.calls else 0.0
    if not stored.current:
        work.warn(
            f"graph {request.graph} was repartitioned since run {stored.id} began; it goes on "
            "with the partitions that it had"
        )
    return Run(handle, work.partitioning, before.get("routing"))


def idempotency(request: Request) -> str:
    """How an idempotency key is stored: within its session; empty when none was given."""
    return keys.idempotency_uid(request.graph, request.session, request.idempotency_key)


def _shared(config: PGSConfig) -> bool:
    return config.cache and config.cache_mb > 0


async def _close(work: Work, run: Run, error: BaseException) -> None:
    outcome = {
        "status": _status(error),
        "error": str(error) if isinstance(error, PGSError) else type(error).__name__,
        **usage_properties(work.before + work.calls.usage),
        "cost": work.cost,
    }
    late = isinstance(error, DeadlineError)
    # A database that is gone cannot be told; the error under way says so.
    with suppress(PGSError, TimeoutError):
        async with asyncio.timeout(LATE_CLOSE_S if late else CLOSE_TIMEOUT_S):
            await runs.finish(work.db, run.handle, outcome)


def _status(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "interrupted"
    return "stopped" if isinstance(error, StoppedError) else "failed"


def usage_properties(usage: Usage) -> dict[str, object]:
    """Usage as it is stored on a run."""
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached": usage.cached,
    }
