"""Whether the server answers yet: the one place besides ``db`` that opens a connection.

The package's own door cannot be used before the server is up: it refuses what it cannot
reach, while here being unreachable is the normal case for some seconds.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from neo4j import GraphDatabase
from neo4j import exceptions as driver_errors

from pgs_neo4j.errors import ServerStartError
from pgs_neo4j.local.config_files import HOST, uri_of
from pgs_neo4j.local.locks import check

USER = "neo4j"
POLL_S = 0.1
_PROBE = (
    "CALL dbms.components() YIELD name, versions WITH name, versions "
    "WHERE name = 'Neo4j Kernel' "
    "CALL () { MATCH (n) RETURN count(n) AS nodes } "
    "RETURN versions[0] AS neo4j, gds.version() AS gds, nodes"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server that is up says about itself."""

    neo4j: str
    gds: str
    nodes: int


def wait_until_ready(
    port: int,
    password: str,
    timeout_s: float,
    is_alive: Callable[[], bool],
    cancelled: threading.Event,
) -> Answer | None:
    """Poll until the server answers; None when its process dies or ``timeout_s`` is over.

    Raises ServerStartError when it refuses the password.
    """
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        check(cancelled, "waiting for the local server")
        answer = probe(port, password)
        if answer is not None:
            return answer
        if not is_alive():
            return None
        time.sleep(POLL_S)
    return None


def probe(port: int, password: str) -> Answer | None:
    """Ask once; None when nothing answers or the database is not available yet."""
    try:
        # Without this the driver would spend far longer on a refused connection.
        socket.create_connection((HOST, port), timeout=2.0).close()
        with (
            GraphDatabase.driver(
                uri_of(port),
                auth=(USER, password),
                connection_timeout=5.0,
                user_agent="pgs-neo4j",
            ) as driver,
            driver.session() as session,
        ):
            row = session.run(_PROBE).single(strict=True)
    except driver_errors.AuthError as error:
        raise ServerStartError(
            "the local server refuses the password that is kept for it; restore the file "
            "'password' in its data directory, or empty it with `pgs local reset`"
        ) from error
    except (OSError, driver_errors.DriverError, driver_errors.Neo4jError):
        return None
    return Answer(neo4j=row["neo4j"], gds=row["gds"], nodes=row["nodes"])
