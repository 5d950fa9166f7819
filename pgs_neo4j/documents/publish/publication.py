"""Writes documents and the resulting changes of the graph, in one transaction.

``assemble`` compares documents with their stored chunks, and ``publish`` writes the difference. The
module also defines the view of a graph of documents, its labels, and its indexes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from uuid import uuid4

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.documents.fold.contribution import Contribution, Named, contribution_of
from pgs_neo4j.documents.fold.folding import MentionRow
from pgs_neo4j.documents.fold.resolution import Resolution
from pgs_neo4j.documents.fold.rulings import Judgment, Ruling, ruling_id, ruling_rows
from pgs_neo4j.documents.fold.tallies import EntityRow, RelationRow, entity_id, relation_ends
from pgs_neo4j.documents.loading.load import create_loaded_key
from pgs_neo4j.documents.names.index import name_row
from pgs_neo4j.documents.publish.change import Change, compute_change
from pgs_neo4j.documents.publish.writer import Writer, writing_lost_error
from pgs_neo4j.documents.stored import EXTRACTION, StoredChunk
from pgs_neo4j.errors import UsageError
from pgs_neo4j.graph.hashes import text_hash
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.documents import Chunk, GroundedExtraction

RESERVED = frozenset(("document", "chunk", "__entity__", "__ruling__", "loadednode"))
"""Labels that all graphs of documents use, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunk:
    """A chunk with its id, its extraction, and the key of the extraction.

    ``unpruned`` is the complete extraction if the schema removed a part of the extraction,
    otherwise None.
    """

    id: str
    chunk: Chunk
    extraction: GroundedExtraction
    extraction_key: str
    unpruned: GroundedExtraction | None = None
    sure: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document to write: its properties, and all of its chunks in order.

    A part of a large document has only some chunks; ``after`` is the id of the chunk before them.
    """

    id: str
    properties: Row
    chunks: Sequence[NewChunk]
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """The content of one transaction. ``gone`` has the ids of documents and chunks to delete.

    ``ruled`` has the rulings to store, ``unruled`` has the names whose rulings are deleted, and
    ``judged`` has a model's judgments. ``id`` identifies the publication if it is sent again.
    """

    gone: Sequence[str]
    documents: Sequence[NewDocument]
    change: Change
    ruled: Mapping[Named, Ruling] = field(default_factory=dict)
    unruled: Sequence[Named] = ()
    judged: Sequence[Judgment] = ()
    id: str = field(default_factory=lambda: uuid4().hex)


async def assemble(
    db: Database,
    graph: str,
    documents: Sequence[NewDocument],
    stored: Mapping[str, Sequence[StoredChunk]],
    resolution: Resolution | None = None,
) -> Publication:
    """Return the publication after which the graph contains the given ``documents``.

    ``stored`` has the documents' stored chunks. A document in ``stored`` that is not among
    ``documents`` is deleted. Unchanged chunks are not written. Raises DatabaseError.
    """
    current = {document.id for document in documents}
    removed = [document for document in stored if document not in current]
    old = {chunk.id: chunk for chunks in stored.values() for chunk in chunks}
    new = {chunk.id: chunk for document in documents for chunk in document.chunks}
    same = {
        id_
        for id_, chunk in new.items()
        if id_ in old
        and old[id_].sure == chunk.sure
        and old[id_].extraction == EXTRACTION.dump_json(chunk.extraction).decode()
    }
    leaving = [chunk.contribution for id_, chunk in old.items() if id_ not in same]
    coming: list[Contribution] = [
        contribution_of(id_, chunk.extraction, sure=chunk.sure)
        for id_, chunk in new.items()
        if id_ not in same
    ]
    return Publication(
        gone=[*removed, *(id_ for id_ in old if id_ not in new)],
        documents=documents,
        change=await compute_change(db, graph, leaving, coming, resolution),
    )


async def publish(db: Database, writer: Writer, what: Publication, *, last: bool = True) -> None:
    """Write a publication, which may be one of several in a transaction.

    Raises DatabaseError, and LeaseLostError if another writer took over.
    """
    change = what.change
    # These rows are made first, because making them decides which types become labels.
    entities = [_entity_row(row, writer) for row in change.entities.values()]
    rows = await db.write(
        queries.get("documents/publish/publish"),
        graph=writer.graph,
        holder=writer.holder,
        publication=what.id,
        last=last,
        renamed=[_renamed_row(*pair) for pair in change.renamed.items()],
        labels=[writer.label, chunk_label(writer.label)],
        gone=list(what.gone),
        # New chunks are also passed, because the driver repeats this after a lost acknowledgment.
        unbound=sorted({*change.unbound, *(row.chunk for row in change.mentions)}),
        rebound=[asdict(one) for one in change.moved],
        dropped=[relation_ends(place) for place in change.dropped],
        vanished=list(change.vanished),
        documents=[{"id": one.id, **one.properties} for one in what.documents],
        chunks=[_chunk_row(one, chunk) for one in what.documents for chunk in one.chunks],
        follows=[pair for document in what.documents for pair in _pair_neighbors(document)],
        entities=entities,
        type_labels=sorted(writer.types.used),
        mentions=[_mention_row(row) for row in change.mentions],
        relations=[_relation_row(row) for row in change.relations.values()],
        describer=writer.describer or None,
        named=[name_row(one, writer.resolution.resolver) for one in change.named],
        ruled=ruling_rows(what.ruled, what.judged),
        unruled=[ruling_id(named) for named in what.unruled],
        unnamed=[{"key": key, "type": kind} for key, kind in change.unnamed],
        vector=fact_vector(writer.label),
        moved=_find_moved(what),
    )
    if not rows:
        raise writing_lost_error(writer.graph)


def _find_moved(what: Publication) -> list[Row]:
    """Return the new chunks that can reuse a deleted chunk's vector, because the texts are equal.

    A chunk's id ends with the hash of its text.
    """
    former = {text_part(id_): id_ for id_ in what.gone}
    chunks = [(new.id, new.chunk.hash) for one in what.documents for new in one.chunks]
    return [
        {"former": former[part], "id": id_, "hash": hash_}
        for id_, hash_ in chunks
        if (part := text_part(id_)) in former
    ]


def text_part(id_: str) -> str:
    """Return the part of a chunk's id that is the hash of its text."""
    return id_.rpartition("#")[2].partition("-")[0]


