"""Reads the contents of a graph of documents: documents, chunks, names, and relations.

It also warns about partially read documents before an answer relies on them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import TypeAdapter

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Query, Row
from pgs_neo4j.documents.fold.contribution import (
    WEIGHT_UNIT,
    Contribution,
    Named,
    Statement,
    contribution_of,
)
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.fold.tallies import (
    MOST_FRAGMENTS,
    RelationPlace,
    RelationTally,
    entity_id,
    keep_lowest,
    relation_ends,
)
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.documents import GroundedExtraction
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.shown import counted, one_line

EXTRACTION = TypeAdapter(GroundedExtraction)
READ_CHUNKS = 500
"""Number of chunks whose extractions are read at a time."""
NOTHING: Mapping[Named, Named] = MappingProxyType({})
MOST_NAMED = 3
"""Maximum number of documents that a warning names."""
MOST_PARTS = 50
"""Maximum number of unread parts of a document whose names are stored."""
LONGEST_PART = 200
"""Maximum characters to store of each of these names."""
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document of the graph.

    ``hash`` is the hash of its text, and ``rules`` is the hash of its loading and chunking rules.
    ``signature`` identifies the extractor, and ``label`` marks its graph's nodes. ``schema`` is the
    hash of the schema that pruned it. ``told`` has the hashes of the schemas that the extractor was
    given for its chunks. ``roots`` are hashes of the folder of its ``source``, empty without a
    folder. ``unread`` names the parts of the file that no chunk contains. ``chunks_unproven``
    counts the chunks without proof that the model received all of their text.
    """

    id: str
    hash: str
    rules: str
    signature: str
    chunks: int
    name: str
    size: int
    label: str
    schema: str
    told: tuple[str, ...]
    source: str
    roots: tuple[str, ...]
    unread: tuple[str, ...] = ()
    chunks_unproven: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChunk:
    """A chunk of the graph; ``extraction_key`` identifies its extraction by text and settings.

    ``unpruned`` is the complete extraction, and ``extraction`` is the part that the schema allows.
    ``unpruned`` is empty if the schema allows everything.
    """

    document: str
    id: str
    extraction_key: str
    extraction: str
    unpruned: str
    sure: bool

    @property
    def contribution(self) -> Contribution:
        """The names and relations that the chunk adds to the graph."""
        extraction = EXTRACTION.validate_json(self.extraction)
        return contribution_of(self.id, extraction, sure=self.sure)


async def read_documents(db: Database, graph: str) -> dict[str, StoredDocument]:
    """Return the documents of a graph by id. Raises DatabaseError."""
    rows = await db.read(queries.get("documents/read_documents"), graph=graph)
    return {row["id"]: _make_document(row) for row in rows}


def _make_document(row: Row) -> StoredDocument:
    lists = {name: tuple(row[name] or ()) for name in ("told", "roots", "unread")}
    return StoredDocument(**{**row, **lists, "chunks_unproven": row["chunks_unproven"] or 0})


async def read_chunks(
    db: Database, graph: str, documents: Iterable[str]
) -> dict[str, list[StoredChunk]]:
    """Return the chunks of some documents in order, by document. Raises DatabaseError."""
    wanted = [*documents]
    chunks: dict[str, list[StoredChunk]] = {document: [] for document in wanted}
    if wanted:
        query = queries.get("documents/read_chunks")
        for row in await db.read(query, graph=graph, documents=wanted):
            chunks[row["document"]].append(StoredChunk(**row))
    return chunks


async def read_chunk_ids(db: Database, graph: str, documents: Sequence[str]) -> list[str]:
    """Return the ids of the chunks of some documents, in order. Raises DatabaseError."""
    query = queries.get("documents/read_chunk_ids")
    return [row["id"] for row in await db.read(query, graph=graph, documents=[*documents])]


async def read_some_chunks(db: Database, graph: str, ids: Sequence[str]) -> list[StoredChunk]:
    """Return the chunks with the given ids; missing chunks are left out. Raises DatabaseError."""
    query = queries.get("documents/read_some_chunks")
    return [StoredChunk(**row) for row in await db.read(query, graph=graph, ids=[*ids])]


@dataclass(frozen=True, slots=True)
class CalledEntities:
    """The names of some entities; ``entities`` maps each name and type to its entity."""

    names: NameTallies
    entities: Mapping[Named, Named]


async def read_names(
    db: Database, graph: str, entities: Iterable[Named], gone: Iterable[str]
) -> CalledEntities:
    """Return the names of some entities, and count their mentions except in the ``gone`` chunks.

    Raises DatabaseError.
    """
    names = NameTallies()
    owners: dict[Named, Named] = {}
    ids = sorted(map(entity_id, entities))
    query = queries.get("documents/read_names")
    given = {"graph": graph, "entities": ids, "gone": [*gone], "most": MOST_FRAGMENTS}
    for row in await db.read(query, **given) if ids else ():
        for one in row["names"]:
            named = normalize_name(one["name"]), one["type"]
            owners[named] = row["entity_key"], row["entity_type"]
            if one["count"]:
                tally = names.of(named)
                tally.names[one["name"]] += one["count"]
                tally.count += one["count"]
                tally.sure += one["count"] if one["sure"] else 0
                tally.shorts.update({one["short"]: one["count"]} if one["short"] else {})
        for one in row["fragments"]:
            named = normalize_name(one["name"]), one["type"]
            names.of(named).add_fragments(one["texts"])
    return CalledEntities(names, owners)


