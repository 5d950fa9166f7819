"""The order of an answer from a search, and the record of its run."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pgs_neo4j.config import CONTEXT_TOKENS, SHAPING, PGSConfig, SearchDefaults
from pgs_neo4j.config import stored as stored_config
from pgs_neo4j.database.holder import Holder
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.errors import BusyError, DatabaseError
from pgs_neo4j.events import RunStarted
from pgs_neo4j.llm.calls.ledger import Spent
from pgs_neo4j.llm.calls.replies import Replies
from pgs_neo4j.model import Found, KeywordSource, RerankerName
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.result import Partitioning, read_current
from pgs_neo4j.pgs.record import ATTEMPTS, shares_replies, start_run_span
from pgs_neo4j.pgs.runs import keys, runs, session
from pgs_neo4j.pgs.runs.recording import Recording, hold_record
from pgs_neo4j.pgs.runs.runs import Handle, StoredRun
from pgs_neo4j.telemetry import spans
from pgs_neo4j.text.keywords import Keywords


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOrder:
    """A question, the results of its search, and the options of its answer.

    ``run`` has the request, the graph, and the knobs. ``partitioned`` is False if the graph has no
    partitions of its present definition. ``search_again`` repeats the search with keywords of a
    model instead of the question's own words. ``top_k`` is the number of nodes to answer from, None
    for all: with the reranker ``model``, ``found`` has more nodes than ``top_k``.
    """

    run: RunOrder
    found: Found
    partitioned: bool = True
    keywords: KeywordSource = "words"
    rerank: RerankerName | None = None
    top_k: int | None = None
    search_again: Callable[[Keywords], Awaitable[Found]] | None = None
    max_context_tokens: int = CONTEXT_TOKENS


def describe_search(
    question: str,
    wanted: SearchDefaults,
    model: str,
    config: PGSConfig,
    sessions_of: str = "",
    *,
    cypher: bool = True,
) -> dict[str, object]:
    """Return the data by which a repeated request for an answer is recognized.

    ``sessions_of`` is the prefix of the sessions whose runs the answer may use. ``cypher`` is False
    if no statement may be read.
    """
    return {
        **({} if cypher else {"cypher": False}),
        **({"sessions_of": sessions_of} if sessions_of else {}),
        "question": question,
        "search": wanted.model_dump(mode="json"),
        "models": [model],
        "knobs": config.model_dump(mode="json", include=set(SHAPING)),
    }


def restore_search(stored: dict[str, object]) -> SearchDefaults:
    """Return the search settings of a stored request."""
    return SearchDefaults.model_validate(stored)


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """The run of an answer; ``partitioning`` is None for a graph without partitions."""

    recording: Recording
    replies: Replies
    partitioning: Partitioning | None

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.recording.handle.id


@asynccontextmanager
async def record_answer(
    order: AnswerOrder, tools: RunTools, stored: StoredRun | None
) -> AsyncIterator[AnswerRecord]:
    """Open the record of an answer's run, and close it at the end.

    With ``stored``, that run is resumed.
    """

    async def begin() -> AnswerRecord:
        return await (
            _begin_run(order, tools) if stored is None else _resume_run(order, tools, stored)
        )

    def report_start(run: str) -> None:
        tools.log.on_event(RunStarted(run, resumed=stored is not None))

    with start_run_span(order.run, tools.calls, resumed=stored is not None) as span:
        async with hold_record(begin, tools.end, report_start) as record:
            span.note({spans.RUN_ID: record.id})
            yield record


async def _begin_run(order: AnswerOrder, tools: RunTools) -> AnswerRecord:
    run, handle = (
        order.run,
        Handle(order.run.request.run_id or keys.new_run_id(), str(Holder.unique())),
    )
    properties = {
        "question": run.request.question,
        "mode": order.found.mode,
        "request": json.dumps(run.identity, sort_keys=True),
        "config": stored_config(run.config),
    }
    await ensure_schema(tools.db)
    for _ in range(ATTEMPTS):
        partitioning = await _read_partitioning(order, tools)
        await session.open_session(tools.db, run.graph, run.request.session)
        begun = await runs.begin(
            tools.db,
            handle,
            keys.session_uid(tools.db.scope, run.graph, run.request.session),
            partitioning.generation.id if partitioning else "",
            properties,
            keys.idempotency_uid(
                tools.db.scope, run.graph, run.request.session, run.request.idempotency_key
            ),
            total=tools.calls.spent_before(),
        )
        if begun == handle.id:
            return _make_record(order, tools, handle, partitioning)
        if begun is not None:
            raise BusyError(
                f"run {begun} has just begun with the same idempotency key; wait until it ends"
            )
    raise DatabaseError(
        f"graph {run.graph} was repartitioned {ATTEMPTS} times while the run began; "
        "try again when no job is repartitioning it"
    )


async def _resume_run(order: AnswerOrder, tools: RunTools, stored: StoredRun) -> AnswerRecord:
    await ensure_schema(tools.db)
    handle, before, today = await runs.take_over(tools.db, stored)
    return _make_record(order, tools, handle, await _read_partitioning(order, tools), before, today)


async def _read_partitioning(order: AnswerOrder, tools: RunTools) -> Partitioning | None:
    if not order.partitioned:
        return None
    return await read_current(tools.db, order.run.graph, centroids=False, known=tools.known)


def _make_record(
    order: AnswerOrder,
    tools: RunTools,
    handle: Handle,
    partitioning: Partitioning | None,
    before: Spent | None = None,
    today: Mapping[str, Spent] | None = None,
) -> AnswerRecord:
    recording = Recording.of(tools.db, handle, tools.calls, before or Spent(), today or {})
    replies = Replies(tools.db, handle.id, shared=shares_replies(order.run.config))
    return AnswerRecord(recording, replies, partitioning)
