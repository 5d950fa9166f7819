"""Finds the entity that someone means: by id, by a name, or by a type and a name."""

from __future__ import annotations

from collections.abc import Iterator

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.rows import entity_id
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.extraction.names import normalize_name

PREFIX = "entity"


async def find_entity(db: Database, graph: str, wanted: str) -> Named:
    """Return the entity that has a name, or that is meant by ``Type:Name`` or an id.

    An id means its entity, though a name of another one may have the same key and type. Raises
    UsageError unless exactly one is meant, and DatabaseError.
    """
    meant = [*readings(wanted)]
    query = queries.get("documents/entities/find")
    rows = await db.read(query, graph=graph, keys=sorted({key for key, _ in meant}))
    named = {(row["entity_key"], row["entity_type"]) for row in rows}
    for entity in named:
        if entity_id(entity) == wanted:
            return entity
    for key, kind in meant:
        entities = sorted(
            {
                (row["entity_key"], row["entity_type"])
                for row in rows
                if row["key"] == key
                and kind in (None, row["type"].lower(), row["entity_type"].lower())
            }
        )
        if len(entities) == 1:
            return entities[0]
        if entities:
            listed = ", ".join(map(entity_id, entities))
            raise UsageError(f"{wanted!r} matches several entities: {listed}; give the id of one")
    raise UsageError(
        f"graph {graph} has no entity {wanted!r}; 'pgs entities list --graph {graph} --text TEXT' "
        "finds entities"
    )


def readings(wanted: str) -> Iterator[tuple[str, str | None]]:
    """Yield the keys and types that a wanted entity or name may mean, the likeliest first."""
    yield normalize_name(wanted), None
    kind, parted, name = wanted.removeprefix(f"{PREFIX}:").partition(":")
    if parted:
        yield name, kind.strip().lower()
        yield normalize_name(name), kind.strip().lower()
