"""Renews the password of the local server after a start that failed.

The password goes only to the process that was started. But as that process ends, another program
may take its port and be sent the password.
"""

from __future__ import annotations

from collections.abc import Callable

from pgs_neo4j.database.local import credentials
from pgs_neo4j.database.local.config_files import uri_of
from pgs_neo4j.database.local.credentials import USER
from pgs_neo4j.database.local.options import LocalPaths
from pgs_neo4j.database.probe import Readiness, change_password
from pgs_neo4j.errors import DatabaseError, ServerStartError


def wait_with_password(
    paths: LocalPaths, password: str, wait: Callable[[str], Readiness | None]
) -> tuple[Readiness | None, str]:
    """Wait with the stored password, or the next one if a renewal was interrupted.

    Returns the readiness and the password in force. Raises ServerStartError if both are refused.
    """
    following = credentials.read_next_password(paths)
    try:
        return wait(password), password
    except ServerStartError:
        if following is None:
            raise
    readiness = wait(following)
    if readiness is not None:
        paths.next_password.replace(paths.password)
    return readiness, following


def renew(paths: LocalPaths, port: int, password: str) -> str:
    """Set a new password in a server that is ready, and return it.

    It is stored before it is set, so an interruption loses neither. Raises ServerStartError.
    """
    following = credentials.new_password()
    credentials.write_private(paths.next_password, following + "\n")
    try:
        change_password(uri_of(port), USER, password, following)
    except DatabaseError as error:
        raise ServerStartError(f"{error}; start the local server again") from None
    paths.next_password.replace(paths.password)
    return following
