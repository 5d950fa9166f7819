"""Defines the documents to write, with the keys of the extractions that their chunks may use."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pgs_neo4j.model.documents import Chunk
from pgs_neo4j.model.ingest import DocumentOutcome, DocumentState

if TYPE_CHECKING:
    from pgs_neo4j.documents.publish.large import DocumentPart


@dataclass(frozen=True, slots=True)
class Basis:
    """Identifies an extraction by the key of its text and settings.

    ``told`` is the hash of the schema that the extractor is given.
    """

    key: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedChunk:
    """A chunk with its id, and the bases of the extractions that it may use.

    The first basis is for a new extraction. The other bases belong to schemas that allow everything
    that the current schema allows.
    """

    id: str
    chunk: Chunk
    bases: tuple[Basis, ...]

    @property
    def extraction_key(self) -> str:
        """The key of the chunk's extraction, by its first basis."""
        return self.bases[0].key


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedDocument:
    """A document to write. ``former`` has the ids of stored documents whose chunks it may reuse.

    ``rules`` is the hash of its loading and chunking rules. ``note`` says what the loader guessed,
    and ``unread`` names the parts of the file that are missing in its text. ``source`` is the id of
    its source, and ``roots`` are hashes of the source's folder. ``part`` is set if ``chunks`` are a
    part of a large document.
    """

    id: str
    state: DocumentState
    hash: str
    size: int
    chunks: Sequence[WantedChunk]
    former: tuple[str, ...] = ()
    name: str = ""
    rules: str = ""
    note: str = ""
    unread: tuple[str, ...] = ()
    source: str = ""
    roots: tuple[str, ...] = ()
    media_type: str = ""
    part: DocumentPart | None = None

    def outcome(self, extracted: Container[str], unproven: Container[str] = ()) -> DocumentOutcome:
        """Return the document's outcome; ``extracted`` has the keys of the new extractions.

        ``unproven`` has the ids of chunks without proof that the model read them completely.
        """
        return DocumentOutcome(
            id=self.id,
            state=self.state,
            chunks=len(self.chunks),
            extracted=sum(chunk.extraction_key in extracted for chunk in self.chunks),
            note=self.note,
            unread=self.unread,
            unproven=sum(chunk.id in unproven for chunk in self.chunks),
            former=self.former[-1] if self.state == "moved" else "",
        )

    def settle(self, known: Container[str]) -> WantedDocument:
        """Return the document with one basis per chunk, preferably of a known extraction."""
        return replace(self, chunks=[_choose_basis(chunk, known) for chunk in self.chunks])


def _choose_basis(chunk: WantedChunk, known: Container[str]) -> WantedChunk:
    basis = next((one for one in chunk.bases if one.key in known), chunk.bases[0])
    return replace(chunk, bases=(basis,))
