"""Creates, stores, and renews the random password of the local server, in a private file.

The password is sent only to the server process that was started. But if this process ends during
its start, another program may occupy its port at that moment and receive the password. So the
password is renewed after a failed start.
"""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Callable
from pathlib import Path

from pgs_neo4j.database.local.options import LocalPaths
from pgs_neo4j.database.local.process import child_environment
from pgs_neo4j.database.local.runtime import admin_command, uri_of
from pgs_neo4j.database.probe import Readiness, change_password
from pgs_neo4j.errors import DatabaseError, ServerStartError

USER = "neo4j"
ADMIN_HEAP_MB = 256
ADMIN_TIMEOUT_S = 120.0


def read_password(paths: LocalPaths) -> str | None:
    """Return the stored password, or None."""
    return _read_file(paths.password)


def read_next_password(paths: LocalPaths) -> str | None:
    """Return the password that an interrupted renewal may have set, or None."""
    return _read_file(paths.next_password)


def ensure_password(paths: LocalPaths, java: Path, jars: Path, *, renew: bool = False) -> str:
    """Return the password. Before the first start, create it and set it in Neo4j.

    With ``renew``, replaces a password that no server has used yet. Raises ServerStartError if the
    password is missing although the server was started before.
    """
    password = read_password(paths)
    started_before = (paths.data / "databases" / "system").exists()
    if renew and not started_before:
        password = None
    if started_before and password is None:
        raise ServerStartError(
            f"the password file {paths.password} is missing; "
            "restore it, or empty the data directory with `pgs local reset`"
        )
    if password is None:
        password = new_password()
        write_private(paths.password, password + "\n")
    if not started_before:
        _set_first_password(paths, java, jars, password)
    return password


def _set_first_password(paths: LocalPaths, java: Path, jars: Path, password: str) -> None:
    # The password is passed in a private file, because other users of the machine can read command
    # lines. If this process is killed, the file stays until the next start. That reveals nothing,
    # since the private file beside it contains the same password.
    arguments = paths.data_dir / "first-password.arguments"
    write_private(arguments, f'dbms set-initial-password "{password}"\n')
    try:
        subprocess.run(
            [*admin_command(java, jars, ADMIN_HEAP_MB, brief=True), f"@{arguments}"],
            env=admin_environment(paths.data_dir),
            cwd=paths.data_dir,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ADMIN_TIMEOUT_S,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        message = error.stderr.decode(errors="replace").replace(password, "…").strip()
        reason = f" ({message.splitlines()[-1]})" if message else ""
        raise ServerStartError(
            f"Neo4j did not accept its first password{reason}; "
            "empty the data directory with `pgs local reset` and start again"
        ) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerStartError(
            f"Neo4j's tool did not run ({type(error).__name__}); check {java}"
        ) from error
    finally:
        arguments.unlink(missing_ok=True)


def wait_with_password(
    paths: LocalPaths, password: str, wait: Callable[[str], Readiness | None]
) -> tuple[Readiness | None, str]:
    """Call ``wait`` with the stored password, or else with the password of an interrupted renewal.

    Returns the readiness and the password that the server accepted. Raises ServerStartError if the
    server refuses both.
    """
    next_password = read_next_password(paths)
    try:
        return wait(password), password
    except ServerStartError:
        if next_password is None:
            raise
    readiness = wait(next_password)
    if readiness is not None:
        paths.next_password.replace(paths.password)
    return readiness, next_password


def renew(paths: LocalPaths, port: int, password: str) -> str:
    """Set a new password in a server that is ready, and return it.

    The new password is stored before it is set, so that an interruption loses neither password.
    Raises ServerStartError.
    """
    next_password = new_password()
    write_private(paths.next_password, next_password + "\n")
    try:
        change_password(uri_of(port), USER, password, next_password)
    except DatabaseError as error:
        raise ServerStartError(f"{error}; start the local server again") from None
    paths.next_password.replace(paths.password)
    return next_password


def new_password() -> str:
    """Return a random password.

    It is hexadecimal, because Neo4j's tool treats a password that begins with "-" as an option.
    """
    return secrets.token_hex(24)


def admin_environment(home: Path) -> dict[str, str]:
    """Return the environment of Neo4j's offline tool."""
    return child_environment() | {"NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}


def _read_file(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip() or None
    except OSError:
        return None


def write_private(path: Path, text: str) -> None:
    """Atomically write a file that only this user can read."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(text)
    temporary.replace(path)
