"""``PGS``: the object that connects, partitions, routes, sweeps, and synthesizes.

    async with PGS.connect(neo4j_uri="bolt://localhost:7687", neo4j_password="…") as pgs:
        answer = await pgs.execute("What is missing?", graph="papers")

Without an address, it uses the managed local server. Every method may raise the errors of
``pgs_neo4j.errors``. Canceling a call also cancels its database queries and model calls.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Generic, TypeVar, Unpack, cast

from pgs_neo4j.config import EmbedderName, Knobs, PGSConfig, Settings, SettingsOverrides
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.engine import questions
from pgs_neo4j.engine.connecting import open_core
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.graphs import Graphs
from pgs_neo4j.engine.jobs import Jobs
from pgs_neo4j.engine.partitions import Partitions
from pgs_neo4j.engine.purge import Purged, purge
from pgs_neo4j.engine.runs import Runs
from pgs_neo4j.engine.sessions import Sessions
from pgs_neo4j.events import OnEvent, ignore
from pgs_neo4j.llm.calls import replies
from pgs_neo4j.llm.calls.replies import Kept
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.protocol import LLM, Embedder
from pgs_neo4j.model import (
    Answer,
    Plan,
    Routing,
    SearchMode,
    Sweep,
    Synthesis,
)
from pgs_neo4j.model.scope import ScopeValue, make_scope
from pgs_neo4j.pgs.answering.layered import LayeredAnswer
from pgs_neo4j.pgs.request import Request, RequestOptions, as_request
from pgs_neo4j.text.restriction import make_restriction

if TYPE_CHECKING:
    from pgs_neo4j.engine.analogies import AnalogyFinder
    from pgs_neo4j.engine.browsing import Browser
    from pgs_neo4j.engine.doctor.examination import Doctor
    from pgs_neo4j.engine.gate import Gate
    from pgs_neo4j.engine.indexes import Indexes
    from pgs_neo4j.engine.ingestion.entities import Entities
    from pgs_neo4j.engine.ingestion.ingesting import Ingester
    from pgs_neo4j.engine.loading import Loader
    from pgs_neo4j.engine.searching import Searcher
    from pgs_neo4j.engine.survey import Surveyor

T = TypeVar("T")


class _Shared(Generic[T]):
    """An attribute of ``PGS`` that is stored in the core, where all views read it."""

    def __set_name__(self, owner: type[PGS], name: str) -> None:
        self.name = name

    def __get__(self, pgs: PGS, owner: type[PGS] | None = None) -> T:
        return cast(T, getattr(pgs._core, self.name))

    def __set__(self, pgs: PGS, value: T) -> None:
        setattr(pgs._core, self.name, value)


class PGS:
    """Partitioned Graph Synthesis on one database; ``PGS.connect`` opens it.

    Views group related methods: ``graphs``, ``partitions``, ``sessions``, ``runs``, ``jobs``,
    ``indexes``, ``search``, ``gate``, ``browse``, ``analogies``, ``survey``, ``ingest``,
    ``entities``, ``load``, and ``doctor``. Most views can be called: ``await pgs.graphs()`` lists
    the graphs.
    """

    __slots__ = ("_core", "_opened")

    db = _Shared[Database]()
    settings = _Shared[Settings]()
    config = _Shared[PGSConfig]()
    sweep_llm = _Shared[LLM]()
    synthesis_llm = _Shared[LLM]()
    embedder = _Shared["Embedder | None"]()
    on_event = _Shared[OnEvent]()

    def __init__(self, core: Core) -> None:
        self._core = core
        self._opened: AsyncExitStack | None = None

    @staticmethod
    @asynccontextmanager
    async def connect(
        *,
        sweep_llm: LLM | None = None,
        synthesis_llm: LLM | None = None,
        embedder: Embedder | EmbedderName | None = None,
        on_event: OnEvent = ignore,
        **settings: Unpack[SettingsOverrides],
    ) -> AsyncIterator[PGS]:
        """Connect as configured; ``settings`` override ``pgs.toml`` and the environment.

        Models and an embedder (or its name) may be passed in; they are not closed. Risky settings
        are reported as events or, without ``on_event``, as Python warnings. Raises ConfigError,
        DatabaseError, and ModelError when the configured database or models cannot be used.
        """
        async with open_core(sweep_llm, synthesis_llm, embedder, on_event, settings) as core:
            yield PGS(core)

    @staticmethod
    async def open(
        *,
        sweep_llm: LLM | None = None,
        synthesis_llm: LLM | None = None,
        embedder: Embedder | EmbedderName | None = None,
        on_event: OnEvent = ignore,
        **settings: Unpack[SettingsOverrides],
    ) -> PGS:
        """Connect until ``close`` is called, for example from notebook cells; see ``connect``."""
        async with AsyncExitStack() as stack:
            connecting = PGS.connect(
                sweep_llm=sweep_llm,
                synthesis_llm=synthesis_llm,
                embedder=embedder,
                on_event=on_event,
                **settings,
            )
            pgs = await stack.enter_async_context(connecting)
            pgs._opened = stack.pop_all()
        return pgs

    async def close(self) -> None:
        """Close a connection made by ``open``, but none made by ``connect``. Harmless to repeat."""
        if self._opened is not None:
            await self._opened.aclose()

    @staticmethod
    @asynccontextmanager
    async def connect_without_models(
        *,
        embedder: Embedder | EmbedderName | None = None,
        on_event: OnEvent = ignore,
        **settings: Unpack[SettingsOverrides],
    ) -> AsyncIterator[PGS]:
        """Connect without models, so that no API key is needed.

        The extractive reader answers questions.
        """
        reader = ExtractiveLLM()
        async with open_core(reader, reader, embedder, on_event, settings) as core:
            yield PGS(core)

    @property
    def scope(self) -> Mapping[str, ScopeValue]:
        """The values that every node has which this engine sees; empty without a scope."""
        return self.db.scope.as_dict()

    @property
    def where(self) -> str:
        """The condition that every node meets which this engine sees; empty without one."""
        return self._core.restriction.where_text

    @property
    def as_of(self) -> str:
        """The date at which everything is valid that this engine sees; empty without one."""
        return self._core.restriction.as_of

    @property
    def is_restricted(self) -> bool:
        """Whether this engine has ``where`` or ``as_of``."""
        return bool(self._core.restriction)

    def within(
        self,
        scope: Mapping[str, object] | None = None,
        *,
        where: str | None = None,
        as_of: str | None = None,
    ) -> PGS:
        """Return an engine that sees only a part of what this engine sees.

        Its nodes have the values of ``scope`` and meet the condition ``where``, such as
        ``"year >= 2020 and type = 'report'"``. What it sees is valid at ``as_of``, a date as in
        ``2024-05-01``, by the properties that the mapping names in ``valid_from`` and ``valid_to``.
        The engine uses the connections and models of this engine, and works until this engine is
        closed. Raises ScopeError if a value is malformed or contradicts the scope of this engine,
        and ConditionError if the condition or the date cannot be parsed.
        """
        core = self._core
        joined = core.db.scope.join(make_scope(scope))
        restriction = core.restriction.join(make_restriction(where, as_of))
        if joined == core.db.scope.base and restriction == core.restriction:
            return self
        return PGS(core.within(joined, restriction))

    async def open_view(self, graph: str | None = None) -> PGS:
        """Return an engine whose view of a graph is brought up to date once, now.

        Other engines with ``where`` or ``as_of`` check their view at every call. Without either,
        returns this engine. Raises UnknownGraphError, and ConditionError if the condition names a
        property that no node of the graph has.
        """
        core = await self._core.opened(graph)
        return self if core is self._core else PGS(core)

    @property
    def graphs(self) -> Graphs:
        """Named views of the database."""
        return Graphs(self._core)

    @property
    def partitions(self) -> Partitions:
        """The partitions of graphs, and their drift since partitioning."""
        return Partitions(self._core)

    @property
    def sessions(self) -> Sessions:
        """Sessions: series of questions, with their coverage."""
        return Sessions(self._core)

    @property
    def runs(self) -> Runs:
        """Recorded runs and their answers."""
        return Runs(self._core)

    @property
    def jobs(self) -> Jobs:
        """Repartitions that are recorded as jobs."""
        return Jobs(self)

    @property
    def indexes(self) -> Indexes:
        """Vector indexes on stored embeddings."""
        from pgs_neo4j.engine.indexes import Indexes

        return Indexes(self._core)

    @property
    def search(self) -> Searcher:
        """Searches of a graph, in milliseconds and without a language model."""
        from pgs_neo4j.engine.searching import Searcher

        return Searcher(self._core)

    @property
    def gate(self) -> Gate:
        """The gate for Cypher: it lets one plain read pass, and nothing else."""
        from pgs_neo4j.engine.gate import Gate

        return Gate(self._core)

    @property
    def browse(self) -> Browser:
        """Single nodes of a graph, their neighbors, and the findings that cite them."""
        from pgs_neo4j.engine.browsing import Browser

        return Browser(self._core)

    @property
    def analogies(self) -> AnalogyFinder:
        """Analogies between the texts of a graph."""
        from pgs_neo4j.engine.analogies import AnalogyFinder

        return AnalogyFinder(self._core)

    @property
    def survey(self) -> Surveyor:
        """Contents of the database, and a proposal for a graph mapping."""
        from pgs_neo4j.engine.survey import Surveyor

        return Surveyor(self._core)

    @property
    def ingest(self) -> Ingester:
        """Ingestion of documents: ``await pgs.ingest("docs/", graph="docs")``."""
        from pgs_neo4j.engine.ingestion.ingesting import Ingester

        return Ingester(self._core)

    @property
    def entities(self) -> Entities:
        """Entities of documents: listed, shown, merged, and split."""
        from pgs_neo4j.engine.ingestion.entities import Entities

        return Entities(self._core)

    @property
    def load(self) -> Loader:
        """Files and the demo, loaded as graphs."""
        from pgs_neo4j.engine.loading import Loader

        return Loader(self._core)

    @property
    def doctor(self) -> Doctor:
        """Checks of this setup, with their fixes."""
        from pgs_neo4j.engine.doctor.examination import Doctor

        return Doctor(self._core)

    async def execute(
        self,
        question: str | Request,
        *,
        on_event: OnEvent | None = None,
        **options: Unpack[RequestOptions],
    ) -> Answer:
        """Answer a question by the whole pipeline; pass text with ``options``, or a ``Request``.

        Options are ``graph``, ``mode``, ``session_id``, ``full_sweep``, ``structure_only``,
        ``idempotency_key``, ``run``, and every knob of PGSConfig by its name. Modes: ``full``
        routes among all partitions, ``continue`` sweeps all partitions that the session has not
        read, and ``targeted`` routes among these unread partitions. With an ``idempotency_key``,
        the same request in the same session returns the first answer, or resumes the first run if
        it has no answer. ``structure_only`` allows a question to a graph whose nodes have no text.
        ``run`` is the id for the new run, from ``pgs.runs.new_id()``. Raises NoTextError for a
        graph without text unless ``structure_only`` is set, NothingLeftError when mode ``continue``
        has nothing left to read and ``full_sweep`` is not set, AllSweepsFailedError when nothing
        could be read, StoppedError when a limit prevented reading, IdempotencyError when the key
        belongs to another request, and BusyError while the run with this key is in progress.
        """
        return await questions.execute(self._core, as_request(question, options), on_event)

    async def plan(
        self,
        question: str | Request,
        *,
        on_event: OnEvent | None = None,
        **options: Unpack[RequestOptions],
    ) -> Plan:
        """Predict what ``execute`` with the same arguments would read and cost.

        No language model is called. Existing partitions are not replaced; if ``execute`` would
        replace them first, ``Plan.partitions_note`` says so. A graph that has no partitions for its
        current definition is partitioned. A remote embedder embeds the question; this cost is
        recorded as the cost of a plan. Raises the errors that ``execute`` raises before its first
        model call, and BudgetError if a server's caller has no money left.
        """
        return await questions.plan_question(self._core, as_request(question, options), on_event)

    async def layered_search(
        self,
        question: str | Request,
        *,
        top_k: int = 20,
        search_mode: SearchMode | None = None,
        on_event: OnEvent | None = None,
        **options: Unpack[RequestOptions],
    ) -> LayeredAnswer:
        """Answer from the ``top_k`` best-matching nodes, then sweep for what that answer missed.

        Routing finds these nodes; if ``search_mode`` is set, a search in this mode finds them.
        Options are those of ``execute``, except ``idempotency_key``.
        """
        request = as_request(question, options)
        return await questions.search(self._core, request, on_event, top_k, search_mode)

    async def resume(
        self, run: str, *, on_event: OnEvent | None = None, **knobs: Unpack[Knobs]
    ) -> Answer:
        """Resume a run that stopped, failed, or answered only in part.

        Replies that the run has paid for are not paid for again. Knobs passed here override the
        knobs of the run. Limits on calls, tokens, cost, and time count from zero. A complete run
        returns its answer. Raises UnknownRunError, BusyError while the run is in progress, and what
        ``execute`` raises.
        """
        return await questions.resume(self._core, run, on_event, knobs)

    async def route(
        self,
        question: str,
        *,
        graph: str | None = None,
        full_sweep: bool = False,
        **knobs: Unpack[Knobs],
    ) -> Routing:
        """Return the partitions that routing selects for a question, with reasons."""
        request = Request(question, graph, full_sweep=full_sweep, knobs=knobs)
        return await questions.route(self._core, request)

    async def sweep_partition(
        self,
        question: str,
        partition_id: int,
        *,
        graph: str | None = None,
        on_event: OnEvent | None = None,
        **knobs: Unpack[Knobs],
    ) -> Sweep:
        """Sweep one current partition for a question, without recording it in a session.

        Raises UsageError if the partition does not exist.
        """
        request = Request(question, graph, knobs=knobs)
        return await questions.sweep_partition(self._core, request, partition_id, on_event)

    async def synthesize(
        self,
        question: str,
        sweeps: Sequence[Sweep],
        *,
        graph: str | None = None,
        on_event: OnEvent | None = None,
        **knobs: Unpack[Knobs],
    ) -> Synthesis:
        """Synthesize sweeps from ``sweep_partition``, without recording the result in a session.

        As in a run, its sentences are checked against the nodes that the sweeps cite. With
        ``strict``, a sentence that fails two checks is struck; a sentence that the sweeps put in
        doubt is struck at once. Raises UsageError when the sweeps are of an older generation.
        """
        request = Request(question, graph, knobs=knobs)
        return await questions.synthesize_sweeps(self._core, request, sweeps, on_event)

    async def kept_replies(self) -> Kept:
        """Return the size of the reply cache in the database."""
        if not self._core.restriction:
            return await replies.kept(self.db)
        opened = await self._core.opened_all()
        kept = [await replies.kept(core.db) for core in opened.values()]
        return Kept(sum(one.replies for one in kept), sum(one.size_bytes for one in kept))

    async def clear_cache(self) -> Kept:
        """Empty the reply cache, and return the size that it had."""
        return await replies.clear(self.db)

    async def watch_deletions(self) -> Callable[[object], Awaitable[None]]:
        """Return a function that checks that no part of a text has been deleted.

        Call this method before you read a text, and the returned function before you store the text
        elsewhere. The function raises TextDeletedError if the text contains a part of a document
        whose deletion began after the call of this method.
        """
        await ensure_schema(self.db)
        watching = await self.db.fenced()
        return watching.check_deleted

    async def purge(self) -> Purged:
        """Remove everything that pgs wrote. Your own graph does not change."""
        return await purge(self.db)
