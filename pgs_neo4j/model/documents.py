"""Documents on their way into a graph: text, sentences, chunks, and what chunks say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

SentenceKind = Literal["prose", "heading", "row", "code", "data", "rule"]
"""``row``: of a table. ``data``: a part of what is too long for a sentence. ``rule``: no words."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch ``text[start:end]``, the whitespace after it included.

    ``opens``: a paragraph, list item, or block begins here. ``level`` is that of a heading, from 1.
    """

    start: int
    end: int
    kind: SentenceKind = "prose"
    opens: bool = True
    level: int = 0


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A title that covers the text from ``start`` on; ``level`` counts from 1."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class GivenEntity:
    """An entity that is known without a model, such as the value of a column.

    It stands at ``text[start:end]``.
    """

    name: str
    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordColumns:
    """Which columns of records are their text, title, and key, and which name entities.

    ``entities`` are pairs of column and type. Columns that are not named are chosen by usual names.
    """

    text: str | None = None
    title: str | None = None
    key: str | None = None
    entities: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """A document's normalized text, which has no line break but ``\\n``.

    ``page_starts`` are the places at which pages begin, ascending. Without an ``outline``, headings
    are looked for in the text. ``given`` are entities that no model has to find, by place.
    ``labels`` are names of columns that begin its lines, as in ``city: Oslo``, and are no content.
    ``unread`` says what its file holds beside this text, each with its page if it has one:
    ``page 3 is a picture``. ``title`` is what the properties of its file call it, if its first page
    does so as well.
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
    """Where a document comes from: a file, a URL, or ``data``.

    The file is at ``path``, and no link in it may lead out of ``root``; or it is ``opened``, and
    read from its beginning. The ending of ``id`` tells what ``data`` or such a file is:
    ``DocumentSource(id="note.md", data="It is so.")``.
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

    ``name`` is its title, unless it is called by the end of its id. ``note`` tells what was
    guessed. ``media_type`` is that of its source, empty if it is not known.
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
    """Loads the documents of a source.

    ``signature`` tells what, besides the source, decides texts and pages.
    """

    @property
    def signature(self) -> str:
        """A hash of what decides the result; another one writes documents again."""
        ...

    def takes(self, name: str) -> bool:
        """Whether it loads a file of this name; others in a folder are left out."""
        ...

    def load(self, source: DocumentSource) -> AsyncIterator[LoadedDocument | RefusedDocument]:
        """Yield the documents of a source: one with its id, or several with ``id#key``.

        Raises InputFileError if it cannot be read, or read on.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The stretch ``document[start:end]``; chunks of a document tile it.

    ``sentences`` tile ``text``: their places count from its beginning. ``context`` is the end of
    the text before it, which prompts show and no sentence of the chunk owns. ``hash`` is of
    ``text`` only. ``path`` are the headings above its first word. ``page`` counts from 1. ``given``
    are entities that begin in ``text``, with places in it. ``labels`` are those of its document.
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
"""Places ``text[start:end]`` of a chunk, ascending, without overlap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedEntity:
    """An entity as a reply names it; ``sentences`` are numbers of a chunk's sentences, from 1."""

    name: str
    type: str
    description: str = ""
    sentences: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedRelation:
    """A relation as a reply states it; ``source`` and ``target`` are names of entities."""

    source: str
    target: str
    keywords: tuple[str, ...] = ()
    description: str = ""
    sentences: tuple[int, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a reply says about one chunk, before it is checked against the text.

    ``dropped`` counts records that could not be read, by reason. It is not ``proven`` if nothing
    shows that the model was given all of the chunk.
    """

    entities: tuple[ExtractedEntity, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedEntity:
    """An entity with its places in the chunk's text.

    ``spans`` are empty if it is ``implicit``: the sentences speak of it in other words. ``given``:
    it is known without a model.
    """

    name: str
    type: str
    description: str = ""
    spans: Spans = ()
    sentences: tuple[int, ...] = ()
    given: bool = False

    @property
    def implicit(self) -> bool:
        """Whether its name stands nowhere in the sentences."""
        return not self.spans


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedRelation:
    """A relation between two grounded entities of a chunk, each by name and type.

    ``type`` is the first keyword as the name of a relation: ``WORKS_FOR``. ``fact`` is a sentence.
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
    """A grounded entity, by name and type, for which its chunk defines an abbreviation."""

    name: str
    type: str
    short: str


@dataclass(frozen=True, slots=True)
class GroundedExtraction:
    """What is grounded of a chunk's extraction; ``dropped`` counts the rest by reason.

    ``proven`` is that of the extraction.
    """

    entities: tuple[GroundedEntity, ...] = ()
    relations: tuple[GroundedRelation, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    definitions: tuple[DefinedName, ...] = ()
    proven: bool = True
