"""From the address to an open connection, one check per stage on the way."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from pydantic import SecretStr

from pgs_neo4j.database import connection
from pgs_neo4j.database.connection import Database
from pgs_neo4j.doctor.check import Check, skipped
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseAuthError,
    DatabaseError,
    DatabaseTimeoutError,
    DatabaseUnavailableError,
    DatabaseVersionError,
)

STAGES = ("address", "connection", "credentials", "database", "Neo4j version")
CONNECT_TIMEOUT_S = 5.0
FIXES = {
    "address": "set PGS_NEO4J_URI to an address such as bolt://localhost:7687",
    "connection": "start the server, and check the host, the port, and whether it asks for TLS "
    "(then bolt+s:// or neo4j+s://)",
    "credentials": "set PGS_NEO4J_USER and PGS_NEO4J_PASSWORD to what the server knows; a "
    "password of a first start has to be changed once (ALTER CURRENT USER SET PASSWORD)",
    "database": "set PGS_NEO4J_DATABASE to a database that is online, or leave it unset",
    "Neo4j version": "upgrade the server to Neo4j 5.26 or newer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The server to examine; no database means the user's home database."""

    uri: str
    user: str = "neo4j"
    password: SecretStr | None = field(default=None, repr=False)
    database: str | None = None


async def reach(
    stack: AsyncExitStack, target: Target, timeout_s: float
) -> tuple[Database | None, tuple[Check, ...]]:
    """Connect, and close with ``stack``; None with the stage that failed."""
    password = target.password.get_secret_value() if target.password is not None else None
    opening = connection.connect(
        target.uri, target.user, password, target.database, timeout_s, CONNECT_TIMEOUT_S
    )
    try:
        opened = await stack.enter_async_context(opening)
    except (ConfigError, DatabaseError) as error:
        return None, _failed_at(_stage(error), target, str(error))
    version = f"Neo4j {opened.version}, {opened.edition} edition"
    return opened, (*_passed(STAGES[:-1], target), Check(STAGES[-1], "ok", version))


def _stage(error: ConfigError | DatabaseError) -> str:
    if isinstance(error, ConfigError):
        return "address"
    if isinstance(error, DatabaseUnavailableError | DatabaseTimeoutError):
        return "connection"
    if isinstance(error, DatabaseAuthError):
        return "credentials"
    return "Neo4j version" if isinstance(error, DatabaseVersionError) else "database"


def _failed_at(stage: str, target: Target, detail: str) -> tuple[Check, ...]:
    place = STAGES.index(stage)
    return (
        *_passed(STAGES[:place], target),
        Check(stage, "failed", detail, FIXES[stage]),
        *skipped(STAGES[place + 1 :], f"{stage} failed"),
    )


def _passed(stages: tuple[str, ...], target: Target) -> tuple[Check, ...]:
    details = {
        "address": target.uri,
        "connection": "the server answers",
        "credentials": f"user {target.user} is accepted"
        if target.password is not None
        else "the server asks for none",
        "database": target.database or "the user's home database",
    }
    return tuple(Check(stage, "ok", details[stage]) for stage in stages)
