"""Checks each stage from the address to an open connection."""

from __future__ import annotations

from contextlib import AsyncExitStack

from pgs_neo4j.config import ServerAccess, masked_address
from pgs_neo4j.database import connection
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.doctor.check import Check, skip_checks
from pgs_neo4j.errors import (
    ConfigError,
    DatabaseAuthError,
    DatabaseCertificateError,
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
    "certificate": "set PGS_NEO4J_CA to the file of its CA certificate, as your administrator or "
    "cloud provides it; bolt+ssc:// or neo4j+ssc:// would trust any certificate",
    "credentials": "set PGS_NEO4J_USER and PGS_NEO4J_PASSWORD to valid credentials; the initial "
    "password must be changed once (ALTER CURRENT USER SET PASSWORD)",
    "database": "set PGS_NEO4J_DATABASE to a database that is online, or unset it",
    "Neo4j version": "upgrade the server to Neo4j 5.26 or newer",
}


async def connect_in_stages(
    stack: AsyncExitStack, access: ServerAccess, timeout_s: float
) -> tuple[Database | None, tuple[Check, ...]]:
    """Connect until ``stack`` closes; None if a stage failed."""
    password = access.password.get_secret_value() if access.password is not None else None
    opening = connection.connect(
        access.uri,
        access.user,
        password,
        access.database,
        timeout_s,
        CONNECT_TIMEOUT_S,
        ca=access.ca,
    )
    try:
        opened = await stack.enter_async_context(opening)
    except (ConfigError, DatabaseError) as error:
        stage = _failed_stage(error)
        fix = "certificate" if isinstance(error, DatabaseCertificateError) else stage
        return None, _failed_at(stage, access, str(error), FIXES[fix])
    languages = f"Cypher {' and '.join(opened.languages)}"
    version = f"Neo4j {opened.version}, {opened.edition} edition, {languages}"
    return opened, (*_passed(STAGES[:-1], access), Check(STAGES[-1], "ok", version))


def _failed_stage(error: ConfigError | DatabaseError) -> str:
    if isinstance(error, ConfigError):
        return "address"
    if isinstance(error, DatabaseUnavailableError | DatabaseTimeoutError):
        return "connection"
    if isinstance(error, DatabaseAuthError):
        return "credentials"
    return "Neo4j version" if isinstance(error, DatabaseVersionError) else "database"


def _failed_at(stage: str, access: ServerAccess, detail: str, fix: str) -> tuple[Check, ...]:
    place = STAGES.index(stage)
    return (
        *_passed(STAGES[:place], access),
        Check(stage, "failed", detail, fix),
        *skip_checks(STAGES[place + 1 :], f"{stage} failed"),
    )


def _passed(stages: tuple[str, ...], access: ServerAccess) -> tuple[Check, ...]:
    details = {
        "address": masked_address(access.uri),
        "connection": "the server answers",
        "credentials": f"user {access.user} is accepted"
        if access.password is not None
        else "the server requires no credentials",
        "database": access.database or "the user's home database",
    }
    return tuple(Check(stage, "ok", details[stage]) for stage in stages)
