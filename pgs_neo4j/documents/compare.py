"""Compares sources with the documents of a graph, and divides those that changed into chunks."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from pgs_neo4j.documents.order import Chunker, Extractor, IngestOrder
from pgs_neo4j.documents.read.text import EmptyDocumentError, normalize
from pgs_neo4j.documents.sources.find import Sources, folder_of, root_hashes
from pgs_neo4j.documents.sources.loader import FileLoader, check_id
from pgs_neo4j.documents.stored import StoredDocument, bound_unread
from pgs_neo4j.documents.wanted import Basis, WantedChunk, WantedDocument
from pgs_neo4j.errors import InputFileError, ModelError, StoppedError
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.llm.own_models import await_ends, checked_documents, said_by
from pgs_neo4j.model.documents import (
    Chunk,
    DocumentLoader,
    DocumentSource,
    DocumentText,
    LoadedDocument,
)
from pgs_neo4j.model.ingest import DocumentOutcome, DocumentState
from pgs_neo4j.text.chunking import ChunkRules, chunk_document, chunks_ending
from pgs_neo4j.text.extraction import additions
from pgs_neo4j.text.extraction.schema import EntitySchema
from pgs_neo4j.text.shown import natural_key

DEFAULT = EntitySchema()
TURN_LETTERS = 100_000
"""Characters of a text from which it is divided beside other tasks."""


@dataclass(slots=True)
class Compared:
    """What became of the sources so far.

    ``missing`` are the documents whose source is gone, ``elsewhere`` ids of those of which that is
    not known, and ``unseen`` those that a source may still have, by its id. ``rooted`` are the
    folders, as hashes, of documents that stay as they are and have stored others. ``done`` are ids
    of sources that were read to the end, ``stopped`` the limit that ended it before the last one.
    """

    outcomes: list[DocumentOutcome]
    missing: dict[str, StoredDocument]
    unseen: dict[str, dict[str, StoredDocument]]
    elsewhere: list[str] = field(default_factory=list)
    rooted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    stopped: str = ""

    @classmethod
    def of(cls, sources: Sources, stored: Mapping[str, StoredDocument]) -> Compared:
        """Return the comparison of sources with what the graph holds, before any is read.

        What a folder that cannot be read has is not known, so nothing of it is missing.
        """
        comparison = cls([], {}, {})
        ids = {source.id for source in sources.listed}
        for folder, reason in sources.closed.items():
            comparison.fail(folder, reason)
        for id_, one in stored.items():
            if source := _source_of(id_, ids):
                comparison.unseen.setdefault(source, {})[id_] = one
            elif id_.startswith((*sources.closed,)):
                continue
            elif sources.have_lost(one.source, one.roots):
                comparison.missing[id_] = one
            else:
                comparison.elsewhere.append(id_)
        return comparison

    def fail(self, id_: str, reason: str) -> None:
        """Note that a document or source cannot be loaded."""
        self.outcomes.append(DocumentOutcome(id=id_, state="failed", reason=reason))

    def all_outcomes(
        self, order: IngestOrder, written: Sequence[DocumentOutcome], *, stopped: bool = False
    ) -> tuple[DocumentOutcome, ...]:
        """Return what became of every source and document, in the natural order of ids.

        After a stop, sources wait, and a document without one may have moved to one of them.
        """
        gone: DocumentState = "deleted" if order.sync else "missing"
        outcomes = [*self.outcomes, *written]
        outcomes += [DocumentOutcome(id=id_, state="elsewhere") for id_ in self.elsewhere]
        if not stopped:
            outcomes += [DocumentOutcome(id=id_, state=gone) for id_ in self.missing]
        known = self.done | {one.id for one in outcomes}
        outcomes += [
            DocumentOutcome(id=source.id, state="waiting")
            for source in order.sources.listed
            if source.id not in known
        ]
        return tuple(sorted(outcomes, key=lambda one: natural_key(one.id)))


def compare(
    order: IngestOrder,
    loader: DocumentLoader,
    stored: Mapping[str, StoredDocument],
    extractor: Extractor,
    chunker: Chunker | None = None,
) -> tuple[Compared, AsyncGenerator[WantedDocument]]:
    """Return the documents to write, made one at a time, and what is known of the others.

    A document whose text and rules are those of the graph is unchanged; stale if another
    model, prompt, or wider schema extracted it. A new document with the text of one whose source
    is gone is that one, moved.
    """
    comparison = Compared.of(order.sources, stored)
    rules, signature = rules_of(order.rules, loader, chunker), extractor.signature
    comparing = _Comparing(order, loader, stored, extractor, chunker, comparison, rules, signature)
    return comparison, comparing.wanted()


@dataclass(frozen=True, slots=True)
class _Comparing:
    """The sources of an order against the documents of its graph."""

    order: IngestOrder
    loader: DocumentLoader
    stored: Mapping[str, StoredDocument]
    extractor: Extractor
    chunker: Chunker | None
    comparison: Compared
    rules: str
    signature: str
    roots: dict[Path, tuple[str, ...]] = field(default_factory=dict)

    async def wanted(self) -> AsyncGenerator[WantedDocument]:
        """Yield the documents to write."""
        by_hash: dict[str, list[str]] = defaultdict(list)
        for id_, one in sorted(self.comparison.missing.items(), reverse=True):
            by_hash[one.hash].append(id_)
        for source in self.order.sources.listed:
            roots = self._roots_of(source)
            async with aclosing(self._load(source)) as documents:
                async for loaded in documents:
                    try:
                        document = await self._compared(loaded, by_hash, roots)
                    except StoppedError as error:
                        self.comparison.stopped = str(error)
                        return
                    if document is not None:
                        yield replace(document, source=source.id, roots=roots)
            self.comparison.done.add(source.id)

    def _roots_of(self, source: DocumentSource) -> tuple[str, ...]:
        """Return hashes of the folder of a source, none without one."""
        folder = folder_of(source)
        if folder is None:
            return ()
        if folder not in self.roots:
            self.roots[folder] = root_hashes(folder)
        return self.roots[folder]

    async def _load(self, source: DocumentSource) -> AsyncGenerator[LoadedDocument]:
        """Yield the documents of a source; what it has no more is missing.

        After a fault that is not known, so nothing of it is.
        """
        unseen = self.comparison.unseen.pop(source.id, {})
        # A document that its file has no more is missing, which says more than that it is empty.
        empty = source.id not in unseen
        failed, seen = 0, set[str]()
        built_in = isinstance(self.loader, FileLoader)
        try:
            name = type(self.loader).__name__
            with said_by(name, "loader"):
                loading: object = self.loader.load(source)
            async with aclosing(checked_documents(name, source.id, loading)) as documents:
                async for loaded in documents:
                    empty = False
                    unseen.pop(loaded.id, None)
                    if isinstance(loaded, LoadedDocument):
                        yield loaded if built_in else self._checked(name, loaded, seen)
                    else:
                        failed += 1
                        self.comparison.fail(loaded.id, loaded.reason)
        except EmptyDocumentError:
            pass  # it was read to its end
        except (InputFileError, ModelError) as error:
            failed += 1
            self.comparison.fail(source.id, str(error))
        if not failed:
            self.comparison.missing.update(unseen)
            if empty:
                self.comparison.outcomes.append(DocumentOutcome(id=source.id, state="empty"))

    def _checked(self, loader: str, loaded: LoadedDocument, seen: set[str]) -> LoadedDocument:
        """Return a document of a loader that people have written, as a built-in one returns it.

        ``seen`` are the ids of its source so far. Raises InputFileError.
        """
        check_id(loaded.id)
        if loaded.id in seen:
            raise InputFileError(
                f"the loader {loader} yielded {loaded.id} twice; let the ids of documents of one "
                "source differ in what follows the '#'"
            )
        seen.add(loaded.id)
        return normalize_loaded(loader, loaded)

    async def _compared(
        self, loaded: LoadedDocument, by_hash: Mapping[str, list[str]], roots: tuple[str, ...]
    ) -> WantedDocument | None:
        """Return a document if it is to be written. Raises StoppedError."""
        hash_, known = hash_of(loaded.text), self.stored.get(loaded.id)
        if known and (state := self._standing(known, hash_)):
            self.comparison.outcomes.append(
                DocumentOutcome(
                    id=loaded.id,
                    state=state,
                    chunks=known.chunks,
                    unread=known.unread,
                    unproven=known.chunks_unproven,
                )
            )
            if roots and roots != known.roots:
                self.comparison.rooted[loaded.id] = roots
            return None
        try:
            chunks = await self._divided(loaded.text)
            made = _wanted_chunks(loaded.id, chunks, self._signatures(known))
            # A long text takes seconds, in which other tasks have their turns.
            long = len(loaded.text.text) > TURN_LETTERS
            wanted = await asyncio.to_thread(list, made) if long else [*made]
        except (ModelError, ValueError) as error:
            self.comparison.fail(loaded.id, f"its text could not be divided: {error}")
            return None
        former = by_hash[hash_].pop() if known is None and by_hash.get(hash_) else None
        if former is not None:
            del self.comparison.missing[former]
        return WantedDocument(
            id=loaded.id,
            state="changed" if known else "moved" if former else "added",
            hash=hash_,
            size=loaded.size,
            chunks=wanted,
            former=(loaded.id, former) if former else (loaded.id,),
            name=loaded.name or title_of(loaded.id),
            rules=self.rules,
            note=loaded.note,
            unread=bound_unread(loaded.text.unread),
            media_type=loaded.media_type,
        )

    async def _divided(self, text: DocumentText) -> Iterator[Chunk]:
        """Return the chunks of a document. Raises ModelError and StoppedError."""
        if self.chunker is None:
            return chunk_document(text, self.order.rules)
        name, length = type(self.chunker).__name__, len(text.text)
        with said_by(name, "chunker"):
            dividing: object = self.chunker.divide(text)
        return chunks_ending(text, await await_ends(name, dividing, length), self.order.rules)

    def _standing(self, known: StoredDocument, hash_: str) -> DocumentState | None:
        """Return the state of a document that stays as it is; None if it is to be written."""
        if (known.hash, known.rules) != (hash_, self.rules):
            return None
        if known.signature != self.signature or not all(map(self._narrows, known.told)):
            return None if self.order.refresh else "stale"
        pruned = known.schema or DEFAULT.signature
        return "unchanged" if pruned == self.order.schema.signature else None

    def _narrows(self, told: str) -> bool:
        """Return whether what was asked for under a schema has all that the wanted one allows."""
        return narrows(self.order.schema, told, self.order.schemas)

    def _signatures(self, known: StoredDocument | None) -> list[tuple[str, str]]:
        """Return the extractor's signature with each schema asked under: the wanted one first."""
        schema = self.extractor.schema
        if schema is None:
            return [(self.signature, "")]
        told = [schema.told.signature]
        if known is not None and known.signature == self.signature:
            told += (one for one in known.told if one not in told and self._narrows(one))
        return [(self.signature, one) for one in told]


