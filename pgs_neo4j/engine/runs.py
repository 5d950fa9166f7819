"""``pgs.runs``: recorded runs, their answers, and costs by day."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Unpack, get_args

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.fence import read_token
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.questions import find_repeated
from pgs_neo4j.engine.viewing import of_run
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
    """The cost of one task of a graph on a day (UTC), for one session and the same models.

    ``task`` is run, search, plan, ingest, partition, or analogies. Only runs have a session. A run
    that continued after midnight counts on both days. ``cache_read_tokens`` are input tokens that
    came from a provider's prompt cache, and ``cache_write_tokens`` are input tokens that were
    stored there. ``unpriced`` counts calls of models without prices; ``cost`` leaves these calls
    out.
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
        """Return the newest runs of a graph and session, or of all, newest first.

        ``answered`` leaves out runs without an answer. ``asked`` leaves out answers from a search.
        Without ``graph``, only runs of the graphs in ``graphs`` are returned; None means all
        graphs. ``sessions_of`` limits the runs to sessions whose names begin with this prefix.
        Raises UnknownGraphError.
        """
        list_of = partial(
            list_runs,
            session=session,
            sessions_of=sessions_of,
            answered=answered,
            limit=limit,
            modes=get_args(Mode) if asked else (),
        )
        if not self._core.restriction:
            chosen = [(await self._core.graph(graph)).name] if graph else graphs
            return await list_of(self._core.db, chosen)
        found = []
        for name, core in (await self._open_views(graph)).items():
            if graphs is None or name in graphs:
                found += await list_of(core.db, [name])
        return sorted(found, key=lambda info: info.started_at, reverse=True)[:limit]

    async def _open_views(self, graph: str | None) -> dict[str, Core]:
        """Return the core of one graph, or of all graphs, as the restriction allows."""
        if graph is None:
            return await self._core.opened_all()
        core = await self._core.opened(graph)
        return {(await core.graph(graph)).name: core}

    def new_id(self) -> str:
        """Return an id for a new run, so that the caller knows it before the run begins."""
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

        ``answered`` and ``asked`` leave out runs as in a list of runs. Without ``graph``, the
        configured graph is used, or all graphs if none is configured. Raises UnknownRunError if
        there is no run.
        """
        graph = graph or self._core.settings.graph
        infos = await self(graph, session, answered=answered, asked=asked, limit=1)
        if infos:
            return infos[0]
        within = f" in session {session}" if session else ""
        within += f" of graph {graph}" if graph else ""
        kind = "run with an answer" if answered else "question" if asked else "run"
        raise UnknownRunError(f"there is no {kind}{within} yet; 'pgs ask' starts one")

    @of_run
    async def get(self, run: str) -> StoredRun:
        """Return a stored run, with or without an answer. Raises UnknownRunError."""
        return await stored_runs.read(self._core.db, run)

    async def deletion_token(self) -> str | None:
        """Return a token that every deletion and purge replaces.

        As long as the token is the same, text that was read under it contains no deleted text.
        Returns None while a deletion is in progress, and before anything is stored. Raises
        DatabaseError.
        """
        return await read_token(self._core.db)

    async def find(self, prefix: str) -> str:
        """Return the id of the only run whose id begins with ``prefix``.

        A whole id always matches its run. Raises UnknownRunError if no run matches, and UsageError,
        which names the runs, if several match.
        """
        if not self._core.restriction:
            return await stored_runs.find(self._core.db, prefix)
        for core in (await self._core.opened_all()).values():
            with suppress(UnknownRunError):
                return await stored_runs.find(core.db, prefix)
        return await stored_runs.find(self._core.db, prefix)  # raises UnknownRunError

    @of_run
    async def replies(self, run: str, *, most: int = WHOLE) -> list[StoredReply]:
        """Return the accepted and rejected replies of models in a run, in order of arrival.

        Each text is cut to ``most`` characters. Raises UnknownRunError.
        """
        stored = await stored_runs.read(self._core.db, run)
        return await read_replies(self._core.db, stored.id, most)

    async def repeated(
        self, question: str | Request, **options: Unpack[RequestOptions]
    ) -> StoredRun | None:
        """Return the run that ``pgs.execute`` with these arguments would repeat, if there is one.

        A request without an ``idempotency_key`` never repeats a run. No model is called. Raises
        IdempotencyError when the key belongs to another request, QuestionError, and
        UnknownGraphError.
        """
        return await find_repeated(self._core, as_request(question, options))

    @of_run
    async def answer(self, run: str) -> Answer:
        """Return the stored answer of a run.

        Raises UnknownRunError and NoAnswerError.
        """
        return await answers.load(self._core.db, await stored_runs.read(self._core.db, run))

    @of_run
    async def document(self, run: str) -> Document:
        """Return the answer of a run with its partitions and cited nodes.

        ``pgs_neo4j.export`` writes it to a file. Raises the errors of ``answer``.
        """
        stored = await stored_runs.read(self._core.db, run)
        graph = await self._core.graph(stored.graph)
        answer = await answers.load(self._core.db, stored)
        return await documents.read_document(self._core.db, stored, answer, graph.mapping)

    @of_run
    async def sweep(self, run: str, partition: int) -> Sweep:
        """Return the recorded sweep of a partition, with its report, even if the run has no answer.

        Raises UnknownRunError, and UnknownSweepError if the run has recorded no sweep of the
        partition.
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
        """Return the costs of the last ``days`` days (UTC), today included, the latest first."""
        if not self._core.restriction:
            return await read_costs(self._core.db, days)
        opened = await self._core.opened_all()
        costs = [cost for core in opened.values() for cost in await read_costs(core.db, days)]
        return sorted(costs, key=lambda cost: cost.day, reverse=True)

    @of_run
    async def feedback(
        self, run: str, outcome: str, *, graph: str | None = None, replace: bool = False
    ) -> FeedbackResult:
        """Record whether the answer of a run was accepted, needs rework, or was rejected.

        Adjusts the weights of the nodes and triplets that the answer cites. Recording the same
        outcome again changes nothing. With ``replace``, a new outcome replaces the former one.
        Raises UnknownRunError, also if the run does not belong to ``graph``; BusyError if the run
        is still in progress; and FeedbackError if it has no answer, or already has another outcome.
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
    """Read the costs of the last ``days`` days (UTC), today included, the latest first."""
    since = datetime.now(UTC).date() - timedelta(days=days - 1)
    rows = await db.read(queries.get("engine/read_costs"), since=since.isoformat())
    if not db.scope:
        return [DayCost(**row) for row in rows]
    named = ((row, db.scope.unqualify(row["graph"])) for row in rows)
    return [DayCost(**row | {"graph": graph}) for row, graph in named if graph is not None]
