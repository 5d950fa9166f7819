"""What an ingestion reads and writes, in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.config.models_table import ModelEntry
from pgs_neo4j.documents.extract.kept import Keeper
from pgs_neo4j.documents.order import Describer, Extractor, IngestOrder, IngestTools
from pgs_neo4j.documents.sources.find import find_sources
from pgs_neo4j.documents.sources.loader import FileLoader
from pgs_neo4j.documents.stored import StoredDocument
from pgs_neo4j.llm.calls.calls import Calls
from tests.fakes.database import FakeDatabase, Row

SHOWN_ONLY = ("loader", "media_type", "partly_read")
"""Properties of a document that an ingestion does not read."""


class Documents:
    """The documents and kept extractions of a graph, as in the database."""

    def __init__(self) -> None:
        self.documents: dict[str, Row] = {}
        self.chunks: dict[str, Row] = {}
        self.kept: dict[str, str] = {}
        self.database: Any = FakeDatabase(
            read_kind=[{"loaded": False, "documents": False}],
            take_ingest=lambda sent: [{"taken": True, "holder": sent["holder"], "expires_at": ""}],
            read_documents=lambda sent: [
                {key: one for key, one in row.items() if key not in SHOWN_ONLY}
                for row in self.documents.values()
            ],
            read_chunks=lambda sent: [
                row for row in self.chunks.values() if row["document"] in sent["documents"]
            ],
            read_chunk_ids=lambda sent: [
                {"id": row["id"]}
                for document in sent["documents"]
                for row in self.chunks.values()
                if row["document"] == document
            ],
            read_some_chunks=lambda sent: [
                self.chunks[id_] for id_ in sent["ids"] if id_ in self.chunks
            ],
            read_extractions=lambda sent: [
                {"key": key, "data": self.kept[key]} for key in sent["keys"] if key in self.kept
            ],
            keep_extractions=self.keep,
            delete_extractions=self.forget,
            publish=self.publish,
            keep_deletion=[{"kept": True}],
            set_ended=[{"held": True}],
            read_deleted_texts=lambda sent: [
                {"document": row["document"], "text": row["id"]}
                | {"extraction_key": row["extraction_key"]}
                for row in self.chunks.values()
                if row["document"] in sent["documents"]
            ],
        )

        self.database.begin = self.begin

    def begin(self) -> Callable[[], None]:
        """Return a function that undoes everything written from now on."""
        documents, chunks = {**self.documents}, {**self.chunks}

        def undo() -> None:
            self.documents, self.chunks = documents, chunks

        return undo

    @property
    def published(self) -> list[list[str]]:
        """The ids of the documents in each publication."""
        return [[row["id"] for row in one["documents"]] for one in self.database.params("publish")]

    def keep(self, sent: Row) -> list[Row]:
        self.kept |= {row["key"]: row["data"] for row in sent["rows"]}
        return [{"held": True}]

    def forget(self, sent: Row) -> list[Row]:
        known = [self.kept.pop(key) for key in sent["keys"] if key in self.kept]
        return [{"deleted": len(known)}]

    def publish(self, sent: Row) -> list[Row]:
        for id_ in sent["gone"]:
            self.documents.pop(id_, None)
            self.chunks.pop(id_, None)
        self.documents |= {row["id"]: row for row in sent["documents"]}
        for row in sent["chunks"]:
            said = row["properties"]
            own = {key: said[key] for key in ("id", "extraction_key", "extraction", "sure")}
            own["unpruned"] = said["unpruned"] or ""
            self.chunks[own["id"]] = {"document": row["document"], **own}
        return [{"held": True}]


def stored_document(id_: str = "a.md", **changed: Any) -> StoredDocument:
    """A document as a graph holds it."""
    given = StoredDocument(
        id=id_, hash="h", rules="r", signature="s1", chunks=1, name=id_, size=1, label="Docs",
        schema="", told=(), source=id_, roots=(),
    )  # fmt: skip
    return replace(given, **changed)


def ingestion(
    documents: Documents,
    extractor: Extractor,
    folder: Path,
    events: list[Any] | None = None,
    *,
    config: PGSConfig | None = None,
    models: dict[str, ModelEntry] | None = None,
    describer: Describer | None = None,
    **given: Any,
) -> tuple[IngestOrder, IngestTools]:
    """Return the order to ingest a folder into these documents, and its tools."""
    loader = FileLoader()
    tools = IngestTools(
        db=documents.database,
        loader=loader,
        extractor=extractor,
        describer=describer,
        keeper=Keeper(documents.database, "docs"),
        calls=Calls.of(config or PGSConfig(), models or {}),
        on_event=([] if events is None else events).append,
    )
    sources = find_sources([folder], loader.takes)
    return IngestOrder(graph="docs", label="Docs", sources=sources, **given), tools
