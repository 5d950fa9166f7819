"""Asks a starting server whether it is ready.

This uses the synchronous driver, because the caller is a thread without an event loop. Here, an
unreachable server is normal for some seconds, while ``connection`` treats it as an error.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from neo4j import GraphDatabase
from neo4j import exceptions as driver_errors

from pgs_neo4j.database import queries
from pgs_neo4j.database.driver_errors import is_halted
from pgs_neo4j.database.driver_values import sent
from pgs_neo4j.errors import DatabaseAuthError, DatabaseError, DatabaseHaltedError

PORT_TIMEOUT_S = 2.0
CONNECT_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Readiness:
    """Versions and node count of a server that is ready."""

    neo4j: str
    gds: str
    nodes: int


def probe_server(uri: str, user: str, password: str) -> Readiness | None:
    """Ask a server once, and return None if it or its database is not ready.

    Raises DatabaseAuthError if the server refuses the password, and DatabaseHaltedError if the
    database has stopped after a critical error.
    """
    address = urlsplit(uri)
    try:
        # Try the bare port first, since the driver takes far longer to report a failure.
        socket.create_connection(
            (address.hostname, address.port or 7687), timeout=PORT_TIMEOUT_S
        ).close()
        with (
            GraphDatabase.driver(
                uri,
                auth=(user, password),
                connection_timeout=CONNECT_TIMEOUT_S,
                user_agent="pgs-neo4j",
            ) as driver,
            driver.session() as session,
        ):
            row = session.run(queries.get("database/read_readiness").text).single(strict=True)
    except driver_errors.AuthError as error:
        raise DatabaseAuthError(f"Neo4j at {uri} refused the password of user {user}") from error
    except driver_errors.Neo4jError as error:
        if is_halted(error):
            raise DatabaseHaltedError(f"Neo4j at {uri} stopped after a critical error") from error
        return None
    except (OSError, driver_errors.DriverError):
        return None
    return Readiness(neo4j=row["neo4j"], gds=row["gds"], nodes=row["nodes"])


def change_password(uri: str, user: str, old: str, new: str) -> None:
    """Replace the password of a user. Raises DatabaseError if that fails."""
    try:
        with (
            GraphDatabase.driver(
                uri, auth=(user, old), connection_timeout=CONNECT_TIMEOUT_S, user_agent="pgs-neo4j"
            ) as driver,
            driver.session(database="system") as session,
        ):
            query = queries.get("database/set_password")
            session.run(query.text, sent({"old": old, "new": new})).consume()
    except (OSError, driver_errors.DriverError, driver_errors.Neo4jError) as error:
        # The error is not quoted, because its message may repeat the statement.
        raise DatabaseError(
            f"Neo4j at {uri} did not take a new password for user {user} ({type(error).__name__})"
        ) from None
