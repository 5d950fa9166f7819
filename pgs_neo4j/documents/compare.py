"""Compares sources with the documents of a graph, and divides changed documents into chunks."""

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
"""A text longer than this many characters is divided in a thread, so that other tasks can run."""


@dataclass(slots=True)
class Compared:
    """The state of a comparison: the outcomes so far, and the stored documents not found yet.

    ``missing`` has the documents whose source is gone. ``elsewhere`` has the ids of documents whose
    source was not looked for. ``unseen`` has, by the id of a source, the stored documents that this
    source may still yield. ``rooted`` has the new folder hashes of unchanged documents whose stored
    hashes differ. ``done`` has the ids of sources that were read completely. ``stopped`` is the
    limit that ended the comparison early, or empty.
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
        """Return the comparison before any source is read.

        The documents of an unreadable folder do not count as missing, because its files are
        unknown.
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
        """Record that a document or source cannot be loaded."""
        self.outcomes.append(DocumentOutcome(id=id_, state="failed", reason=reason))

    def all_outcomes(
        self, order: IngestOrder, written: Sequence[DocumentOutcome], *, stopped: bool = False
    ) -> tuple[DocumentOutcome, ...]:
        """Return the outcome of every source and document, in the natural order of ids.

        After a stop, the remaining sources wait. A missing document may have moved to one of them,
        so no document is reported as missing.
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
    """Return the state of the comparison, and a generator of the documents to write.

    The state is filled while the generator runs. A document is unchanged if its text and rules are
    the same as in the graph. It is stale if another model or prompt extracted it, or if the schema
    at that time allowed less. A new document with the text of a missing document is reported as
    moved.
    """
    comparison = Compared.of(order.sources, stored)
    rules, signature = hash_rules(order.rules, loader, chunker), extractor.signature
    comparing = _Comparer(order, loader, stored, extractor, chunker, comparison, rules, signature)
    return comparison, comparing.wanted()


@dataclass(frozen=True, slots=True)
class _Comparer:
    """Compares the sources of an order with the documents of its graph."""

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
            async with aclosing(self._load_source(source)) as documents:
                async for loaded in documents:
                    try:
                        document = await self._compare_document(loaded, by_hash, roots)
                    except StoppedError as error:
                        self.comparison.stopped = str(error)
                        return
                    if document is not None:
                        yield replace(document, source=source.id, roots=roots)
            self.comparison.done.add(source.id)

    def _roots_of(self, source: DocumentSource) -> tuple[str, ...]:
        """Return the hashes of a source's folder, empty if the source has no folder."""
        folder = folder_of(source)
        if folder is None:
            return ()
        if folder not in self.roots:
            self.roots[folder] = root_hashes(folder)
        return self.roots[folder]

    async def _load_source(self, source: DocumentSource) -> AsyncGenerator[LoadedDocument]:
        """Yield the documents of a source, and record its missing stored documents.

        After a fault, no document is recorded as missing, because the source was not read
        completely.
        """
        unseen = self.comparison.unseen.pop(source.id, {})
        # If a file's only document is gone, "missing" says more than "empty".
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
                        yield loaded if built_in else self._check_loaded(name, loaded, seen)
                    else:
                        failed += 1
                        self.comparison.fail(loaded.id, loaded.reason)
        except EmptyDocumentError:
            pass  # An empty document was read completely, so it is no failure.
        except (InputFileError, ModelError) as error:
            failed += 1
            self.comparison.fail(source.id, str(error))
        if not failed:
            self.comparison.missing.update(unseen)
            if empty:
                self.comparison.outcomes.append(DocumentOutcome(id=source.id, state="empty"))

    def _check_loaded(self, loader: str, loaded: LoadedDocument, seen: set[str]) -> LoadedDocument:
        """Check and normalize a document from a user's loader, and return it.

        ``seen`` has the ids that this source has yielded so far. Raises InputFileError.
        """
        check_id(loaded.id)
        if loaded.id in seen:
            raise InputFileError(
                f"the loader {loader} yielded {loaded.id} twice; give each document of a source an "
                "id of its own after the '#'"
            )
        seen.add(loaded.id)
        return normalize_loaded(loader, loaded)

    async def _compare_document(
        self, loaded: LoadedDocument, by_hash: Mapping[str, list[str]], roots: tuple[str, ...]
    ) -> WantedDocument | None:
        """Return a document to write, None if it fails or is not written again.

        Raises StoppedError.
        """
        hash_, known = hash_of(loaded.text), self.stored.get(loaded.id)
        if known and (state := self._state_if_kept(known, hash_)):
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
            chunks = await self._divide(loaded.text)
            made = _make_chunks(loaded.id, chunks, self._list_signatures(known))
            # Dividing a long text takes seconds, so a thread does it while other tasks run.
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

    async def _divide(self, text: DocumentText) -> Iterator[Chunk]:
        """Return the chunks of a document. Raises ModelError and StoppedError."""
        if self.chunker is None:
            return chunk_document(text, self.order.rules)
        name, length = type(self.chunker).__name__, len(text.text)
        with said_by(name, "chunker"):
            dividing: object = self.chunker.divide(text)
        return chunks_ending(text, await await_ends(name, dividing, length), self.order.rules)

    def _state_if_kept(self, known: StoredDocument, hash_: str) -> DocumentState | None:
        """Return the state of a document that is not written again, None if it must be written."""
        if (known.hash, known.rules) != (hash_, self.rules):
            return None
        if known.signature != self.signature or not all(map(self._allows_enough, known.told)):
            return None if self.order.refresh else "stale"
        pruned = known.schema or DEFAULT.signature
        return "unchanged" if pruned == self.order.schema.signature else None

    def _allows_enough(self, told: str) -> bool:
        """Return whether an extraction has everything that the current schema allows.

        The extraction was made with the schema of hash ``told``.
        """
        return covers_schema(self.order.schema, told, self.order.schemas)

    def _list_signatures(self, known: StoredDocument | None) -> list[tuple[str, str]]:
        """Return the extractor's signature with each usable schema hash, the current one first."""
        schema = self.extractor.schema
        if schema is None:
            return [(self.signature, "")]
        hashes = [schema.told.signature]
        if known is not None and known.signature == self.signature:
            hashes += (one for one in known.told if one not in hashes and self._allows_enough(one))
        return [(self.signature, one) for one in hashes]


