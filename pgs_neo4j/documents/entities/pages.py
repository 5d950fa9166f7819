"""Reads the entities of a graph, and everything about one."""

from __future__ import annotations

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.entities.finding import find_entity
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.fold.joining import Joined, explain_names
from pgs_neo4j.documents.fold.judgments import mates_of
from pgs_neo4j.documents.fold.resolution import VariantResolver
from pgs_neo4j.documents.fold.rows import entity_id
from pgs_neo4j.documents.names.called import read_called
from pgs_neo4j.documents.names.renewal import read_judgments, read_rulings
from pgs_neo4j.model.entities import (
    EntityChunk,
    EntityInfo,
    EntityName,
    EntityPage,
    EntityRelation,
)
from pgs_neo4j.text.extraction.names import normalize_name

SHOWN = 50
"""Chunks and relations of a page, of each the first."""


async def list_entities(
    db: Database, graph: str, text: str = "", kind: str = "", limit: int = 100
) -> list[EntityInfo]:
    """Return entities, those with the most mentions first. Raises DatabaseError.

    ``text`` is part of one of their names, and ``kind`` their type; both in any case.
    """
    rows = await db.read(
        queries.get("documents/entities/list"),
        graph=graph,
        text=text.strip().lower(),
        key=normalize_name(text),
        type=kind.strip().lower(),
        limit=limit,
    )
    return [EntityInfo(**row) for row in rows]


async def read_entity(db: Database, graph: str, wanted: str) -> EntityPage:
    """Return an entity with its names, chunks, and relations.

    Raises UsageError if it is not there, and DatabaseError.
    """
    entity = await find_entity(db, graph, wanted)
    id_ = entity_id(entity)
    (row,) = await db.read(queries.get("documents/entities/read"), graph=graph, id=id_)
    counts = {"chunk_count": row.pop("chunks"), "relation_count": row.pop("relations")}
    given = {"graph": graph, "id": id_, "limit": SHOWN}
    chunks = await db.read(queries.get("documents/entities/read_mentions"), **given)
    relations = await db.read(queries.get("documents/entities/read_relations"), **given)
    return EntityPage(
        entity=EntityInfo(**row),
        names=await _names(db, graph, entity),
        chunks=tuple(EntityChunk(**one | {"path": tuple(one["path"])}) for one in chunks),
        relations=tuple(EntityRelation(**one) for one in relations),
        **counts,
    )


async def _names(db: Database, graph: str, entity: Named) -> tuple[EntityName, ...]:
    ruled = await read_rulings(db, graph)
    names = (await read_called(db, graph, [entity], (), ())).names
    judged = mates_of(await read_judgments(db, graph))
    joined = explain_names(names, entity, ruled, VariantResolver(), judged)
    rows = [_name(names, named, one) for named, one in joined.items()]
    return tuple(sorted(rows, key=lambda row: (row.id != entity_id(entity), -row.mentions, row.id)))


def _name(names: NameTallies, named: Named, joined: Joined) -> EntityName:
    key, kind = named
    tally = names.by_key[key][kind]
    return EntityName(
        id=entity_id(named),
        spellings=tuple(sorted(tally.names, key=lambda name: (-tally.names[name], name))),
        mentions=tally.count,
        joined=joined.how,
        to="" if joined.to == named else entity_id(joined.to),
    )
