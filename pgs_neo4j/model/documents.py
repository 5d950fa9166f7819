"""Documents on their way into a graph: texts, sentences, chunks, and extractions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

SentenceKind = Literal["prose", "heading", "row", "code", "data", "rule"]
"""``row``: a table row. ``data``: a part of text too long for a sentence. ``rule``: no words."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence ``text[start:end]``, including the whitespace after it.

    ``opens``: it begins a paragraph, list item, or block. ``level`` is the level of a heading, from
    1; it is 0 for other sentences.
    """

    start: int
    end: int
    kind: SentenceKind = "prose"
    opens: bool = True
    level: int = 0


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """The heading of the text from ``start`` to the next entry; ``level`` counts from 1."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class GivenEntity:
    """An entity that is known without a model, such as the value of a column.

    Its name is at ``text[start:end]``.
    """

    name: str
    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordColumns:
    """The columns of records that contain their text, title, key, and entities.

    ``entities`` are pairs of column and entity type. Columns that are None are found by common
    names.
    """

    text: str | None = None
    title: str | None = None
    key: str | None = None
    entities: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """A document's normalized text, in which ``\\n`` is the only line break.

    ``page_starts`` are the places in the text where pages begin, ascending. Without an ``outline``,
    headings are searched for in the text. ``given`` are entities that are known without a model,
    sorted by place. ``labels`` are column names that begin its lines, as in ``city: Oslo``; they do
    not count as content. ``unread`` lists the parts of the file that are not in this text, in words
    and with the page if known: ``page 3 is a picture``. ``title`` is the title in the file's
    properties, if it is also on the first page.
    """

    text: str
    page_starts: tuple[int, ...] = ()
    outline: tuple[OutlineEntry, ...] = ()
    given: tuple[GivenEntity, ...] = ()
    unread: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSource:
    """The source of a document: a file, a URL, or ``data``.

    A file is given by its ``path`` or as ``opened``. Symbolic links in ``path`` must not lead out
    of ``root``, and ``opened`` is read from its beginning. For ``data`` and ``opened``, the ending
    of ``id`` gives the format: ``DocumentSource(id="note.md", data="It is so.")``.
    """

    id: str
    path: Path | None = None
    root: Path | None = None
    url: str | None = field(default=None, repr=False)
    data: str | bytes | None = None
    opened: BinaryIO | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDocument:
    """A document of a source, with its size in bytes.

    ``name`` is its title; if it is empty, the end of the id is shown instead. ``note`` says what
    was guessed, such as an encoding. ``media_type`` is empty if it is not known.
    """

    id: str
    text: DocumentText
    size: int
    name: str = ""
    note: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedDocument:
    """A document of a source that cannot be loaded, with the reason."""

    id: str
    reason: str


class DocumentLoader(Protocol):
    """Loads the documents of a source."""

    @property
    def signature(self) -> str:
        """A hash of everything, except the source, that determines texts and pages.

        If it changes, documents are written again.
        """
        ...

    def takes(self, name: str) -> bool:
        """Whether the loader loads a file with this name; other files in a folder are left out."""
        ...

    def load(self, source: DocumentSource) -> AsyncIterator[LoadedDocument | RefusedDocument]:
        """Yield the documents of a source: one with its id, or several with ids ``id#key``.

        Raises InputFileError if the source cannot be read completely.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The part ``document[start:end]`` of a document. Chunks cover a document without overlap.

    ``sentences`` cover ``text`` without overlap; their places count from its beginning. ``context``
    is the end of the text before the chunk; prompts show it, but it belongs to no sentence of the
    chunk. ``hash`` is the hash of ``text`` alone. ``path`` are the headings above its first word.
    ``page`` counts from 1. ``given`` are the known entities that begin in ``text``, with places in
    it. ``labels`` are the labels of its document.
    """

    index: int
    start: int
    end: int
    text: str
    hash: str
    sentences: tuple[Sentence, ...]
    context: str = ""
    path: tuple[str, ...] = ()
    page: int | None = None
    given: tuple[GivenEntity, ...] = ()
    labels: tuple[str, ...] = ()


Spans = tuple[tuple[int, int], ...]
"""Pairs of start and end in the text of a chunk, ascending, without overlap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedEntity:
    """An entity in a reply; ``sentences`` are the numbers of the cited sentences, from 1."""

    name: str
    type: str
    description: str = ""
    sentences: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedRelation:
    """A relation in a reply; ``source`` and ``target`` are names of entities."""

    source: str
    target: str
    keywords: tuple[str, ...] = ()
    description: str = ""
    sentences: tuple[int, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """The entities and relations in a reply on one chunk, not yet checked against its text.

    ``dropped`` counts records that could not be parsed, by reason. ``proven`` is False if nothing
    proves that the model was given the whole chunk.
    """

    entities: tuple[ExtractedEntity, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedEntity:
    """An entity with its places in the chunk's text.

    ``spans`` are empty if the entity is ``implicit``: the sentences mention it in other words.
    ``given``: it is known without a model.
    """

    name: str
    type: str
    description: str = ""
    spans: Spans = ()
    sentences: tuple[int, ...] = ()
    given: bool = False

    @property
    def implicit(self) -> bool:
        """Whether the sentences do not contain its name."""
        return not self.spans


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedRelation:
    """A relation between two grounded entities of a chunk, each given by name and type.

    ``type`` is its first keyword in the form of a type, such as ``WORKS_FOR``. ``fact`` is a
    sentence.
    """

    source: str
    source_type: str
    target: str
    target_type: str
    type: str
    fact: str
    keywords: tuple[str, ...] = ()
    sentences: tuple[int, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinedName:
    """An abbreviation ``short`` that a chunk defines for a grounded entity, by name and type."""

    name: str
    type: str
    short: str


@dataclass(frozen=True, slots=True)
class GroundedExtraction:
    """The part of a chunk's extraction that is grounded in its text.

    ``dropped`` counts the rest, by reason. ``proven`` is copied from the extraction.
    """

    entities: tuple[GroundedEntity, ...] = ()
    relations: tuple[GroundedRelation, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    definitions: tuple[DefinedName, ...] = ()
    proven: bool = True