def normalize_loaded(loader: str, loaded: LoadedDocument) -> LoadedDocument:
    """Return a document whose text has its normal form, in which the built-in readers write it.

    Raises InputFileError if that would move the places that come with the text.
    """
    text, plain = loaded.text, normalize(loaded.text.text)
    if plain == text.text:
        return loaded
    if len(plain) != len(text.text) and (text.page_starts or text.outline or text.given):
        raise InputFileError(
            f"the loader {loader} counted places in a text that is not normalized; pass the text "
            "through normalize of pgs_neo4j.documents.read.text first, then count"
        )
    return replace(loaded, text=replace(text, text=plain))


def narrows(schema: EntitySchema, told: str, schemas: Mapping[str, EntitySchema]) -> bool:
    """Return whether what was asked for under the schema ``told`` has all that one allows."""
    former = schemas.get(told)
    same = told == schema.told.signature
    return same or (former is not None and former.covers(schema))


def hash_of(text: DocumentText) -> str:
    """Return a hash of a document's text, with its pages, titles, entities, and what is unread."""
    if not (text.page_starts or text.outline or text.given or text.unread or text.labels):
        return digest(text.text)
    outline = [[one.start, one.level, one.title] for one in text.outline]
    given = [[one.name, one.type, one.start, one.end] for one in text.given]
    unread = [[*text.unread]] if text.unread else []
    labels = [{"labels": [*text.labels]}] if text.labels else []
    return digest([text.text, text.page_starts, outline, given, *unread, *labels])


