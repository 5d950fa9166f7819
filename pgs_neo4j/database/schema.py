"""Creates the schema of the package, and detects whether data changed."""

from __future__ import annotations

from pgs_neo4j.database import names, queries
from pgs_neo4j.database.connection import Database

SCHEMA_VERSION = 10
TOKEN_ATTEMPTS = 5


async def ensure_schema(db: Database) -> None:
    """Create missing constraints and names, and migrate data of older releases.

    If the database is up to date, this costs one quick read.
    """
    rows = await db.read(queries.get("database/read_version"))
    if rows and rows[0]["version"] == SCHEMA_VERSION:
        return
    for name in queries.names():
        if name.startswith(("database/constraint_", "database/index_")):
            await db.write(queries.get(name))
    await db.write(
        queries.get("database/create_names"),
        labels=list(names.LABELS),
        types=list(names.TYPES),
        properties=list(names.PROPERTIES),
    )
    if rows and rows[0]["version"] < 2:
        await db.write(queries.get("database/migrate_1_to_2"))
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