def normalize_loaded(loader: str, loaded: LoadedDocument) -> LoadedDocument:
    """Return a document with its text normalized in the same way as by the built-in readers.

    Raises InputFileError if normalizing would shift the positions that come with the text.
    """
    text, plain = loaded.text, normalize(loaded.text.text)
    if plain == text.text:
        return loaded
    if len(plain) != len(text.text) and (text.page_starts or text.outline or text.given):
        raise InputFileError(
            f"the loader {loader} counted positions in text that is not normalized; count them in "
            "the result of pgs_neo4j.documents.read.text.normalize()"
        )
    return replace(loaded, text=replace(text, text=plain))


def covers_schema(schema: EntitySchema, told: str, schemas: Mapping[str, EntitySchema]) -> bool:
    """Return whether an extraction under the schema hash ``told`` has all that ``schema`` allows.

    ``schemas`` maps hashes to schemas. An unknown hash counts only if it is the hash of ``schema``.
    """
    former = schemas.get(told)
    same = told == schema.told.signature
    return same or (former is not None and former.covers(schema))


def hash_of(text: DocumentText) -> str:
    """Return a hash of a document's text, pages, titles, given entities, unread parts, labels."""
    if not (text.page_starts or text.outline or text.given or text.unread or text.labels):
        return digest(text.text)
    outline = [[one.start, one.level, one.title] for one in text.outline]
    given = [[one.name, one.type, one.start, one.end] for one in text.given]
    unread = [[*text.unread]] if text.unread else []
    labels = [{"labels": [*text.labels]}] if text.labels else []
    return digest([text.text, text.page_starts, outline, given, *unread, *labels])


def hash_rules(rules: ChunkRules, loader: DocumentLoader, chunker: Chunker | None = None) -> str:
    """Return a hash of the rules for loading documents, dividing them, and adding to them."""
    divided: object = [chunker.signature, rules.overlap] if chunker else rules.signature
    return digest([divided, loader.signature, additions.FORM])


def _source_of(document: str, sources: Set[str]) -> str | None:
    """Return a document's possible source: its id, or the part of its id before a ``#``."""
    if document in sources:
        return document
    ends = (place for place, letter in enumerate(document) if letter == "#")
    return next((document[:end] for end in ends if document[:end] in sources), None)


def _make_chunks(
    document: str, chunks: Iterable[Chunk], signatures: Sequence[tuple[str, str]]
) -> Iterator[WantedChunk]:
    """Yield the chunks of a document; chunks with equal texts get numbered ids, in their order."""
    repeated: Counter[str] = Counter()
    for chunk in chunks:
        repeated[chunk.hash] += 1
        count = repeated[chunk.hash]
        parts: list[object] = [chunk.text, chunk.context, list(chunk.path)]
        parts += [[one.name, one.type, one.start, one.end] for one in chunk.given]
        parts += [{"labels": [*chunk.labels]}] if chunk.labels else []
        yield WantedChunk(
            id=f"{document}#{chunk.hash[:16]}" + (f"-{count}" if count > 1 else ""),
            chunk=chunk,
            bases=tuple(Basis(digest([*signed, *parts]), signed[1]) for signed in signatures),
        )


def title_of(document: str) -> str:
    """Return the title of a document: the name of its file."""
    return PurePosixPath(document).name
