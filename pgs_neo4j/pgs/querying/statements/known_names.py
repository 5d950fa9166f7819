"""Leaves the wrong names of a statement that the database itself does not have.

A schema is read from samples, and a minute may pass before it is read again. So a name that it
lacks is looked for in the database before a statement is refused for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import fill_names
from pgs_neo4j.errors import DatabaseTimeoutError
from pgs_neo4j.pgs.querying.statements.unknown_names import UnknownName

LOOK_S = 2.0
"""Seconds to look for a name. After them, the name counts as known."""


async def leave_unknown(db: Database, names: Sequence[UnknownName]) -> tuple[UnknownName, ...]:
    """Return the names that the database does not have either, in their order.

    Raises DatabaseError.
    """
    limited = replace(db, timeout_s=min(db.timeout_s, LOOK_S))
    return tuple([name for name in names if not await _exists(limited, name)])


async def _exists(db: Database, unknown: UnknownName) -> bool:
    try:
        match unknown.fault:
            case "label":
                return await _has_node(db, unknown.names[0])
            case "type":
                return await _has_relationship(db, unknown.names[0])
            case "property":
                return await _has_property(db, unknown)
            case _:
                return await _connects(db, unknown)
    except DatabaseTimeoutError:
        return True


async def _has_property(db: Database, unknown: UnknownName) -> bool:
    name = unknown.names[0]
    for owner in unknown.owners:
        if unknown.owner_kind == "node":
            found = await _has_node(db, owner, name)
        else:
            found = await _has_relationship(db, owner, name)
        if found:
            return True
    return False


async def _connects(db: Database, unknown: UnknownName) -> bool:
    for name in unknown.names:
        if await _has_relationship(db, name, "", unknown.owners, unknown.targets):
            return True
    return False


async def _has_node(db: Database, label: str, property_name: str = "") -> bool:
    query = fill_names(queries.get("pgs/querying/statements/has_node"), label=[label])
    return bool(await db.read(query, property=property_name))


async def _has_relationship(
    db: Database,
    kind: str,
    property_name: str = "",
    sources: Sequence[str] = (),
    targets: Sequence[str] = (),
) -> bool:
    query = fill_names(queries.get("pgs/querying/statements/has_relationship"), type=[kind])
    ends = {"sources": list(sources), "targets": list(targets)}
    return bool(await db.read(query, property=property_name, **ends))
