"""Checks each stage from the address to an open connection."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from pydantic import SecretStr

from pgs_neo4j.database import connection
from pgs_neo4j.database.connection import Database
from pgs_neo4j.doctor.check import Check, skip_checks
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
    "connection": "start the server; check the host, the port, and TLS "
    "(bolt+s:// or neo4j+s:// if the server requires it)",
    "credentials": "set PGS_NEO4J_USER and PGS_NEO4J_PASSWORD to valid credentials; the initial "
    "password must be changed once (ALTER CURRENT USER SET PASSWORD)",
    "database": "set PGS_NEO4J_DATABASE to a database that is online, or unset it",
    "Neo4j version": "upgrade the server to Neo4j 5.26 or newer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAccess:
    """The server to examine; without a database, the user's home database."""

    uri: str
    user: str = "neo4j"
    password: SecretStr | None = field(default=None, repr=False)
    database: str | None = None


async def connect_in_stages(
    stack: AsyncExitStack, access: ServerAccess, timeout_s: float
) -> tuple[Database | None, tuple[Check, ...]]:
    """Connect until ``stack`` closes; None if a stage failed."""
    password = access.password.get_secret_value() if access.password is not None else None
    opening = connection.connect(
        access.uri, access.user, password, access.database, timeout_s, CONNECT_TIMEOUT_S
    )
    try:
        opened = await stack.enter_async_context(opening)
    except (ConfigError, DatabaseError) as error:
        return None, _failed_at(_failed_stage(error), access, str(error))
    version = f"Neo4j {opened.version}, {opened.edition} edition"
    return opened, (*_passed(STAGES[:-1], access), Check(STAGES[-1], "ok", version))


def _failed_stage(error: ConfigError | DatabaseError) -> str:
    if isinstance(error, ConfigError):
        return "address"
    if isinstance(error, DatabaseUnavailableError | DatabaseTimeoutError):
        return "connection"
    if isinstance(error, DatabaseAuthError):
        return "credentials"
    return "Neo4j version" if isinstance(error, DatabaseVersionError) else "database"


def _failed_at(stage: str, access: ServerAccess, detail: str) -> tuple[Check, ...]:
    place = STAGES.index(stage)
    return (
        *_passed(STAGES[:place], access),
        Check(stage, "failed", detail, FIXES[stage]),
        *skip_checks(STAGES[place + 1 :], f"{stage} failed"),
    )


def _passed(stages: tuple[str, ...], access: ServerAccess) -> tuple[Check, ...]:
    details = {
        "address": access.uri,
        "connection": "the server answers",
        "credentials": f"user {access.user} is accepted"
        if access.password is not None
        else "the server requires no credentials",
        "database": access.database or "the user's home database",
    }
    return tuple(Check(stage, "ok", details[stage]) for stage in stages)
