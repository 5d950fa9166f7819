"""Starts the server process detached, identifies it reliably, and ends it by its id."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from pgs_neo4j.database.local.options import LocalPaths, missing_extra
from pgs_neo4j.database.local.runtime import HOST
from pgs_neo4j.errors import LocalServerError, ServerStartError

try:
    import psutil
except ImportError as error:
    raise missing_extra(error) from error

# The system may correct its clock by this many seconds, which also changes reported start times.
# Two processes with the same marker and id cannot start within so short a time.
CLOCK_SLACK_S = 5.0
# The server gets no other variables, so that it gets no secrets. LC_ALL is set separately, because
# in the C locale Java misreads folder names that are not ASCII.
PASSED_VARIABLES = ("PATH", "HOME", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
# The shell starts the server in the background and exits. So this process need not wait for the
# server when the server ends.
_DETACH = 'umask 077; log=$1; shift; "$@" </dev/null >"$log" 2>&1 & echo $!'


@dataclass(frozen=True, slots=True)
class ServerState:
    """The content of server.json: the server's process, its options, and whether it is ready."""

    pid: int
    create_time: float
    port: int
    heap_mb: int
    page_cache_mb: int
    java: str
    ready: bool = False
    neo4j: str = ""
    gds: str = ""


def marker_of(paths: LocalPaths) -> str:
    """Return a Java option with the data directory, which identifies the server's process."""
    return f"-Dpgs.data.dir={paths.data_dir}"


def write_state(paths: LocalPaths, state: ServerState) -> None:
    """Replace server.json atomically."""
    temporary = paths.state.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(state), indent=1), encoding="utf-8")
    temporary.replace(paths.state)


def read_state(paths: LocalPaths) -> ServerState | None:
    """Return the content of server.json; None if it is absent or malformed."""
    try:
        return ServerState(**json.loads(paths.state.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def find_live(paths: LocalPaths) -> tuple[ServerState, psutil.Process] | None:
    """Return the running server of the data directory, or None.

    Another process may have received the same id. So the start time and the marker on the command
    line must also match.
    """
    state = read_state(paths)
    if state is None:
        return None
    try:
        process = psutil.Process(state.pid)
        is_server = (
            process.status() != psutil.STATUS_ZOMBIE
            and abs(process.create_time() - state.create_time) < CLOCK_SLACK_S
            and marker_of(paths) in process.cmdline()
            and _is_trusted(process)
        )
    except psutil.Error:
        return None
    return (state, process) if is_server else None


def _is_trusted(process: psutil.Process) -> bool:
    """Return whether the process runs as this user.

    Other users can start processes with the same command line.
    """
    if sys.platform == "win32":
        return True
    me = os.geteuid()
    return me in (0, process.uids().effective)


def listens(process: psutil.Process, port: int) -> bool:
    """Return whether the process itself listens on a port of loopback.

    While the server starts, another program could listen on the same port to get the password.
    """
    try:
        connections = process.net_connections(kind="tcp")
    except psutil.Error:
        return False
    return any(
        connection.status == psutil.CONN_LISTEN
        and connection.laddr.port == port
        and connection.laddr.ip.endswith(HOST)
        for connection in connections
    )


def is_alive(process: psutil.Process) -> bool:
    """Return whether the process is running; a zombie does not count."""
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def spawn(command: list[str], paths: LocalPaths) -> tuple[psutil.Process, float] | None:
    """Start a detached process that writes its output to the console log.

    Returns the process and its start time, or None if the process ended at once. The new process
    outlives the current process and does not receive Ctrl-C from the terminal. Raises
    ServerStartError, or LocalServerError on Windows.
    """
    if sys.platform == "win32":
        raise LocalServerError(
            "the local server runs on Linux and macOS only; "
            "set PGS_NEO4J_URI to a Neo4j with GDS instead"
        )
    try:
        shell = subprocess.run(
            ["/bin/sh", "-c", _DETACH, "sh", str(paths.console), *command],
            cwd=paths.data_dir,
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            check=True,
            text=True,
        )
        process = psutil.Process(int(shell.stdout))
        return process, float(process.create_time())
    except psutil.NoSuchProcess:
        return None
    except (OSError, subprocess.SubprocessError, ValueError, psutil.Error) as error:
        raise ServerStartError(
            f"the server process could not be started ({type(error).__name__}); "
            f"check {paths.console}, free memory, and free disk space"
        ) from error


def end(process: psutil.Process, timeout_s: float) -> bool:
    """Stop the process, and kill it after ``timeout_s``; return False if it was killed."""
    try:
        process.terminate()
        if _wait_for_end(process, timeout_s):
            return True
        process.kill()
        _wait_for_end(process, 10.0)
    except psutil.NoSuchProcess:
        return True
    return False


def child_environment() -> dict[str, str]:
    """Return the environment variables for the server and its tools."""
    passed = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
    return passed | {"LC_ALL": "C.UTF-8"}


def choose_port(pinned: int | None, last: int | None) -> int:
    """Return the pinned port, or else the last port if it is free, or else any free port.

    Raises ServerStartError if the pinned port is taken.
    """
    if pinned is not None:
        if not _is_free(pinned):
            raise ServerStartError(
                f"port {pinned} is taken by another program; "
                "set PGS_LOCAL_BOLT_PORT to another port, or unset it for a free one"
            )
        return pinned
    if last is not None and _is_free(last):
        return last
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _wait_for_end(process: psutil.Process, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while is_alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def resident_bytes(process: psutil.Process) -> int | None:
    """Return the memory that the process uses, in bytes; None if it has just ended."""
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return None


def folder_size(folder: Path) -> int:
    """Return the size of all files below ``folder``, in bytes.

    Files that are deleted during the count are left out.
    """
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except OSError:
                continue
    return total
