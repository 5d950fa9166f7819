"""Describes what is ingested, how, and through which connections."""

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
        """A hash of everything that decides; with another one, documents are divided again."""
        ...

    async def divide(self, document: DocumentText) -> Sequence[int]:
        """Return where in the text chunks end: ascending, the last at the end of the text.

        A sentence that a chunk ends in is divided there. Raises ModelError and StoppedError.
        """
        ...


class Extractor(Protocol):
    """Extracts entities and relations from a chunk.

    ``signature`` and ``schema`` tell everything that decides its replies.
    """

    @property
    def signature(self) -> str:
        """A hash of the model, the prompt, and what else decides a reply, but for the schema."""
        ...

    @property
    def schema(self) -> EntitySchema | None:
        """The schema that it is told; None if none decides its replies."""
        ...

    @property
    def free(self) -> bool:
        """Whether extracting costs nothing."""
        ...

    @property
    def shares(self) -> bool:
        """Whether small documents are extracted together; if that fails, all of them fail."""
        ...

    @property
    def sure(self) -> bool:
        """Whether one mention is enough for an entity of the view."""
        ...

    async def forecast(self, chunks: Sequence[Chunk]) -> ExtractionForecast:
        """Return the calls that ``extract`` would make for some chunks."""
        ...

    async def extract(self, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """Return what each chunk says: mostly one, or several small documents.

        What it says of a chunk may depend on that chunk alone. Raises ModelError and StoppedError.
        """
        ...


class Describer(Protocol):
    """Makes one description of the many that chunks give of an entity."""

    @property
    def signature(self) -> str:
        """A hash of everything that decides its replies."""
        ...

    async def describe(self, name: str, kind: str, fragments: Sequence[str]) -> str:
        """Return one description; ``kind`` is the type. Raises ModelError and StoppedError."""
        ...


class Arbiter(Protocol):
    """Judges whether two names are of the same thing."""

    async def judge(self, pairs: Sequence[tuple[ShownName, ShownName]]) -> list[bool | None]:
        """Return whether each pair is the same; None leaves it open.

        Raises PromptTooLongError, after which halves are asked for, ModelError, and StoppedError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Embedding:
    """What embeds the texts of a graph.

    ``begin`` is called once, before the first vector is written.
    """

    embedder: Embedder
    begin: Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOrder:
    """The sources to ingest into a graph.

    ``schemas`` are those of its documents as they stand, by hash. ``sync`` also deletes documents
    whose files are gone from the folders that are read, and ``forget`` the text of answers that
    quote these. ``refresh`` extracts again what another model, prompt, or schema extracted.
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

    ``resolver`` decides which names are variants, and ``chunker`` where chunks end, each instead of
    the built-in rules. ``arbiter`` judges close names, which otherwise stay apart.
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
