"""The server process: started detached, recognised for certain, ended by its id alone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from pgs_neo4j.errors import LocalServerError, ServerStartError
from pgs_neo4j.local.config_files import HOST
from pgs_neo4j.local.extra import missing
from pgs_neo4j.local.options import LocalPaths

try:
    import psutil
except ImportError as error:
    raise missing(error) from error

# Two processes with our marker and one id cannot have begun this close to each other, while
# the clock the system derives start times from may be set by as much.
CLOCK_SLACK_S = 5.0
# The server needs nothing else of its starter's environment, least of all its secrets. The
# C locale would make Java mangle folder names that are not ASCII.
KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
# The shell leaves the server in a session of its own, as no child of ours to be waited for.
_DETACH = 'umask 077; log=$1; shift; "$@" </dev/null >"$log" 2>&1 & echo $!'


@dataclass(frozen=True, slots=True)
class ServerState:
    """What server.json says: a process and how it was started. ``ready`` once it answered."""

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
    """The Java option that names the data directory on the process's command line."""
    return f"-Dpgs.data.dir={paths.data_dir}"


def write_state(paths: LocalPaths, state: ServerState) -> None:
    """Replace server.json in one step."""
    temporary = paths.state.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(state), indent=1), encoding="utf-8")
    temporary.replace(paths.state)


def read_state(paths: LocalPaths) -> ServerState | None:
    """What server.json says, None when it is absent or not what we write."""
    try:
        return ServerState(**json.loads(paths.state.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def live(paths: LocalPaths) -> tuple[ServerState, psutil.Process] | None:
    """The running server of this data directory, None when its process is gone.

    A recorded id that another process has taken since is told by its start time and by the
    marker on its command line.
    """
    state = read_state(paths)
    if state is None:
        return None
    try:
        process = psutil.Process(state.pid)
        ours = (
            process.status() != psutil.STATUS_ZOMBIE
            and abs(process.create_time() - state.create_time) < CLOCK_SLACK_S
            and marker_of(paths) in process.cmdline()
        )
    except psutil.Error:
        return None
    return (state, process) if ours else None


def alive(process: psutil.Process) -> bool:
    """Whether the process still runs; a zombie does not."""
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def spawn(command: list[str], paths: LocalPaths) -> tuple[psutil.Process, float] | None:
    """Start ``command`` detached, its output in the console log; None when it ended at once.

    Gives the process and its start time. It outlives us and hears no Ctrl-C of our terminal.
    """
    if sys.platform == "win32":
        raise LocalServerError(
            "the local server runs on Linux and macOS only; "
            "set PGS_NEO4J_URI to a Neo4j with GDS instead"
        )
    try:
        answer = subprocess.run(
            ["/bin/sh", "-c", _DETACH, "sh", str(paths.console), *command],
            cwd=paths.data_dir,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            check=True,
            text=True,
        )
        process = psutil.Process(int(answer.stdout))
        return process, float(process.create_time())
    except psutil.NoSuchProcess:
        return None
    except (OSError, subprocess.SubprocessError, ValueError, psutil.Error) as error:
        raise ServerStartError(
            f"the server process could not be started ({type(error).__name__}); "
            f"look at {paths.console} and at the free memory and disk"
        ) from error


def end(process: psutil.Process, timeout_s: float) -> bool:
    """Ask the process to stop, and kill it after ``timeout_s``; False when it had to be killed."""
    try:
        process.terminate()
        if _gone(process, timeout_s):
            return True
        process.kill()
        _gone(process, 10.0)
    except psutil.NoSuchProcess:
        return True
    return False


def environment() -> dict[str, str]:
    """The environment of the processes we start."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | {"LC_ALL": "C.UTF-8"}


def choose_port(pinned: int | None, last: int | None) -> int:
    """The pinned port, else the last one used if it is free, else any free one.

    Raises ServerStartError when the pinned port is taken.
    """
    if pinned is not None:
        if not _is_free(pinned):
            raise ServerStartError(
                f"port {pinned} is taken by another program; "
                "choose another with PGS_LOCAL_BOLT_PORT, or leave it unset to get a free one"
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


def _gone(process: psutil.Process, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def resident_bytes(process: psutil.Process) -> int | None:
    """Memory the process holds, None when it has just gone."""
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return None


def folder_size(folder: Path) -> int:
    """Bytes of all files below ``folder``; those that vanish meanwhile count nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).stat().st_size
            except OSError:
                continue
    return total
