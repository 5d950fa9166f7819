"""State that all views of the engine share: connections, settings, and models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import cast

from pgs_neo4j import config
from pgs_neo4j.config import EmbedderName, Knobs, PGSConfig, Settings, model_access
from pgs_neo4j.config.providers import PRESETS
from pgs_neo4j.database import gds
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import GDS
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.catalog import StoredGraph
from pgs_neo4j.engine.views import find_graph_of_run, open_view
from pgs_neo4j.errors import (
    ConditionError,
    ConfigError,
    NotPartitionedError,
    ScopeError,
)
from pgs_neo4j.events import OnEvent, ignore
from pgs_neo4j.llm.calls.budget import FRAME_TOKENS
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.embedding import embed_counted, priced_model
from pgs_neo4j.llm.calls.outcome import Settlements
from pgs_neo4j.llm.calls.proofs import Proofs
from pgs_neo4j.llm.calls.spending import Account, current_payer, record_spending
from pgs_neo4j.llm.context import Contexts
from pgs_neo4j.llm.factory import Readers, create_embedder, create_relevance_model
from pgs_neo4j.llm.protocol import LLM, Embedder, RelevanceModel, is_free
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.scope import UNOPENED, Scope
from pgs_neo4j.pgs.log import RunLog
from pgs_neo4j.pgs.order import RunOrder, RunTools
from pgs_neo4j.pgs.partitioning.kept_settings import ChosenSettings
from pgs_neo4j.pgs.partitioning.order import PartitionOrder, PartitionTools
from pgs_neo4j.pgs.partitioning.result import KnownGenerations, Partitioning, read_current
from pgs_neo4j.pgs.querying.schema.known import KnownSchema
from pgs_neo4j.search.known_indexes import KnownIndexes
from pgs_neo4j.search.space import Space, choose
from pgs_neo4j.text.commands import shell_word
from pgs_neo4j.text.restriction import NO_RESTRICTION, Restriction
from pgs_neo4j.text.tokens import estimate

CALLS_OF_QUESTION = 8
"""Maximum calls to embed one question, including calls that prove that it was not cut."""
RERANKED_TOKENS = 200_000
"""Maximum tokens that a reranker may read in one search, if the payer's money is limited."""
EMBEDDERS: tuple[EmbedderName, ...] = ("hashing", "openai", "sentence-transformers")
"""Embedders that read texts. A stored model name begins with the name of its embedder."""


