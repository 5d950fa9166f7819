"""Describes an ingestion: its sources, its rules, and the connections that it uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.enrich.arbiter import ShownName
from pgs_neo4j.documents.extract.kept import Keeper
from pgs_neo4j.documents.fold.resolution import Resolver
from pgs_neo4j.documents.sources.find import Sources
from pgs_neo4j.events import OnEvent
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.protocol import Embedder
from pgs_neo4j.model.documents import Chunk, DocumentLoader, DocumentText, Extraction
from pgs_neo4j.model.ingest import ExtractionForecast
from pgs_neo4j.text.chunking import ChunkRules
from pgs_neo4j.text.extraction.schema import EntitySchema


class Chunker(Protocol):
    """Divides documents into chunks, instead of the built-in rules."""

    @property
    def signature(self) -> str:
        """A hash of all settings. If it changes, documents are divided again."""
        ...

    async def divide(self, document: DocumentText) -> Sequence[int]:
        """Return the ascending positions at which chunks end; the last is the end of the text.

        A chunk may end within a sentence. Raises ModelError and StoppedError.
        """
        ...


class Extractor(Protocol):
    """Extracts entities and relations from chunks.

    Its replies may depend only on the chunk, ``signature``, and ``schema``.
    """

    @property
    def signature(self) -> str:
        """A hash of the model, the prompt, and all else that affects replies, except the schema."""
        ...

    @property
    def schema(self) -> EntitySchema | None:
        """The schema that the extractor is given, None if its replies depend on no schema."""
        ...

    @property
    def free(self) -> bool:
        """Whether extracting costs nothing."""
        ...

    @property
    def shares(self) -> bool:
        """Whether small documents share a call. If the call fails, all of them fail."""
        ...

    @property
    def sure(self) -> bool:
        """Whether a single mention suffices for an entity to be in the view."""
        ...

    async def forecast(self, chunks: Sequence[Chunk]) -> ExtractionForecast:
        """Return a forecast of the calls that ``extract`` would make for these chunks."""
        ...

    async def extract(self, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """Return the extraction of each chunk, in order.

        Most calls have one chunk. If a call has several chunks, they come from small documents.
        Each extraction may depend only on its own chunk. Raises ModelError and StoppedError.
        """
        ...


class Describer(Protocol):
    """Combines the descriptions of an entity from several chunks into one description."""

    @property
    def signature(self) -> str:
        """A hash of all settings that affect the describer's replies."""
        ...

    async def describe(self, name: str, kind: str, fragments: Sequence[str]) -> str:
        """Return one description of the entity ``name`` of type ``kind``.

        Raises ModelError and StoppedError.
        """
        ...


class Arbiter(Protocol):
    """Judges whether two names mean the same thing."""

    async def judge(self, pairs: Sequence[tuple[ShownName, ShownName]]) -> list[bool | None]:
        """Return whether each pair means the same thing, None for an undecided pair.

        Raises PromptTooLongError, after which the caller passes each half of the pairs, ModelError,
        and StoppedError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Embedding:
    """The embedder for the texts of a graph.

    ``begin`` is called once, before the first vector is written.
    """

    embedder: Embedder
    begin: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOrder:
    """The sources to ingest into a graph, and the rules for this ingestion.

    ``schemas`` are the schemas of the graph's present documents, by hash. ``sync`` also deletes
    documents whose files are gone from the folders that are read. ``forget`` also deletes the text
    of answers that quote these documents. ``refresh`` extracts stale documents again, which are
    documents that another model, prompt, or schema extracted.
    """

    graph: str
    label: str
    sources: Sources
    rules: ChunkRules = field(default_factory=ChunkRules)
    schema: EntitySchema = field(default_factory=EntitySchema)
    schemas: Mapping[str, EntitySchema] = field(default_factory=dict)
    sync: bool = False
    forget: bool = False
    refresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestTools:
    """The connections of an ingestion.

    ``resolver`` decides which names are variants, and ``chunker`` decides where chunks end. Without
    them, the built-in rules decide. ``arbiter`` judges close names, which otherwise stay apart.
    """

    db: Database
    loader: DocumentLoader
    extractor: Extractor
    describer: Describer | None
    keeper: Keeper
    calls: Calls
    on_event: OnEvent
    resolver: Resolver | None = None
    chunker: Chunker | None = None
    arbiter: Arbiter | None = None
    embedding: Embedding | None = None
