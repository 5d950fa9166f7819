"""The engine: one object that connects, partitions, routes, sweeps, and synthesizes.

    async with PGS.connect(neo4j_uri="bolt://localhost:7687", neo4j_password="…") as pgs:
        answer = await pgs.execute("What is missing?", graph="papers")

Without an address it uses the managed local server. Every method may raise the errors of
``pgs_neo4j.errors``; cancelling one cancels its database and model work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pgs_neo4j import catalog, config, gds
from pgs_neo4j.calls import replies
from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.calls.replies import Kept
from pgs_neo4j.catalog import Purged, StoredGraph
from pgs_neo4j.config import EmbedderName, PGSConfig, Settings
from pgs_neo4j.database import connection
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.errors import UsageError
from pgs_neo4j.events import OnEvent, Warned, ignore
from pgs_neo4j.export import Document
from pgs_neo4j.gds import GDS
from pgs_neo4j.llm.factory import create_embedder, create_llms
from pgs_neo4j.llm.protocol import LLM, Embedder
from pgs_neo4j.model import (
    Answer,
    Coverage,
    Drift,
    Generation,
    GraphMapping,
    Mode,
    Origin,
    Partition,
    Plan,
    Routing,
    Sweep,
    Synthesis,
    Unit,
)
from pgs_neo4j.partitioning import ensure, generation
from pgs_neo4j.partitioning.ensure import Partitioning
from pgs_neo4j.partitioning.order import PartitionOrder, PartitionTools
from pgs_neo4j.pgs import idempotency, layered, pipeline, plan
from pgs_neo4j.pgs.layered import LayeredAnswer
from pgs_neo4j.pgs.route import route_question
from pgs_neo4j.pgs.run import Request, Work, check, check_question
from pgs_neo4j.retrieval.space import Space, choose
from pgs_neo4j.runs import answers, documents, runs, session
from pgs_neo4j.runs.session import SessionInfo
from pgs_neo4j.sweeping.context import Reader, new_gate, unrecorded
from pgs_neo4j.sweeping.sweep import sweep
from pgs_neo4j.synthesis.write import Writer, synthesize


@dataclass(slots=True)
class PGS:
    """Partitioned Graph Synthesis on one database. Made by ``PGS.connect``."""

    db: Database
    settings: Settings
    config: PGSConfig
    sweep_llm: LLM
    synthesis_llm: LLM
    embedder: Embedder | None = None
    on_event: OnEvent = ignore
    _gds: GDS | None = None
    _embedders: dict[EmbedderName, Embedder] = field(default_factory=dict, repr=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @staticmethod
    @asynccontextmanager
    async def connect(
        *,
        sweep_llm: LLM | None = None,
        synthesis_llm: LLM | None = None,
        embedder: Embedder | EmbedderName | None = None,
        on_event: OnEvent = ignore,
        **settings: Any,
    ) -> AsyncIterator[PGS]:
        """Connect as configured; ``settings`` override file and environment by name.

        Own models and an own embedder (or the name of one) may be passed in; what is passed
        in is not closed. Raises ConfigError,
        DatabaseError, and ModelError when what is configured cannot be used.
        """
        if isinstance(embedder, str):
            settings, embedder = {**settings, "embedder": embedder}, None
        loaded = config.load(settings)
        async with _database(loaded.settings, loaded.config, on_event) as database:
            readers = None
            if sweep_llm is None or synthesis_llm is None:
                readers = create_llms(loaded.settings, loaded.config)
                sweep_llm = sweep_llm or readers.sweep
                synthesis_llm = synthesis_llm or readers.synthesis
            engine = PGS(
                db=database,
                settings=loaded.settings,
                config=loaded.config,
                sweep_llm=sweep_llm,
                synthesis_llm=synthesis_llm,
                embedder=embedder,
                on_event=on_event,
            )
            try:
                yield engine
            finally:
                if readers is not None:
                    await readers.close()
                for made in engine._embedders.values():
                    await made.close()

    async def execute(
        self,
        question: str,
        *,
        graph: str | None = None,
        mode: Mode = "full",
        session_id: str = session.DEFAULT,
        full_sweep: bool = False,
        idempotency_key: str | None = None,
        on_event: OnEvent | None = None,
        **knobs: Any,
    ) -> Answer:
        """Run the whole pipeline on a question; ``knobs`` override PGSConfig by name.

        Modes: ``full`` routes among all partitions, ``continue`` sweeps what the session has
        not read, ``targeted`` routes among that. With an ``idempotency_key`` the same request
        in the same session gives the first answer again, or goes on with a run that has none
        yet. Raises AllSweepsFailedError when nothing could be read, StoppedError when a bound
        did not let it, IdempotencyError when the key belongs to another request, BusyError
        while that run is still going on.
        """
        work, request = await self._begin(
            question, graph, mode, session_id, full_sweep, on_event, knobs
        )
        request = replace(request, idempotency_key=idempotency_key)
        check(request)
        return await idempotency.answered(work, request)

    async def plan(
        self,
        question: str,
        *,
        graph: str | None = None,
        mode: Mode = "full",
        session_id: str = session.DEFAULT,
        full_sweep: bool = False,
        on_event: OnEvent | None = None,
        **knobs: Any,
    ) -> Plan:
        """What ``execute`` with the same arguments would read, and what it is likely to cost.

        No language model is called. A graph that changed is partitioned, as it would be.
        """
        work, request = await self._begin(
            question, graph, mode, session_id, full_sweep, on_event, knobs
        )
        return await plan.plan(work, request)

    async def resume(self, run: str, *, on_event: OnEvent | None = None, **knobs: Any) -> Answer:
        """Go on with a run that was stopped, failed, or interrupted, or that answered in part.

        What it has paid for is not paid for again. It keeps the knobs that it began with but for
        those given; bounds on calls, tokens, cost, and time count from here. A complete run
        gives its answer. Raises UnknownRunError, BusyError while it is still going on, and what
        ``execute`` raises.
        """
        stored = await runs.read(self.db, run)
        graph = await self._graph(stored.graph)
        if stored.status == "complete":
            return await answers.load(self.db, stored, graph.mapping)
        request = idempotency.stored_request(stored, graph.mapping)
        in_force = config.restored(stored.properties["config"], knobs)
        work = self._work(graph.mapping, on_event, {}, in_force)
        return await pipeline.execute(work, request, stored)

    async def answer(self, run: str) -> Answer:
        """The answer of a run, read back. Raises UnknownRunError, UsageError without one."""
        stored = await runs.read(self.db, run)
        graph = await self._graph(stored.graph)
        return await answers.load(self.db, stored, graph.mapping)

    async def document(self, run: str) -> Document:
        """The answer of a run with the partitions around it and the nodes that it cites.

        ``pgs_neo4j.export`` makes files of it. Raises as ``answer`` does.
        """
        stored = await runs.read(self.db, run)
        graph = await self._graph(stored.graph)
        found = await answers.load(self.db, stored, graph.mapping)
        return await documents.document(self.db, stored, found, graph.mapping)

    async def kept_replies(self) -> Kept:
        """How many replies of models the database keeps for being used again."""
        return await replies.kept(self.db)

    async def clear_cache(self) -> Kept:
        """Delete the kept replies; tells how many there were."""
        return await replies.clear(self.db)

    async def layered_search(
        self,
        question: str,
        *,
        graph: str | None = None,
        top_k: int = 20,
        mode: Mode = "full",
        session_id: str = session.DEFAULT,
        full_sweep: bool = False,
        on_event: OnEvent | None = None,
        **knobs: Any,
    ) -> LayeredAnswer:
        """Answer from the ``top_k`` nearest nodes first, then sweep knowing that answer."""
        work, request = await self._begin(
            question, graph, mode, session_id, full_sweep, on_event, knobs
        )
        return await layered.layered_search(work, request, top_k)

    async def partition(
        self,
        graph: str | None = None,
        *,
        force: bool = False,
        on_event: OnEvent | None = None,
        **knobs: Any,
    ) -> Partitioning:
        """Partition a graph, or reuse its generation while the fingerprint holds.

        ``force`` begins from nothing even when little changed, or nothing. Raises BusyError
        while somebody else is at it.
        """
        stored = await self._graph(graph)
        await ensure_schema(self.db)
        order = self._partition_order(stored, knobs, force=force)
        return await ensure.ensure(order, self._partition_tools(stored.mapping, on_event))

    async def check(
        self,
        graph: str | None = None,
        *,
        scan: bool = True,
        on_event: OnEvent | None = None,
        **knobs: Any,
    ) -> Drift | None:
        """How far a graph has moved from its current partitions; None before the first.

        Whether anybody else has committed since is told at once; only then, and with ``scan``,
        the graph is scanned and compared. Nothing is repartitioned.
        """
        stored = await self._graph(graph)
        await ensure_schema(self.db)
        tools = self._partition_tools(stored.mapping, on_event)
        return await ensure.check(self._partition_order(stored, knobs), tools, scan=scan)

    def outlook(self, drift: Drift, **knobs: Any) -> Origin | None:
        """How the next partitioning after such a drift would come about; None: not at all."""
        return ensure.outlook(drift, config.with_overrides(self.config, knobs))

    async def clean_up(self, graph: str | None = None) -> None:
        """Remove what a job on this graph that died left behind. Raises BusyError."""
        stored = await self._graph(graph)
        await ensure.clean_up(
            self._partition_order(stored, {}), self._partition_tools(stored.mapping, None)
        )

    async def generation(self, graph: str | None = None) -> Generation:
        """The current generation with all its figures. Raises UsageError before the first."""
        return (await self._current(await self._graph(graph))).generation

    async def units(self, graph: str | None = None) -> list[Unit]:
        """The hierarchy above the current partitions, level by level."""
        current = await self._current(await self._graph(graph))
        return await generation.read_units(self.db, current.generation.id)

    async def partitions(self, graph: str | None = None) -> tuple[Partition, ...]:
        """The current partitions, largest first. Raises UsageError before the first ones."""
        current = await self._current(await self._graph(graph))
        return tuple(sorted(current.partitions, key=lambda part: (-part.size, part.id)))

    async def route(
        self,
        question: str,
        *,
        graph: str | None = None,
        full_sweep: bool = False,
        **knobs: Any,
    ) -> Routing:
        """Which of the current partitions a question would be routed to, and why."""
        check_question(question)
        stored = await self._graph(graph)
        work = self._work(stored.mapping, None, knobs)
        current = await self._current(stored)
        request = Request(
            question=question, graph=stored.name, mapping=stored.mapping, full_sweep=full_sweep
        )
        return await route_question(work, request, current.partitions, current)

    async def sweep_partition(
        self,
        question: str,
        partition_id: int,
        *,
        graph: str | None = None,
        on_event: OnEvent | None = None,
        **knobs: Any,
    ) -> Sweep:
        """Read one current partition for a question; recorded in no session."""
        check_question(question)
        stored = await self._graph(graph)
        current = await self._current(stored)
        by_id = {part.id: part for part in current.partitions}
        if partition_id not in by_id:
            raise UsageError(
                f"graph {stored.name} has no partition {partition_id}; "
                f"its partitions are 1 to {len(by_id)}"
            )
        knobs_in_force = config.with_overrides(self.config, knobs)
        reader = Reader(
            db=self.db,
            llm=self.sweep_llm,
            mapping=stored.mapping,
            generation=current.generation.id,
            partitions=by_id,
            question=question,
            config=knobs_in_force,
            calls=Calls.of(knobs_in_force, self.settings.models),
            replies=None,
            on_event=on_event or self.on_event,
            record=unrecorded,
            gate=new_gate(),
        )
        return await sweep(reader, by_id[partition_id])

    async def synthesize(
        self,
        question: str,
        sweeps: Sequence[Sweep],
        *,
        graph: str | None = None,
        on_event: OnEvent | None = None,
        **knobs: Any,
    ) -> Synthesis:
        """One synthesis over sweeps made by ``sweep_partition``; recorded in no session."""
        check_question(question)
        current = await self._current(await self._graph(graph))
        if any(sweep.generation != current.generation.id for sweep in sweeps):
            raise UsageError(
                "the sweeps are of an older generation than the current one, so their aliases "
                "mean other nodes; sweep the partitions again"
            )
        tell = on_event or self.on_event
        knobs_in_force = config.with_overrides(self.config, knobs)
        writer = Writer(
            llm=self.synthesis_llm,
            config=knobs_in_force,
            calls=Calls.of(knobs_in_force, self.settings.models),
            replies=None,
            on_event=tell,
            warn=lambda message: tell(Warned(message)),
        )
        return await synthesize(writer, question, sweeps, current.partitions)

    async def add_graph(self, name: str, mapping: GraphMapping) -> bool:
        """Store a mapping under a name, or replace it; True when the name is new."""
        return await catalog.add(self.db, name, mapping)

    async def graphs(self) -> list[StoredGraph]:
        """All stored graphs, by name."""
        return await catalog.graphs(self.db)

    async def graph(self, name: str | None = None) -> StoredGraph:
        """One stored graph; the configured or only one when none is named."""
        return await self._graph(name)

    async def remove_graph(self, name: str) -> None:
        """Delete a graph's partitions, sessions, and mapping; its nodes stay."""
        await catalog.remove(self.db, name)

    async def sessions(self, graph: str | None = None) -> list[SessionInfo]:
        """Sessions of a graph, or of all graphs, with their coverage, the latest first."""
        found = await session.list_sessions(self.db, graph)
        current = {
            name: await ensure.read_current(self.db, name)
            for name in {info.graph for info in found}
        }
        return [
            replace(info, coverage=await self._coverage(info.graph, info.id, current[info.graph]))
            for info in found
        ]

    async def coverage(self, graph: str, session_id: str) -> Coverage | None:
        """What a session has read of a graph's current generation; None without one."""
        current = await ensure.read_current(self.db, graph)
        return await self._coverage(graph, session_id, current)

    async def _coverage(
        self, graph: str, session_id: str, current: Partitioning | None
    ) -> Coverage | None:
        if current is None:
            return None
        read = await session.read_so_far(self.db, graph, session_id, current.generation.id)
        return read.coverage(current.partitions)

    async def purge(self) -> Purged:
        """Take everything of ours out of the database; the user's graph stays as it is."""
        return await catalog.purge(self.db)

    async def _begin(
        self,
        question: str,
        graph: str | None,
        mode: Mode,
        session_id: str,
        full_sweep: bool,
        on_event: OnEvent | None,
        knobs: dict[str, Any],
    ) -> tuple[Work, Request]:
        check_question(question)
        stored = await self._graph(graph)
        request = Request(
            question=question,
            graph=stored.name,
            mapping=stored.mapping,
            mode=mode,
            session=session_id,
            full_sweep=full_sweep,
        )
        check(request)
        work = self._work(stored.mapping, on_event, knobs)
        models = [self.sweep_llm.name, self.synthesis_llm.name]
        return work, replace(request, asked=idempotency.asked(request, models, work.config))

    async def _graph(self, name: str | None) -> StoredGraph:
        return await catalog.get(self.db, name or self.settings.graph)

    async def _current(self, stored: StoredGraph) -> Partitioning:
        await ensure_schema(self.db)
        current = await ensure.read_current(self.db, stored.name)
        if current is None:
            raise UsageError(
                f"graph {stored.name} is not partitioned yet; "
                f"run 'pgs partition --graph {stored.name}' first"
            )
        return current

    def _work(
        self,
        mapping: GraphMapping,
        on_event: OnEvent | None,
        knobs: dict[str, Any],
        in_force: PGSConfig | None = None,
    ) -> Work:
        in_force = in_force or config.with_overrides(self.config, knobs)
        return Work(
            db=self.db,
            open_gds=self._open_gds,
            space=self._space(mapping),
            sweep_llm=self.sweep_llm,
            synthesis_llm=self.synthesis_llm,
            config=in_force,
            on_event=on_event or self.on_event,
            calls=Calls.of(in_force, self.settings.models),
        )

    def _partition_order(
        self, stored: StoredGraph, knobs: dict[str, Any], *, force: bool = False
    ) -> PartitionOrder:
        return PartitionOrder(
            graph=stored.name,
            mapping=stored.mapping,
            config=config.with_overrides(self.config, knobs),
            force=force,
        )

    def _partition_tools(self, mapping: GraphMapping, on_event: OnEvent | None) -> PartitionTools:
        return PartitionTools(
            db=self.db,
            open_gds=self._open_gds,
            space=self._space(mapping),
            on_event=on_event or self.on_event,
        )

    async def _open_gds(self) -> GDS:
        """The GDS client, opened when something is first to be computed: that takes seconds."""
        async with self._opening:
            if self._gds is None:
                self._gds = await gds.open_gds(self.db)
        return self._gds

    def _space(self, mapping: GraphMapping) -> Space:
        name = self.settings.embedder
        if self.embedder is not None:
            return choose(name, self.embedder, mapping)
        if name is None:
            name = "stored" if mapping.embedding else "hashing"
        if name not in ("none", "stored") and name not in self._embedders:
            made = create_embedder(self.settings, self.config, name)
            if made is not None:
                self._embedders[name] = made
        return choose(name, self._embedders.get(name), mapping)


@asynccontextmanager
async def _database(
    settings: Settings, knobs: PGSConfig, on_event: OnEvent
) -> AsyncIterator[Database]:
    uri, user = settings.neo4j_uri, settings.neo4j_user
    secret = settings.neo4j_password
    password = secret.get_secret_value() if secret is not None else None
    name = settings.neo4j_database
    if uri is None:
        # Imported here: only the managed local server needs the extra [local].
        from pgs_neo4j.local.options import options_from_environment
        from pgs_neo4j.local.server import ensure_running

        running = await ensure_running(options_from_environment(), on_event)
        uri, user, password, name = running.uri, running.user, running.password, None
    async with connection.connect(uri, user, password, name, knobs.query_timeout_s) as database:
        yield database
