"""``pgs.ingest``: makes a graph from files, and keeps it equal to the files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Unpack, cast

from pgs_neo4j.config import Knobs, PGSConfig
from pgs_neo4j.database.schema import ensure_schema
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.documents.deletion.delete import delete_documents, read_begun
from pgs_neo4j.documents.details import find_document, read_details, stale_reasons
from pgs_neo4j.documents.enrich.arbiter import ModelArbiter
from pgs_neo4j.documents.enrich.describe import ModelDescriber
from pgs_neo4j.documents.extract.kept import Keeper, read_kept_documents
from pgs_neo4j.documents.extract.model import ModelExtractor
from pgs_neo4j.documents.extract.terms import TermExtractor
from pgs_neo4j.documents.fold.resolution import Resolver
from pgs_neo4j.documents.loading.load import graph_label
from pgs_neo4j.documents.order import (
    Chunker,
    Describer,
    Extractor,
    IngestOrder,
    IngestTools,
)
from pgs_neo4j.documents.pipeline import ingest
from pgs_neo4j.documents.plan import plan_ingest, without_calls
from pgs_neo4j.documents.read.records import RECORDS
from pgs_neo4j.documents.schemas import read_schemas
from pgs_neo4j.documents.semantic import SemanticChunker, Vectors
from pgs_neo4j.documents.sources.loader import ENDINGS, FileLoader, ending_of
from pgs_neo4j.documents.stored import read_documents
from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.catalog import ENTITIES
from pgs_neo4j.engine.core import Core
from pgs_neo4j.engine.ingestion.job import kept_options, options_of, record_ingestion
from pgs_neo4j.engine.ingestion.order import (
    IngestOptions,
    Paths,
    chunk_rules,
    embedding_of,
    make_order,
    store_view,
)
from pgs_neo4j.engine.ingestion.parts import Parts, hold_graph
from pgs_neo4j.errors import ModelError, UnknownDocumentError, UnknownGraphError, UsageError
from pgs_neo4j.events import OnEvent, PhaseStarted
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.embedding import fit_of, fitted_call, priced_model
from pgs_neo4j.llm.calls.spending import Account, record_spending
from pgs_neo4j.llm.embedders.fitting import embed_rows
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.protocol import Embedder, is_free
from pgs_neo4j.model.documents import DocumentLoader, RecordColumns
from pgs_neo4j.model.ingest import Deletion, DocumentDetails, Ingested, IngestedDocument, IngestPlan
from pgs_neo4j.pgs.runs import jobs
from pgs_neo4j.text.extraction.schema import EntitySchema
from pgs_neo4j.text.shown import document_key


class IngestArguments(IngestOptions, Knobs, total=False):
    """The options of an ingestion, and knobs for it."""


@dataclass(frozen=True, slots=True)
class Ingester:
    """Ingests documents. Called, it ingests: ``await pgs.ingest("docs/", graph="docs")``."""

    _core: Core

    async def __call__(
        self,
        paths: Paths,
        graph: str,
        *,
        on_event: OnEvent | None = None,
        **given: Unpack[IngestArguments],
    ) -> Ingested:
        """Make the documents of a graph equal to files, and store its mapping.

        Unchanged documents cost nothing. The sweep model extracts entities and relations; the
        extractive reader extracts terms. The result names documents that failed, and a limit that
        was reached. Raises UsageError for unusable paths, names, labels, and schemas, ConfigError
        for a limit that needs a price, BusyError while another process writes documents of the
        graph, ModelError for a refused key or an unknown model, and DatabaseError.
        """
        options, config = self._split_arguments(given)
        kept = kept_options(paths, options, config)
        async with self._prepare(paths, graph, options, config, on_event) as (order, tools):
            await ensure_schema(tools.db)
            account = Account(task="ingest", graph=graph, model=self._core.sweep_llm.name)
            try:
                async with record_spending(tools.db, tools.calls, account):
                    done = await record_ingestion(
                        tools.db, graph, kept, lambda: ingest(order, tools)
                    )
            except ModelError:
                if await read_documents(tools.db, graph):
                    await store_view(self._core, graph, order.label)
                raise
        if done.has_documents:
            await store_view(self._core, graph, order.label)
        return done

    @property
    def endings(self) -> tuple[str, ...]:
        """File endings that the built-in readers accept; empty with a loader of your own."""
        return () if Parts(self._core).loader() else ENDINGS

    def most_bytes(self, name: str) -> int | None:
        """Return the size limit of a file by its name, or None for a file of records.

        Records are read as a stream, unless a loader of your own reads them.
        """
        records = ending_of(name) in RECORDS and not Parts(self._core).loader()
        return None if records else int(self._core.config.max_document_mb * 1e6)

    async def resume(
        self, job: str, *, on_event: OnEvent | None = None, **knobs: Unpack[Knobs]
    ) -> Ingested:
        """Continue an ingestion from its record, with its options; limits count from zero again.

        Raises UsageError for a job that is not an ingestion or cannot be resumed, and whatever an
        ingestion raises.
        """
        record = await jobs.get(self._core.db, job)
        paths, options = options_of(record)
        given = cast(IngestArguments, {**options, **knobs})
        return await self(paths, record.graph, on_event=on_event, **given)

    async def plan(
        self,
        paths: Paths,
        graph: str,
        *,
        on_event: OnEvent | None = None,
        **given: Unpack[IngestArguments],
    ) -> IngestPlan:
        """Return what an ingestion would do and cost. It reads all files, and calls no model.

        Raises the errors of an ingestion, except BusyError.
        """
        prepared = self._prepare(paths, graph, *self._split_arguments(given), on_event)
        async with prepared as (order, tools):
            divides = isinstance(tools.chunker, SemanticChunker)
            divider = self._core.ingest_embedder() if divides else None
            return await plan_ingest(order, without_calls(tools), self._core.sweep_llm, divider)

    def _split_arguments(self, given: IngestArguments) -> tuple[IngestOptions, PGSConfig]:
        """Split arguments into the options of an ingestion and its settings. Raises ConfigError."""
        own = IngestOptions.__annotations__.keys()
        options = {name: value for name, value in given.items() if name in own}
        knobs = {name: value for name, value in given.items() if name not in own}
        return cast(IngestOptions, options), self._core.knobs(cast(Knobs, knobs), own)

    @asynccontextmanager
    async def _prepare(
        self,
        paths: Paths,
        graph: str,
        options: IngestOptions,
        config: PGSConfig,
        on_event: OnEvent | None,
    ) -> AsyncGenerator[tuple[IngestOrder, IngestTools]]:
        """Yield the order of an ingestion, and the connections that carry it out."""
        core = self._core
        core.require_unrestricted("an ingestion writes to the graph")
        files = FileLoader(
            int(config.max_document_mb * 1e6),
            options.get("columns") or RecordColumns(),
            options.get("allow_private", False),
        )
        loader = Parts(core).loader(options.get("loader")) or files
        tell = on_event or core.on_event
        tell(PhaseStarted("ingest"))
        try:
            order = await make_order(core.db, paths, graph, options, config, loader)
            tools = self._make_tools(config, order, options, loader, tell)
            embedding = embedding_of(core, order, options, tools.calls)
            yield order, replace(tools, embedding=embedding)
        finally:
            await to_the_end(files.close())

    async def documents(self, graph: str) -> list[IngestedDocument]:
        """Return the documents of a graph in the natural order of ids. Raises DatabaseError.

        Records without keys are in the order of their titles.
        """
        found = await read_documents(self._core.db, graph)
        return [
            IngestedDocument(
                id=stored.id,
                name=stored.name,
                chunks=stored.chunks,
                size=stored.size,
                unread=stored.unread,
                unproven=stored.chunks_unproven,
            )
            for stored in sorted(found.values(), key=lambda item: document_key(item.id, item.name))
        ]

    async def document(
        self,
        graph: str,
        name: str,
        *,
        loader: DocumentLoader | None = None,
        chunker: Chunker | None = None,
        extractor: Extractor | None = None,
    ) -> DocumentDetails:
        """Return a document of a graph, by its id or name, with its chunks.

        Whether it is stale depends on the model and the settings of this engine. If parts of your
        own ingested the document, pass them. Raises UnknownDocumentError, UsageError for a name
        that several documents have, and DatabaseError.
        """
        db, config = self._core.db, self._core.config
        documents = await read_documents(db, graph)
        stored = find_document(documents, graph, name)
        schemas = await read_schemas(db, graph)
        schema = schemas.get(stored.schema, EntitySchema())
        parts, calls = Parts(self._core), self._core.calls(config)
        reasons = stale_reasons(
            stored,
            schema,
            schemas,
            parts.extractor(extractor)
            or self._make_extractor(config, schema, calls, Keeper(db, graph)),
            chunk_rules(config),
            parts.loader(loader) or FileLoader(),
            parts.chunker(chunker) or semantic_chunker(self._core, config, calls),
        )
        return await read_details(db, graph, stored, schemas, tuple(reasons))

    async def delete(
        self,
        graph: str,
        documents: Sequence[str],
        *,
        forget: bool = False,
        on_event: OnEvent | None = None,
        resolver: Resolver | None = None,
    ) -> Deletion:
        """Delete documents with everything that only they contain, and prove that it is gone.

        The whole database is searched for their text. ``forget`` also removes the text of answers
        that quote it. ``resolver`` is the resolver of the ingestion, if it was your own. An
        interrupted deletion is continued. ``documents`` may also be ids from ``unfinished``; then
        the kept extractions of these documents are deleted. Deleting the last document of a graph
        also deletes all kept extractions. Raises UnknownDocumentError, BusyError, and
        DatabaseError.
        """
        core = self._core
        core.require_unrestricted("a deletion writes to the graph")
        await ensure_schema(core.db)
        stored = await read_documents(core.db, graph)
        if not documents:
            return Deletion()
        begun = await read_begun(core.db, graph)
        wanted = dict.fromkeys(documents)
        others = [id_ for id_ in wanted if not (id_ in stored or begun.has(id_))]
        kept = await read_kept_documents(core.db, graph) if others else []
        if unknown := [id_ for id_ in others if id_ not in kept]:
            raise UnknownDocumentError(
                f"graph {graph} has no document {unknown[0]}; "
                f"'pgs documents list --graph {graph}' names them"
            )
        gone = [stored[id_] for id_ in wanted if id_ in stored]
        known = next((one.label for one in (*gone, *stored.values())), begun.label)
        label = known or graph_label(graph)
        async with hold_graph(core, graph, label, resolver) as writer:
            tell = on_event or core.on_event
            tell(PhaseStarted("ingest"))
            return await delete_documents(
                core.db,
                writer,
                gone,
                unfinished=others,
                forget_rest=True,
                forget_answers=forget,
                on_event=tell,
            )

    async def unfinished(self, graph: str) -> list[str]:
        """Return the ids of documents whose first ingestion was interrupted. Raises DatabaseError.

        Their extractions are kept, so that ingesting the documents again pays only for what is
        missing.
        """
        kept = await read_kept_documents(self._core.db, graph)
        stored = await read_documents(self._core.db, graph) if kept else {}
        return sorted({*kept} - stored.keys(), key=lambda id_: document_key(id_, id_))

    async def remove_views(self, graph: str) -> None:
        """Remove a graph without documents, and its graph of entities, from the stored graphs.

        Their partitions and sessions are deleted with them. Does nothing if no such graph is
        stored. Raises UsageError for a graph that still has documents, and DatabaseError.
        """
        if await read_documents(self._core.db, graph):
            raise UsageError(f"graph {graph} has documents; delete them first")
        for name in (graph, f"{graph}{ENTITIES}"):
            with suppress(UnknownGraphError):
                await catalog.remove(self._core.db, name)

    def _make_tools(
        self,
        config: PGSConfig,
        order: IngestOrder,
        options: IngestOptions,
        loader: DocumentLoader,
        on_event: OnEvent,
    ) -> IngestTools:
        core, parts = self._core, Parts(self._core)
        calls = core.calls(config, on_event)
        keeper = Keeper(core.db, order.graph)
        calls.budget.check({core.sweep_llm.name: is_free(core.sweep_llm)})
        return IngestTools(
            db=core.db,
            loader=loader,
            extractor=parts.extractor(options.get("extractor"))
            or self._make_extractor(config, order.schema, calls, keeper),
            describer=parts.describer(options.get("describer"))
            or self._make_describer(config, calls, keeper),
            keeper=keeper,
            calls=calls,
            on_event=on_event,
            resolver=parts.resolver(options.get("resolver")),
            chunker=parts.chunker(options.get("chunker")) or semantic_chunker(core, config, calls),
            arbiter=self._make_arbiter(config, calls) if options.get("arbiter") else None,
        )

    def _make_arbiter(self, config: PGSConfig, calls: Calls) -> ModelArbiter:
        llm = self._core.sweep_llm
        if is_free(llm):
            raise UsageError("--arbiter asks a model; configure one, or leave it out")
        return ModelArbiter(llm, calls, config.sweep_effort)

    def _make_describer(self, config: PGSConfig, calls: Calls, keeper: Keeper) -> Describer | None:
        llm = self._core.sweep_llm
        return None if is_free(llm) else ModelDescriber(llm, calls, keeper, config.sweep_effort)

    def _make_extractor(
        self, config: PGSConfig, schema: EntitySchema, calls: Calls, keeper: Keeper
    ) -> Extractor:
        llm = self._core.sweep_llm
        if isinstance(llm, ExtractiveLLM):
            return TermExtractor()
        return ModelExtractor(llm, calls, schema, config.sweep_effort, config.gleaning, keeper)


def semantic_chunker(core: Core, config: PGSConfig, calls: Calls) -> SemanticChunker | None:
    """Return the chunker that divides documents by meaning, if the settings choose it, else None.

    The chunker's calls belong to the ingestion: they are queued, counted, and limited together with
    its other calls. Raises ConfigError without an embedder, and for a limit that needs a price.
    """
    if config.chunk_strategy != "semantic":
        return None
    embedder = core.ingest_embedder()
    model = priced_model(embedder)
    calls.budget.check({model.name: model.free})

    embed = partial(_embed_sentences, calls, embedder)
    return SemanticChunker(chunk_rules(config), embedder.name, embed, model)


async def _embed_sentences(calls: Calls, embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return the vectors ``(n, d)`` of sentences. Raises the first failure."""
    call = fitted_call(calls, embedder)
    return await embed_rows(embedder, fit_of(embedder), call, texts, most_failures=1)
