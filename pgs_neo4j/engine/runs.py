"""``pgs.runs``: recorded runs, their answers, and what was spent by day."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Unpack, get_args

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.fence import read_token
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.questions import find_repeated
from pgs_neo4j.errors import UnknownRunError, UnknownSweepError
from pgs_neo4j.export import Document
from pgs_neo4j.model import Answer, FeedbackResult, Mode, Sweep
from pgs_neo4j.pgs.request import Request, RequestOptions, as_request
from pgs_neo4j.pgs.runs import answers, documents, feedback, keys, sweeps
from pgs_neo4j.pgs.runs import runs as stored_runs
from pgs_neo4j.pgs.runs.listing import WHOLE, RunInfo, StoredReply, list_runs, read_replies
from pgs_neo4j.pgs.runs.runs import StoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCost:
    """What a task of a graph cost on a day (UTC), with the same session and models.

    ``task`` is run, search, plan, ingest, partition, or analogies. Only runs have a session. A run
    that went on after midnight counts on both days. ``cache_read_tokens`` of the input came from a
    provider's prompt cache, and ``cache_write_tokens`` were stored there. ``unpriced`` counts what
    called a model without prices; ``cost`` leaves it out.
    """

    day: str
    graph: str
    session: str
    model: str | None
    runs: int
    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    task: str = "run"


@dataclass(frozen=True, slots=True)
class Runs:
    """Recorded runs. Called, it lists them: ``await pgs.runs("papers")``."""

    _core: Core

    async def __call__(
        self,
        graph: str | None = None,
        session: str | None = None,
        *,
        answered: bool = False,
        asked: bool = False,
        limit: int = 20,
        graphs: Collection[str] | None = None,
        sessions_of: str = "",
    ) -> list[RunInfo]:
        """Return the newest runs of one or all graphs and sessions, the latest first.

        ``answered`` leaves out runs without an answer, and ``asked`` answers from a search.
        Without a graph, ``graphs`` are the graphs to list, None for all. ``sessions_of`` is how the
        names of sessions begin. Raises UnknownGraphError.
        """
        chosen = [(await self._core.graph(graph)).name] if graph else graphs
        return await list_runs(
            self._core.db,
            chosen,
            session,
            sessions_of=sessions_of,
            answered=answered,
            limit=limit,
            modes=get_args(Mode) if asked else (),
        )

    def new_id(self) -> str:
        """Return an id for a run that is yet to begin, so that it is known before."""
        return keys.new_run_id()

    async def latest(
        self,
        graph: str | None = None,
        session: str | None = None,
        *,
        answered: bool = False,
        asked: bool = False,
    ) -> RunInfo:
        """Return the latest run of a graph and session.

        ``answered`` and ``asked`` as for a list of runs. Without a graph, it is the latest of the
        configured graph, else of all. Raises UnknownRunError when there is no run.
        """
        graph = graph or self._core.settings.graph
        infos = await self(graph, session, answered=answered, asked=asked, limit=1)
        if infos:
            return infos[0]
        within = f" in session {session}" if session else ""
        within += f" of graph {graph}" if graph else ""
        kind = "run with an answer" if answered else "question" if asked else "run"
        raise UnknownRunError(f"there is no {kind}{within} yet; 'pgs ask' starts one")

    async def get(self, run: str) -> StoredRun:
        """Return a stored run, with or without an answer. Raises UnknownRunError."""
        return await stored_runs.read(self._core.db, run)

    async def deletion_token(self) -> str | None:
        """Return a token that every deletion and purge replaces.

        What was read at a token holds no deleted text as long as the token stays. None while a
        deletion is in progress, and before anything is stored. Raises DatabaseError.
        """
        return await read_token(self._core.db)

    async def find(self, prefix: str) -> str:
        """Return the id of the only run whose id begins so; a whole id is always that run's.

        Raises UnknownRunError without one, and UsageError, which names them, for several.
        """
        return await stored_runs.find(self._core.db, prefix)

    async def replies(self, run: str, *, most: int = WHOLE) -> list[StoredReply]:
        """Return what models replied in a run, accepted or rejected, in the order of arrival.

        Of each text, at most ``most`` characters. Raises UnknownRunError.
        """
        stored = await stored_runs.read(self._core.db, run)
        return await read_replies(self._core.db, stored.id, most)

    async def repeated(
        self, question: str | Request, **options: Unpack[RequestOptions]
    ) -> StoredRun | None:
        """Return the run that ``pgs.execute`` with these arguments would repeat, None without one.

        A request without an ``idempotency_key`` repeats none. Nothing is asked. Raises
        IdempotencyError when the key belongs to another request, QuestionError, and
        UnknownGraphError.
        """
        return await find_repeated(self._core, as_request(question, options))

    async def answer(self, run: str) -> Answer:
        """Return the stored answer of a run.

        Raises UnknownRunError and NoAnswerError.
        """
        return await answers.load(self._core.db, await stored_runs.read(self._core.db, run))

    async def document(self, run: str) -> Document:
        """Return the answer of a run with its partitions and cited nodes.

        ``pgs_neo4j.export`` writes it as a file. Raises as ``answer`` does.
        """
        stored = await stored_runs.read(self._core.db, run)
        graph = await self._core.graph(stored.graph)
        answer = await answers.load(self._core.db, stored)
        return await documents.read_document(self._core.db, stored, answer, graph.mapping)

    async def sweep(self, run: str, partition: int) -> Sweep:
        """Return what a run has recorded of a partition, with its report; answered or not.

        Raises UnknownRunError, and UnknownSweepError if the run has read nothing of it.
        """
        stored = await stored_runs.read(self._core.db, run)
        recorded = await sweeps.read_recorded_sweeps(
            self._core.db, stored.id, stored.generation or "", partition
        )
        if not recorded:
            raise UnknownSweepError(
                f"run {stored.id} has recorded no sweep of partition {partition}; "
                f"'pgs show {stored.id}' lists those that it has read"
            )
        return recorded[0]

    async def costs(self, days: int = 30) -> list[DayCost]:
        """Return what runs cost on each of the last days (UTC), the latest first."""
        return await read_costs(self._core.db, days)

    async def feedback(
        self, run: str, outcome: str, *, graph: str | None = None, replace: bool = False
    ) -> FeedbackResult:
        """Record whether the answer of a run was accepted, needs rework, or was rejected.

        The weights of the nodes and triplets that it cites follow. The same outcome again changes
        nothing. With ``replace``, another outcome takes the place of the first. Raises
        UnknownRunError, also if the run is of another graph than ``graph``; BusyError if it is
        still running; FeedbackError if it has no answer, or another outcome.
        """
        chosen = feedback.check_outcome(outcome)
        stored = await stored_runs.read(self._core.db, run)
        if graph is not None and stored.graph != graph:
            raise UnknownRunError(
                f"run {stored.id} is of graph {stored.graph}, not of {graph}; "
                "'pgs runs' lists the runs"
            )
        await ensure_schema(self._core.db)
        mapping = (await self._core.graph(stored.graph)).mapping
        return await feedback.record(self._core.db, stored, mapping, chosen, replace=replace)


async def read_costs(db: Database, days: int) -> list[DayCost]:
    """Return the costs of the last ``days`` days, today included, the latest first."""
    since = datetime.now(UTC).date() - timedelta(days=days - 1)
    rows = await db.read(queries.get("engine/browse/read_costs"), since=since.isoformat())
    return [DayCost(**row) for row in rows]
