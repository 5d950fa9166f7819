"""Small random documents, and the graph that stands in the database, for tests of ingestion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.ingest.fold.contribution import Contribution, contribution_of
from pgs_neo4j.ingest.fold.folding import FoldedGraph, fold
from pgs_neo4j.ingest.publish import NewChunk, NewDocument
from pgs_neo4j.model.documents import (
    Chunk,
    GroundedEntity,
    GroundedExtraction,
    GroundedRelation,
    Sentence,
)

NAMES = ("Paris", "PARIS", "the Seine", "Seine", "Marie Curie", "Radium")
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
TYPES = ("Person", "Location", "Concept")
RELATIONS = ("LIES_ON", "FOUND")
FACTS = ("It was so.", "It was said.", "They say so.")


def random_extraction(random: Random) -> GroundedExtraction:
    """Entities and relations of few names, types, and facts, so that many coincide."""
    entities = [
        GroundedEntity(
            name=name,
            # One type is common, so that others are strays.
            type=random.choice((*TYPES, "Location", "Location", "Location")),
            description=random.choice(("", f"{name} is known.", f"{name} is old.")),
            spans=random.choice(((), ((0, len(name)),))),
            sentences=(1,),
        )
        for name in random.sample(NAMES, random.randint(0, 4))
    ]
    relations = [
        GroundedRelation(
            source=source.name,
            source_type=source.type,
            target=target.name,
            target_type=target.type,
            type=random.choice(RELATIONS),
            fact=random.choice(FACTS),
            keywords=(random.choice(("a", "b")),),
            weight=random.choice((0.1, 0.5, 1.0)),
        )
        for source, target in (
            (random.choice(entities), random.choice(entities))
            for _ in range(random.randint(0, 3) if entities else 0)
        )
    ]
    return GroundedExtraction(tuple(entities), tuple(relations))


def new_document(name: str, extractions: Mapping[str, GroundedExtraction]) -> NewDocument:
    """A document whose chunks have these texts and extractions."""
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
        },
        chunks=chunks,
    )


def contributions(document: NewDocument) -> list[Contribution]:
    """What the chunks of a document add."""
    return [contribution_of(new.id, new.extraction, sure=new.sure) for new in document.chunks]


def expected(documents: Iterable[NewDocument]) -> FoldedGraph:
    """The graph of these documents, made at once."""
    return fold(one for document in documents for one in contributions(document))


async def stored_graph(db: Database, graph: str) -> dict[str, Any]:
    """Everything of a graph of documents, but for the ids that the database gives."""
    _, nodes = await db.call(NODES, {"graph": graph}, "read")
    _, links = await db.call(LINKS, {"graph": graph}, "read")
    return {"nodes": nodes, "links": links}