async def read_mentioning(
    db: Database, graph: str, mentions: Mapping[Named, tuple[Named, Iterable[str]]]
) -> AsyncIterator[dict[str, Contribution]]:
    """Yield pages of the contributions of all chunks that mention some names, by chunk id.

    ``mentions`` maps each name to its entity and its spellings. Raises DatabaseError.
    """
    rows = [
        {"entity": entity_id(entity), "type": kind, "names": sorted(spellings)}
        for (_, kind), (entity, spellings) in sorted(mentions.items())
    ]
    query = queries.get("documents/read_mentioning_chunks")
    async for some in _read_pages(db, query, graph=graph, rows=rows):
        yield some


async def read_relations(
    db: Database,
    graph: str,
    places: Sequence[RelationPlace],
    former: Mapping[Named, Named] = NOTHING,
) -> dict[RelationPlace, RelationTally]:
    """Return the tallies of those relations in ``places`` that the graph contains.

    ``former`` maps a renamed end to its stored name. Raises DatabaseError.
    """
    rows = [
        {
            "place": at,
            **relation_ends((former.get(source, source), kind, former.get(target, target))),
        }
        for at, (source, kind, target) in enumerate(places)
    ]
    query = queries.get("documents/read_relations")
    found: dict[RelationPlace, RelationTally] = {}
    for row in await db.read(query, graph=graph, rows=rows) if rows else ():
        source, kind, target = place = places[row["place"]]
        best = Statement(
            source=source,
            target=target,
            type=kind,
            fact=row["fact"],
            keywords=tuple(row["keywords"]),
            weight=round(row["fact_weight"] * WEIGHT_UNIT),
        )
        steps = round(row["weight"] * WEIGHT_UNIT)
        found[place] = RelationTally(row["mentions"], steps, best, keep_lowest(row["chunks"]))
    return found


async def read_shared(
    db: Database,
    graph: str,
    places: Iterable[RelationPlace],
    gone: Iterable[str],
    former: Mapping[Named, Named] = NOTHING,
) -> AsyncIterator[dict[str, Contribution]]:
    """Yield pages of the contributions of chunks that mention both ends of a relation, by chunk id.

    The relations are in ``places``. Chunks in ``gone`` are left out. ``former`` maps a renamed end
    to its stored name. Raises DatabaseError.
    """
    ends = sorted(
        {
            (entity_id(former.get(source, source)), entity_id(former.get(target, target)))
            for source, _, target in places
        }
    )
    rows = [{"source": source, "target": target} for source, target in ends]
    query = queries.get("documents/read_shared_chunks")
    async for some in _read_pages(db, query, graph=graph, rows=rows, gone=[*gone]):
        yield some


async def _read_pages(
    db: Database, query: Query, rows: Sequence[Row], **params: object
) -> AsyncIterator[dict[str, Contribution]]:
    """Yield pages of contributions by chunk id, in the order of ids."""
    after, full = "", bool(rows)
    while full:
        read = await db.read(query, **params, rows=rows, after=after, limit=READ_CHUNKS)
        yield _make_contributions(read)
        full = len(read) == READ_CHUNKS
        after = read[-1]["id"] if full else ""


def _make_contributions(rows: Iterable[Row]) -> dict[str, Contribution]:
    return {
        row["id"]: contribution_of(
            row["id"], EXTRACTION.validate_json(row["extraction"]), sure=row["sure"]
        )
        for row in rows
    }


def bound_unread(unread: Sequence[str]) -> tuple[str, ...]:
    """Return the unread parts of a document in the shortened form that the graph stores."""
    kept = [one_line(part, LONGEST_PART) for part in unread[:MOST_PARTS]]
    more = len(unread) - len(kept)
    return (*kept, *([f"and {more:,} more"] if more else []))


async def warn_of_unread(db: Database, graph: str | None, mapping: GraphMapping) -> str:
    """Return a warning that names partially read documents, empty if there are none.

    Unread parts support no answer. Only a graph of documents can have them. Raises DatabaseError.
    """
    if not graph or not mapping.chunk_labels:
        return ""
    query = queries.get("documents/read_unread_documents")
    rows = await db.read(query, graph=graph, most=MOST_NAMED)
    if not rows or not rows[0]["total"]:
        return ""
    total, documents = rows[0]["total"], rows[0]["documents"]
    named = [
        f"{one_line(name, LONGEST_NAME)} ({one_line('; '.join(unread), LONGEST_PART)})"
        for name, unread in ((one["name"], one["unread"]) for one in documents)
    ]
    if total > len(documents):
        named.append(f"and {total - len(documents):,} more")
    are = "was" if total == 1 else "were"
    return (
        f"{counted(total, 'document')} of this graph {are} read only in part, so answers do not "
        f"use the rest: {', '.join(named)}"
    )
