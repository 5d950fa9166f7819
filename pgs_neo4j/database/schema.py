"""Creates the schema of the package, and detects whether data changed."""

from __future__ import annotations

from pgs_neo4j.database import names, queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import DatabaseVersionError

SCHEMA_VERSION = 1  # the first that needs a migration of what is stored is 2
TOKEN_ATTEMPTS = 5


async def ensure_schema(db: Database) -> None:
    """Create missing constraints and names.

    If the database is up to date, this costs one quick read. Raises DatabaseVersionError if a later
    release of this package has written to it.
    """
    rows = await db.read(queries.get("database/read_version"))
    stored = rows[0]["version"] if rows else 0
    if stored == SCHEMA_VERSION:
        return
    if stored > SCHEMA_VERSION:
        raise DatabaseVersionError(
            f"the database has schema version {stored} of pgs-neo4j, and this release knows only "
            f"{SCHEMA_VERSION}; upgrade pgs-neo4j, or use another database"
        )
    for name in queries.names():
        if name.startswith(("database/constraint_", "database/index_")):
            await db.write(queries.get(name))
    await db.write(
        queries.get("database/create_names"),
        labels=list(names.LABELS),
        types=list(names.TYPES),
        properties=list(names.PROPERTIES),
    )
    await db.write(queries.get("database/merge_meta"), version=SCHEMA_VERSION)


async def read_change_token(db: Database) -> str | None:
    """Return a token that stays the same until another program commits; O(1).

    It is the number of the last transaction minus the commits that ``Database.write`` counted.
    None when other transactions keep committing, or when the form of the bookmarks is unknown.
    """
    for _ in range(TOKEN_ATTEMPTS):
        before = await db.read_position()
        rows = await db.read(queries.get("database/read_commits"))
        if before is None or not rows:
            return None
        # The count belongs to a position only if the position did not move while it was read.
        if await db.read_position() == before:
            return f"{before.store}:{before.transaction - rows[0]['commits']}"
    return None
