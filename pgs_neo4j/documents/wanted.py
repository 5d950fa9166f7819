"""The documents that are to be written, with what the extractions of their chunks may rest on."""

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
    """What an extraction rests on, as a key; ``told`` is the hash of the schema asked under."""

    key: str
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedChunk:
    """A chunk with its id, and what its extraction may rest on.

    The first basis is that of a new extraction. The others are under schemas that the wanted one
    narrows.
    """

    id: str
    chunk: Chunk
    bases: tuple[Basis, ...]

    @property
    def extraction_key(self) -> str:
        """The key of its extraction."""
        return self.bases[0].key


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedDocument:
    """A document that is to be written. ``former`` are ids of documents it takes chunks from.

    ``rules`` tell how it was loaded and divided, ``note`` what was guessed, and ``unread`` what its
    text lacks. ``source`` is the id of its source, and ``roots`` are hashes of its folder. ``part``
    is set if ``chunks`` are a part of a large document.
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
        """Return what becomes of the document, of which these keys are extracted now.

        ``unproven`` are the ids of chunks that nothing proves to have been read as a whole.
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
        """Return the document with the bases under which extractions are known."""
        return replace(self, chunks=[_settled(chunk, known) for chunk in self.chunks])


def _settled(chunk: WantedChunk, known: Container[str]) -> WantedChunk:
    basis = next((one for one in chunk.bases if one.key in known), chunk.bases[0])
    return replace(chunk, bases=(basis,))
