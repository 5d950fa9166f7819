"""Refuses servers that are too old, or that no longer speak the Cypher of this package."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TYPE_CHECKING

from pgs_neo4j.database import queries
from pgs_neo4j.errors import DatabaseVersionError

if TYPE_CHECKING:
    from pgs_neo4j.database.connection import Database

MINIMUM_VERSION = (5, 26)


async def read_server(db: Database) -> tuple[str, str, tuple[str, ...]]:
    """Return the server's version, edition, and languages. Raises DatabaseVersionError."""
    row = (await db.read(queries.get("database/read_components")))[0]
    version, languages = str(row["version"]), tuple(row["languages"]) or db.languages
    check_version(db.uri, version, languages)
    return version, str(row["edition"]), languages


def parse_version(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: ``5.26.30`` gives (5, 26, 30)."""
    return tuple(int(number) for number in re.findall(r"\d+", text.split("-")[0])[:3])


def check_version(uri: str, version: str, languages: Container[str]) -> None:
    """Raise DatabaseVersionError unless a server can be used."""
    if parse_version(version) < MINIMUM_VERSION:
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise DatabaseVersionError(f"Neo4j at {uri} is {version}; upgrade it to {wanted} or newer")
    if queries.PREFERRED not in languages:
        raise DatabaseVersionError(
            f"Neo4j at {uri} is {version}, which no longer speaks Cypher {queries.PREFERRED}; "
            "upgrade pgs-neo4j, or use an earlier release of Neo4j"
        )
