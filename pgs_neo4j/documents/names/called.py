"""Reads what entities are called: from their nodes where that holds, else from their mentions."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.documents.fold.called import load_called
from pgs_neo4j.documents.fold.contribution import Named
from pgs_neo4j.documents.fold.folding import NameTallies
from pgs_neo4j.documents.fold.rows import entity_id
from pgs_neo4j.documents.stored import CalledEntities, read_names


async def read_called(
    db: Database,
    graph: str,
    entities: Iterable[Named],
    gone: Collection[str],
    losing: Container[Named],
) -> CalledEntities:
    """Return what ``read_names`` would, without reading mentions that stay.

    Those of entities that are ``losing`` some are counted again, and those of nodes which keep
    nothing, or not what they have, as after a change of the graph by hand. Raises DatabaseError.
    """
    wanted = sorted({*entities})
    names = NameTallies()
    owners: dict[Named, Named] = {}
    ids = [entity_id(entity) for entity in wanted if entity not in losing]
    query = queries.get("documents/names/read_called")
    rows = await db.read(query, graph=graph, entities=ids) if ids else []
    for row in (entity for whole in rows for entity in whole["entities"]):
        entity = row["entity_key"], row["entity_type"]
        tallies = load_called(row["called"] or "", row["mentions"])
        for named, tally in (tallies or {}).items():
            owners[named] = entity
            names.of(named).merge(tally)
    held = {*owners.values()}
    counted = await read_names(db, graph, (one for one in wanted if one not in held), gone)
    names.merge(counted.names)
    return CalledEntities(names, owners | {**counted.entities})
