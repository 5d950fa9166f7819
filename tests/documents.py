"""Small random documents, and reading the graph that they make, for tests of ingestion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.fold.contribution import Contribution, Named, contribution_of
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.fold.resolution import Resolution, Resolver, VariantResolver, resolve
from pgs_neo4j.documents.fold.rulings import (
    Judgment,
    Ruled,
    merge_names,
    part_name,
    take_back_merge,
)
from pgs_neo4j.documents.names.index import IndexedName, name_row
from pgs_neo4j.documents.names.renewal import hold_with_resolved_names
from pgs_neo4j.documents.publish.publication import NewChunk, NewDocument, assemble, publish
from pgs_neo4j.documents.stored import read_chunks
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import (
    Chunk,
    DefinedName,
    GroundedEntity,
    GroundedExtraction,
    GroundedRelation,
    Sentence,
)
from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.name_variants import PresentName

NAMES = (
    *("Paris", "PARIS", "the Seine", "Seine", "Radium"),
    *("Marie Curie", "M. Curie", "Mark Curie", "Curie, Marie"),
    *("NATO", "North Atlantic Treaty Organization", "North Atlantic Treaty Orgnization"),
    *("OTAN", "RaD"),
)
DEFINED = {
    "Radium": ("RaD",),
    "Paris": ("RaD",),
    "North Atlantic Treaty Organization": ("NATO", "OTAN"),
    "North Atlantic Treaty Orgnization": ("OTAN",),
    "Marie Curie": ("MC",),
}
"""Abbreviations that some chunks define."""
NODES = """
MATCH (n:LoadedNode {graph: $graph})
WITH n, labels(n) AS labels UNWIND labels AS label WITH n, label ORDER BY label
RETURN n.id AS id, collect(label) AS labels, properties(n) AS properties ORDER BY id
"""
LINKS = """
MATCH (a:LoadedNode {graph: $graph})-[r]->(b)
RETURN a.id AS source, type(r) AS type, b.id AS target, properties(r) AS properties
ORDER BY source, type, target, r.rel_type, r.type, r.name
"""
STORED_NAMES = """
MATCH (n:PgsName {graph: $graph})
RETURN properties(n) AS properties ORDER BY n.key, n.type
"""
TYPES = ("Person", "Location", "Concept")
RELATIONS = ("LIES_ON", "FOUND")
FACTS = ("It was so.", "It was said.", "They say so.")


class ApartResolver(VariantResolver):
    """Unites no names, so that each name is its own entity."""

    @property
    def signature(self) -> str:
        return "apart"

    def variant_kind(self, one: PresentName, other: PresentName) -> str | None:
        return None


def common_type(name: str) -> str:
    """Return the type that most chunks give a name."""
    return "Person" if "Curie" in name else "Location"


def relation_of(source: GroundedEntity, target: GroundedEntity, **given: Any) -> GroundedRelation:
    """A relation between two entities."""
    ends: dict[str, Any] = {
        "source": source.name, "source_type": source.type,
        "target": target.name, "target_type": target.type,
    }  # fmt: skip
    return GroundedRelation(**ends | {"type": "R", "fact": ""} | given)


def random_extraction(random: Random) -> GroundedExtraction:
    """Return entities and relations with few names, types, and facts, so that many coincide."""
    entities = [
        GroundedEntity(
            name=name,
            # One type is common, so that other types of a name are exceptions.
            type=random.choice((*TYPES, *[common_type(name)] * 3)),
            description=random.choice(("", f"{name} is known.", f"{name} is old.")),
            spans=random.choice(((), ((0, len(name)),))),
            sentences=(1,),
        )
        for name in random.sample(NAMES, random.randint(0, 4))
    ]
    relations = [
        relation_of(
            random.choice(entities),
            random.choice(entities),
            type=random.choice(RELATIONS),
            fact=random.choice(FACTS),
            keywords=(random.choice(("a", "b")),),
            weight=random.choice((0.1, 0.5, 1.0)),
        )
        for _ in range(random.randint(0, 3) if entities else 0)
    ]
    definitions = tuple(
        DefinedName(name=one.name, type=one.type, short=random.choice(DEFINED[one.name]))
        for one in entities
        if one.name in DEFINED and random.random() < 0.5
    )
    return GroundedExtraction(tuple(entities), tuple(relations), definitions=definitions)


def random_rulings(random: Random, ruled: Ruled) -> Ruled:
    """Add a random ruling to some rulings, or take one back; its names may be absent."""
    one, other = (
        (normalize_name(name), random.choice((*TYPES, common_type(name))))
        for name in random.choices(NAMES, k=2)
    )
    if ruled and random.random() < 0.3:
        return take_back_merge(ruled, random.choice(sorted(ruled)))
    return part_name(ruled, one) if random.random() < 0.4 else merge_names(ruled, one, other)


def random_judgments(random: Random) -> list[Judgment]:
    """Return a model's judgments on some pairs of names, which may be absent."""
    pairs = (sorted(map(normalize_name, random.sample(NAMES, 2))) for _ in range(4))
    return [
        Judgment((one, kind), (other, kind), same=random.random() < 0.7)
        for one, other in pairs
        for kind in (random.choice((*TYPES, "Person")),)
        if one != other
    ]


