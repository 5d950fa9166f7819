"""Waits until the local server is ready."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from pgs_neo4j.database.local import process
from pgs_neo4j.database.local.config_files import uri_of
from pgs_neo4j.database.local.credentials import USER
from pgs_neo4j.database.local.locks import raise_if_cancelled
from pgs_neo4j.database.probe import Readiness, probe_server
from pgs_neo4j.errors import DatabaseAuthError, DatabaseHaltedError, ServerStartError

if TYPE_CHECKING:
    import psutil

POLL_S = 0.1


def wait_until_ready(
    port: int,
    password: str,
    timeout_s: float,
    running: psutil.Process,
    cancelled: threading.Event,
) -> Readiness | None:
    """Poll until the server is ready; None if it never is.

    The password goes only to the process itself. Raises ServerStartError when it is refused, and
    when the database has stopped.
    """
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        raise_if_cancelled(cancelled, "waiting for the local server")
        readiness = probe(port, password, running)
        if readiness is not None:
            return readiness
        if not process.is_alive(running):
            return None
        time.sleep(POLL_S)
    return None


def probe(port: int, password: str, running: psutil.Process) -> Readiness | None:
    """Ask once; None while the server is not ready or another process has its port.

    Raises ServerStartError when it refuses the password, and when its database has stopped.
    """
    if not process.listens(running, port):
        return None
    try:
        return probe_server(uri_of(port), USER, password)
    except DatabaseAuthError as error:
        raise ServerStartError(
            "the local server refuses its stored password; restore the file 'password' in its "
            "data directory, or empty the directory with `pgs local reset`"
        ) from error
    except DatabaseHaltedError as error:
        raise ServerStartError(
            "the database of the local server stopped after a critical error, such as a full disk; "
            "make room, run `pgs local stop`, and try again"
        ) from error