def _renamed_row(before: Named, after: Named) -> Row:
    without = [before[1]] if before[1] != after[1] else []
    return {"source": entity_id(before), "target": entity_id(after), "without": without}


def _pair_neighbors(document: NewDocument) -> Iterable[list[str]]:
    before = [document.after] if document.after else []
    return map(list, pairwise((*before, *(one.id for one in document.chunks))))


def _chunk_row(document: NewDocument, new: NewChunk) -> Row:
    chunk = new.chunk
    name = ", ".join((document.properties["name"], *chunk.path))
    if chunk.page is not None:
        name = f"{name}, page {chunk.page}"
    return {
        "document": document.id,
        "properties": {
            "id": new.id,
            "name": name,
            "text": chunk.text,
            "hash": chunk.hash,
            "index": chunk.index,
            "start": chunk.start,
            "end": chunk.end,
            "path": list(chunk.path),
            "page": chunk.page,
            "extraction": EXTRACTION.dump_json(new.extraction).decode(),
            "unpruned": new.unpruned and EXTRACTION.dump_json(new.unpruned).decode(),
            "extraction_key": new.extraction_key,
            "sure": new.sure,
        },
    }


def _entity_row(row: EntityRow, writer: Writer) -> Row:
    view = [writer.label, entity_label(writer.label)]
    own = writer.types.labels_of(row.type)
    return {
        "labels": [*own, *view] if row.viewed else own,
        "without": [] if row.viewed else [name for name in view if name not in own],
        "properties": {
            "id": row.id,
            "key": row.key,
            "name": row.name,
            "type": row.type,
            "description": row.description or None,
            "weight": float(row.mentions),
            "fragments_hash": row.fragments_hash or None,
            "called": row.called or None,
            "undescribed": None,
            "described_by": None,
        },
    }


def _mention_row(row: MentionRow) -> Row:
    mention = row.mention
    described = mention.description or None
    return {
        "entity": row.entity,
        "chunk": row.chunk,
        "properties": {
            "name": mention.name,
            "type": mention.type,
            "spans": [place for span in mention.spans for place in span],
            "implicit": not mention.spans,
            "sure": mention.sure,
            "short": mention.short or None,
            "description": described,
            "hash": text_hash(mention.description) if described else None,
        },
    }


def _relation_row(row: RelationRow) -> Row:
    return {
        "source": row.source,
        "target": row.target,
        "properties": {
            "rel_type": row.rel_type,
            "fact": row.fact,
            "fact_weight": row.fact_weight,
            "keywords": list(row.keywords),
            "weight": row.weight,
            "mentions": row.mentions,
            "chunks": list(row.chunks),
        },
    }


async def prepare(db: Database) -> None:
    """Create the key and the indexes by which publishing finds nodes. Raises DatabaseError."""
    await create_loaded_key(db)
    await db.write(queries.get("documents/publish/create_entity_index"))
    await db.write(queries.get("documents/publish/create_unread_index"))
    await db.write(queries.get("documents/publish/create_waiting_index"))
    await db.write(queries.get("documents/publish/create_vectors_index"))


def mapping_of(label: str, embedding_model: str | None = None) -> GraphMapping:
    """Return the view of a graph of documents: its chunks, and the entities in the view.

    ``embedding_model`` is the model that made the graph's vectors, None without vectors.
    """
    return GraphMapping(
        labels=(chunk_label(label), entity_label(label)),
        relationship_types=("RELATES", "MENTIONED_IN", "NEXT_CHUNK"),
        text=("text", "description"),
        title="name",
        key="id",
        weight="weight",
        relationship_weight="weight",
        relationship_name="rel_type",
        relationship_text="fact",
        embedding="embedding" if embedding_model else None,
        embedding_model=embedding_model,
        relationship_embedding=fact_vector(label) if embedding_model else None,
        chunk_labels=(chunk_label(label),),
        mention_types=("MENTIONED_IN",),
    )


def check_view_label(label: str) -> None:
    """Raise UsageError unless the label can be used for a view."""
    lower = label.lower()
    if not label.strip() or "\0" in label or lower.startswith("pgs") or lower in RESERVED:
        raise UsageError(
            f"the label {label!r} cannot be used: it must not be empty, contain NUL, begin with "
            "Pgs, or be Document, Chunk, __Entity__, or LoadedNode; choose another one with --label"
        )


def chunk_label(label: str) -> str:
    """Return the label of the chunks of a view."""
    return f"{label}Chunk"


def entity_label(label: str) -> str:
    """Return the label of the entities of a view."""
    return f"{label}Entity"


def fact_vector(label: str) -> str:
    """Return the name of the property with the vectors of a graph's facts.

    All graphs share one relationship type, so each graph needs a separate property for an index of
    its own.
    """
    return f"{label}_embedding"