def new_document(name: str, extractions: Mapping[str, GroundedExtraction]) -> NewDocument:
    """Return a document whose chunks have these texts and extractions."""
    chunks = [
        NewChunk(
            id=f"{name}#{text}",
            chunk=Chunk(
                index=place,
                start=place,
                end=place + 1,
                text=text,
                hash=digest(text),
                sentences=(Sentence(0, len(text)),),
            ),
            extraction=extraction,
            extraction_key=digest([text]),
            sure=int(digest([text]), 16) % 2 == 0,
        )
        for place, (text, extraction) in enumerate(extractions.items())
    ]
    return NewDocument(
        id=name,
        properties={
            "name": name,
            "hash": digest([*extractions]),
            "rules": "r1",
            "signature": "s1",
            "chunks": len(chunks),
            "size": len(chunks),
            "label": "Docs",
            "schema": "",
            "told": [],
            "unread": [],
            "chunks_unproven": None,
            "source": name,
            "roots": [],
        },
        chunks=chunks,
    )


def sure(document: NewDocument) -> NewDocument:
    """Return the document with all of its extractions made by a model."""
    return replace(document, chunks=[replace(chunk, sure=True) for chunk in document.chunks])


async def write_documents(
    db: Database,
    *documents: NewDocument,
    gone: str = "",
    graph: str = "docs",
    times: int = 1,
    resolver: Resolver | None = None,
) -> None:
    """Publish documents, and delete one.

    This is done ``times`` times, as the driver may if no acknowledgment comes.
    """
    ids = [*(document.id for document in documents), *filter(None, [gone])]
    stored = await read_chunks(db, graph, ids)
    async with hold_with_resolved_names(db, graph, "Docs", resolver=resolver) as held:
        what = await assemble(db, graph, documents, stored, held.resolution)
        for _ in range(times):
            await publish(db, held, what)


def contributions(document: NewDocument) -> list[Contribution]:
    """Return what the chunks of a document contribute."""
    return [contribution_of(new.id, new.extraction, sure=new.sure) for new in document.chunks]


def names_of(
    contributions: Iterable[Contribution], resolution: Resolution
) -> dict[Named, IndexedName]:
    """Return the names that some chunks have, each with its entity."""
    names = NameTallies().with_contributions(contributions)
    present = names.present(names.types(resolution.pinned))
    entities = resolve(present.values(), resolution)
    return {named: IndexedName(name, entities[named]) for named, name in present.items()}


async def stored_graph(db: Database, graph: str) -> dict[str, Any]:
    """Return a stored graph of documents without its times and the ids of the database."""
    _, nodes = await db.call(NODES, {"graph": graph}, "read")
    for node in nodes:
        node["properties"].pop("ingested_at", None)
    _, links = await db.call(LINKS, {"graph": graph}, "read")
    return {"nodes": nodes, "links": links}


async def stored_names(db: Database, graph: str) -> list[dict[str, Any]]:
    """Return the index of the names of a graph, by key and type."""
    _, rows = await db.call(STORED_NAMES, {"graph": graph}, "read")
    return [row["properties"] for row in rows]


async def standing(db: Database) -> dict[str, Any]:
    """Return the stored graph of documents, and the index of its names."""
    return {**await stored_graph(db, "docs"), "names": await stored_names(db, "docs")}


def name_rows(
    documents: Iterable[NewDocument], graph: str, resolution: Resolution | None = None
) -> list[dict[str, Any]]:
    """Return the rows of the name index for these documents, as made in one go."""
    resolution = resolution or Resolution()
    every = (one for document in documents for one in contributions(document))
    rows = [name_row(one, resolution.resolver) for one in names_of(every, resolution).values()]
    stored = [
        {"graph": graph} | {key: row[key] for key in row if row[key] is not None} for row in rows
    ]
    return sorted(stored, key=lambda row: (row["key"], row["type"]))