def rules_of(rules: ChunkRules, loader: DocumentLoader, chunker: Chunker | None = None) -> str:
    """Return a hash of how documents are loaded, divided, and searched for definitions."""
    divided: object = [chunker.signature, rules.overlap] if chunker else rules.signature
    return digest([divided, loader.signature, additions.FORM])


def _source_of(document: str, sources: Set[str]) -> str | None:
    """Return the source that a document may be of: its id, or what stands before a ``#``."""
    if document in sources:
        return document
    ends = (place for place, letter in enumerate(document) if letter == "#")
    return next((document[:end] for end in ends if document[:end] in sources), None)


def _wanted_chunks(
    document: str, chunks: Iterable[Chunk], signatures: Sequence[tuple[str, str]]
) -> Iterator[WantedChunk]:
    """Yield the chunks of a document; equal texts in it are told apart by their order."""
    repeated: Counter[str] = Counter()
    for chunk in chunks:
        repeated[chunk.hash] += 1
        count = repeated[chunk.hash]
        said: list[object] = [chunk.text, chunk.context, list(chunk.path)]
        said += [[one.name, one.type, one.start, one.end] for one in chunk.given]
        said += [{"labels": [*chunk.labels]}] if chunk.labels else []
        yield WantedChunk(
            id=f"{document}#{chunk.hash[:16]}" + (f"-{count}" if count > 1 else ""),
            chunk=chunk,
            bases=tuple(Basis(digest([*signed, *said]), signed[1]) for signed in signatures),
        )


def title_of(document: str) -> str:
    """Return how a document is called: the name of its file."""
    return PurePosixPath(document).name