@dataclass(slots=True)
class Core:
    """One database with the settings, models, and embedders in use.

    ``parts`` maps the code that the settings name for ingestions to the objects made from it.
    ``chosen`` says which partitioning settings were passed by the connecting call, and which are
    configured. A core within a scope shares the models and GDS of its ``outer`` core.

    With a ``restriction``, ``db`` has a view that is not open, so that it refuses every statement
    that reads nodes. ``opened`` returns a core with the view of one graph.
    """

    db: Database
    settings: Settings
    config: PGSConfig
    llms: Readers
    embedder: Embedder | None = None
    on_event: OnEvent = ignore
    known: KnownGenerations = field(default_factory=KnownGenerations, repr=False)
    indexes: KnownIndexes = field(default_factory=KnownIndexes, repr=False)
    schema: KnownSchema = field(default_factory=KnownSchema, repr=False)
    parts: dict[str, object] = field(default_factory=dict, repr=False)
    chosen: ChosenSettings = field(default_factory=ChosenSettings, repr=False)
    contexts: Contexts = field(init=False, repr=False)
    proofs: Proofs = field(default_factory=Proofs, repr=False)
    settlements: Settlements = field(default_factory=Settlements, repr=False)
    outer: Core | None = field(default=None, repr=False)
    restriction: Restriction = NO_RESTRICTION
    _gds: GDS | None = None
    _embedders: dict[EmbedderName, Embedder] = field(default_factory=dict, repr=False)
    _relevance: RelevanceModel | None = field(default=None, repr=False)
    _gds_lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    _views: dict[Scope, Core] = field(default_factory=dict, repr=False)
    _view_lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    def __post_init__(self) -> None:
        self.contexts = Contexts(self.settings.models)

    @property
    def sweep_llm(self) -> LLM:
        """The model that sweeps partitions."""
        return self.llms.sweep

    @sweep_llm.setter
    def sweep_llm(self, llm: LLM) -> None:
        self.llms = self.llms.with_sweep(llm)

    @property
    def synthesis_llm(self) -> LLM:
        """The model that writes the synthesis."""
        return self.llms.synthesis

    @synthesis_llm.setter
    def synthesis_llm(self, llm: LLM) -> None:
        self.llms = self.llms.with_synthesis(llm)

    def within(self, scope: Scope, restriction: Restriction = NO_RESTRICTION) -> Core:
        """Return a core that sees only what a scope sees and a restriction allows.

        It uses the models of this core, and works until this core is closed.
        """
        seen = replace(scope, view=UNOPENED) if restriction else scope
        inner = replace(
            self,
            db=self.db.scoped(seen),
            known=KnownGenerations(),
            indexes=KnownIndexes(),
            schema=KnownSchema(),
            outer=self,
            restriction=restriction,
            _views={},
            _view_lock=asyncio.Lock(),
        )
        inner.contexts = self.contexts
        return inner

    async def opened(self, graph: str | None) -> Core:
        """Return the core that sees one graph as the restriction allows.

        Without a restriction, that is this core. Raises UnknownGraphError, ConditionError, and
        BusyError.
        """
        if not self.restriction:
            return self
        stored = await self.graph(graph)
        # Without the lock, concurrent first questions would all read the properties of the graph.
        async with self._view_lock:
            scope = await open_view(self.whole_db, stored, self.restriction)
        if scope not in self._views:
            self._views[scope] = self.within(scope)
        return self._views[scope]

    async def opened_for_run(self, run: str) -> Core:
        """Return the core that sees the graph of a run as the restriction allows.

        A run of another view is unknown there. Raises UnknownRunError, and what ``opened`` raises.
        """
        if not self.restriction:
            return self
        return await self.opened(await find_graph_of_run(self.db, run))

    async def opened_all(self) -> dict[str, Core]:
        """Return the core of each graph by name, without graphs that the restriction cannot fit.

        A graph without the properties of the condition is left out.
        """
        found = {}
        for stored in await catalog.graphs(self.whole_db):
            with suppress(ConditionError, ScopeError):
                found[stored.name] = await self.opened(stored.name)
        return found

    @property
    def whole_db(self) -> Database:
        """The database without the restriction of this core."""
        return self.db.scoped(self.db.scope.base)

    def require_unrestricted(self, action: str) -> None:
        """Raise ScopeError with a restriction; ``action`` is the beginning of its sentence."""
        if self.restriction:
            raise ScopeError(
                f"{action}, which is not possible in a view; leave out where and as_of (--where, "
                "--as-of)"
            )

    def knobs(self, overrides: Knobs, arguments: Collection[str] = ()) -> PGSConfig:
        """Return the configured knobs with the ``overrides`` of one call.

        ``arguments`` are the names of the call's other arguments, which the error for a misspelled
        knob may suggest. Raises ConfigError.
        """
        return config.with_overrides(self.config, overrides, arguments)

    def choose_settings(self, overrides: Knobs) -> ChosenSettings:
        """Return which settings of partitioning a person chose, for one call.

        Settings count as passed if a program has assigned a ``config`` that changes them.
        """
        standing = self.chosen.standing
        set_here = {name: getattr(self.config, name) for name in self.config.model_fields_set}
        assigned = {name: value for name, value in set_here.items() if standing.get(name) != value}
        return self.chosen.of_call(assigned).of_call(overrides)

    async def graph(self, name: str | None) -> StoredGraph:
        """Return the named graph; without a name, the configured graph, or else the only one.

        Raises UnknownGraphError.
        """
        # A graph is stored outside of any view; only its partitions belong to the view.
        db = self.whole_db if self.restriction else self.db
        return await catalog.get(db, name or self.settings.graph)

    async def current(self, graph: StoredGraph, *, centroids: bool = True) -> Partitioning:
        """Return the current partitions of a graph.

        With ``centroids`` set to False, they come without centroids. Raises NotPartitionedError.
        """
        await ensure_schema(self.db)
        current = await read_current(self.db, graph.name, centroids=centroids, known=self.known)
        if current is None:
            raise NotPartitionedError(
                f"graph {graph.name} is not partitioned yet; "
                f"run 'pgs partition --graph {shell_word(graph.name)}' first"
            )
        return current

    def run_tools(self, order: RunOrder, on_event: OnEvent | None) -> RunTools:
        """Return the connections that carry out one run.

        The limits of the run count from this call on.
        """
        log = RunLog(on_event or self.on_event)
        calls = self.calls(order.config, on_event, log.warn)
        return RunTools(
            db=self.db,
            open_gds=self.open_gds,
            space=self.space(order.mapping, calls),
            sweep_llm=self.sweep_llm,
            synthesis_llm=self.synthesis_llm,
            answer_llm=self.llms.answer,
            keyword_llm=self.llms.keywords,
            ordering_llm=self.llms.ordering,
            calls=calls,
            log=log,
            known=self.known,
            schema=self.schema,
        )

    def partition_order(
        self,
        graph: StoredGraph,
        overrides: Knobs,
        *,
        force: bool = False,
        partitions: bool = False,
    ) -> PartitionOrder:
        """Return the order to partition a graph with the settings of one call.

        ``partitions`` is true if the caller wants partitions, rather than an answer to a question
        or a check for changes. Raises ConfigError.
        """
        return PartitionOrder(
            graph=graph.name,
            mapping=graph.mapping,
            config=self.knobs(overrides),
            force=force,
            chosen=replace(self.choose_settings(overrides), partitions=partitions),
        )

    def partition_tools(
        self, mapping: GraphMapping, on_event: OnEvent | None, calls: Calls | None = None
    ) -> PartitionTools:
        """Return the connections that partition a graph; ``calls`` counts the embedder's calls."""
        return PartitionTools(
            db=self.db,
            open_gds=self.open_gds,
            space=self.space(mapping, calls),
            on_event=on_event or self.on_event,
            known=self.known,
        )

    def calls(
        self,
        knobs: PGSConfig,
        on_event: OnEvent | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> Calls:
        """Return the model calls of one run, with its limits and prices."""
        calls = Calls.of(knobs, self.settings.models, on_event or self.on_event, warn)
        self.contexts.entries = self.settings.models
        calls.contexts, calls.proofs = self.contexts, self.proofs
        calls.settlements = self.settlements
        calls.traced_text = self.settings.telemetry_text
        return calls

    @asynccontextmanager
    async def spending(
        self,
        account: Account,
        knobs: PGSConfig,
        on_event: OnEvent | None = None,
        *,
        most: float | None = None,
    ) -> AsyncIterator[Calls]:
        """Yield model calls outside of a run, and record their cost by day and payer.

        ``most`` is the maximum total cost of the calls. First, this amount of the payer's money is
        reserved, or all that is left if that is less. Raises BudgetError if nothing is left.
        """
        if most is None:
            async with self._record_calls(account, knobs, on_event) as calls:
                yield calls
            return
        async with current_payer().allow(most) as allowed:
            limits = [limit for limit in (allowed, knobs.max_cost) if limit is not None]
            within = knobs.model_copy(update={"max_cost": min(limits, default=None)})
            async with self._record_calls(account, within, on_event) as calls:
                yield calls

    @asynccontextmanager
    async def _record_calls(
        self, account: Account, knobs: PGSConfig, on_event: OnEvent | None
    ) -> AsyncIterator[Calls]:
        calls = self.calls(knobs, on_event)
        async with record_spending(self.db, calls, account):
            yield calls

    def question_cost(self, models: Sequence[object], question: str) -> float | None:
        """Return the maximum cost of embedding and reranking for a question.

        Returns None if all ``models`` are free. Models without a price add nothing here, because a
        limit on the cost forbids them anyway.
        """
        paid = [model for model in models if model is not None and not is_free(model)]
        if not paid:
            return None
        budget = Calls.of(self.config, self.settings.models).budget
        asked = CALLS_OF_QUESTION * (estimate(question) + FRAME_TOKENS)
        return sum(
            budget.most(priced_model(model).name, asked, 0).cost
            if isinstance(model, Embedder)
            else budget.most(cast(RelevanceModel, model).name, RERANKED_TOKENS, 0).cost
            for model in paid
        )

    async def open_gds(self) -> GDS:
        """Return the GDS client, and open it on first use, which takes seconds."""
        if self.outer is not None:
            return replace(await self.outer.open_gds(), db=self.db)
        # Without the lock, two concurrent first uses would open two clients.
        async with self._gds_lock:
            if self._gds is None:
                self._gds = await gds.open_gds(self.db)
        return self._gds

    def space(self, mapping: GraphMapping, calls: Calls | None = None) -> Space:
        """Return the vector space in which a graph's questions and partitions are compared.

        ``calls`` counts the calls of the space's embedder, and keeps them within the limits.
        """
        space = self._choose_space(mapping)
        return space if calls is None else replace(space, embed=partial(embed_counted, calls))

    def _choose_space(self, mapping: GraphMapping) -> Space:
        name = self.settings.embedder
        if self.embedder is not None:
            return choose(name, self.embedder, mapping)
        if name is None:
            if mapping.embedding and (
                made := self._find_embedder_of(mapping.embedding_model or "")
            ):
                return choose(name, made, mapping)
            name = "stored" if mapping.embedding else "hashing"
        return choose(name, self._open_embedder(name), mapping)

    def ingest_embedder(self) -> Embedder:
        """Return the embedder for the texts of documents.

        The default is a model of the provider's endpoint, or hashing if the provider has no
        embedding models. Raises ConfigError if the configured embedder reads no texts.
        """
        if self.embedder is not None:
            return self.embedder
        provided: EmbedderName = "openai" if self._has_embedding_models() else "hashing"
        embedder = self._open_embedder(self.settings.embedder or provided)
        if embedder is None:
            raise ConfigError(
                f"documents need an embedder that reads texts, and PGS_EMBEDDER is "
                f"{self.settings.embedder}; set it to hashing, openai, or sentence-transformers"
            )
        return embedder

    def _has_embedding_models(self) -> bool:
        """Return whether the provider has embedding models."""
        if not self.settings.uses_models:
            return False
        model = self.settings.embedding_model
        provider = model_access(self.settings, model).provider
        return provider is None or PRESETS[provider].embeds

    def _find_embedder_of(self, model: str) -> Embedder | None:
        """Return the embedder that made stored vectors; None if the settings do not configure it.

        ``model`` is the name of the model that made them.
        """
        name = next((name for name in EMBEDDERS if model.startswith(name)), None)
        if name is None or (name == "openai" and not self._has_embedding_models()):
            return None
        embedder = self._open_embedder(name)
        return embedder if embedder is not None and embedder.name == model else None

    def _open_embedder(self, name: EmbedderName) -> Embedder | None:
        if name in ("none", "stored"):
            return None
        if name not in self._embedders:
            embedder = create_embedder(self.settings, self.config, name)
            if embedder is not None:
                self._embedders[name] = embedder
        return self._embedders.get(name)

    def relevance(self) -> RelevanceModel | None:
        """Return the model of the reranker ``http``, or None if no address is set."""
        if self.outer is not None:
            return self.outer.relevance()
        if self._relevance is None:
            self._relevance = create_relevance_model(self.settings, self.config)
        return self._relevance

    def text_embedder(self, mapping: GraphMapping) -> Embedder:
        """Return the embedder of a graph's texts, or else hashing, which compares shared words."""
        embedder = self.space(mapping).embedder
        if embedder is not None:
            return embedder
        if "hashing" not in self._embedders:
            from pgs_neo4j.llm.embedders.hashing import HashingEmbedder

            self._embedders["hashing"] = HashingEmbedder()
        return self._embedders["hashing"]

    async def close(self) -> None:
        """Close the embedders and the reranker that were created here."""
        for embedder in self._embedders.values():
            await embedder.close()
        if self._relevance is not None:
            await self._relevance.close()
