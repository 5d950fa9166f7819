"""Starts the server process with jars, Java, configuration, and password; waits until it is ready.

The caller holds the lock of the data directory.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pgs_neo4j.database.local import artifacts, credentials, lockfile, process, runtime
from pgs_neo4j.database.local.blocking import raise_if_cancelled
from pgs_neo4j.database.local.credentials import USER, renew, wait_with_password
from pgs_neo4j.database.local.lockfile import Release
from pgs_neo4j.database.local.logs import LogSizes, log_sizes, quote_failure
from pgs_neo4j.database.local.options import LocalOptions, LocalPaths, choose_release
from pgs_neo4j.database.local.process import ServerState
from pgs_neo4j.database.local.runtime import Java, Memory, uri_of
from pgs_neo4j.database.probe import Readiness, probe_server
from pgs_neo4j.errors import DatabaseAuthError, DatabaseHaltedError, ServerStartError
from pgs_neo4j.events import OnEvent, Progressed, StepStarted

if TYPE_CHECKING:
    import psutil

POLL_S = 0.1


def start(
    paths: LocalPaths, options: LocalOptions, report: OnEvent, cancelled: threading.Event
) -> tuple[ServerState, str, Readiness]:
    """Start a server, wait until it is ready, and return its state, password, and readiness.

    If the start fails, no process is left behind. Raises ServerStartError, ArtifactError,
    JavaMissingError.
    """
    release = choose_release(paths, options)
    java = runtime.find_java(options.java_home, release.java)
    jars = fetch(release, paths, options, report, cancelled)
    report(StepStarted("connect", "start the local server"))
    size = runtime.plan_memory(options)
    last = process.read_state(paths)
    failed_before = last is not None and not last.ready
    port = process.choose_port(options.bolt_port, last.port if last else None)
    write_home(paths, jars, runtime.neo4j_conf(port, size), release)
    password = credentials.ensure_password(paths, java.executable, jars, renew=failed_before)
    sizes_before = log_sizes(paths)
    spawned = _spawn(paths, jars, release, java, size, port)
    if spawned is None:
        raise _make_start_error(paths, options, sizes_before, still_running=False)
    running, state = spawned
    try:
        process.write_state(paths, state)
        readiness, password = wait_with_password(
            paths,
            password,
            lambda tried: wait_until_ready(
                port, tried, options.start_timeout_s, running, cancelled
            ),
        )
        if readiness is None:
            raise _make_start_error(paths, options, sizes_before, process.is_alive(running))
        if failed_before:
            password = renew(paths, port, password)
    except BaseException:  # Includes interruptions: no other caller uses the server yet.
        process.end(running, 10.0)
        raise
    ready = replace(state, ready=True, neo4j=readiness.neo4j, gds=readiness.gds)
    process.write_state(paths, ready)
    return ready, password, readiness


def fetch(
    release: Release,
    paths: LocalPaths,
    options: LocalOptions,
    report: OnEvent,
    cancelled: threading.Event,
) -> Path:
    """Fetch missing jars, report the bytes as events, and return the folder of the jars."""
    lock = lockfile.load(release.name)
    announced = threading.Event()

    def progress(done: int, total: int, name: str) -> None:
        if not announced.is_set():
            announced.set()
            report(StepStarted("connect", f"fetch Neo4j {lock.neo4j} and GDS {lock.gds}"))
        del name
        report(Progressed("connect", done, total, "bytes"))

    return artifacts.ensure(
        lock, paths.cache_dir, on_progress=progress, mirrors=options.mirrors, cancelled=cancelled
    )


def write_home(paths: LocalPaths, jars: Path, conf: str, release: Release) -> None:
    """Create Neo4j's home: its folders, neo4j.conf, and the link to GDS."""
    # The release is recorded before there is a store, so that no other release ever opens it.
    paths.release.write_text(f"{release.name}\n", encoding="ascii")
    for folder in (paths.conf, paths.logs, paths.data):
        folder.mkdir(parents=True, exist_ok=True)
    (paths.conf / "neo4j.conf").write_text(conf, encoding="ascii")
    paths.plugins.unlink(missing_ok=True)
    paths.plugins.symlink_to(jars / "plugins", target_is_directory=True)


def _spawn(
    paths: LocalPaths,
    jars: Path,
    release: Release,
    java: Java,
    size: Memory,
    port: int,
) -> tuple[psutil.Process, ServerState] | None:
    marker = process.marker_of(paths)
    command = runtime.server_command(
        java.executable, jars, release.server_class, paths, size, marker
    )
    spawned = process.spawn(command, paths)
    if spawned is None:
        return None
    running, create_time = spawned
    return running, ServerState(
        pid=running.pid,
        create_time=create_time,
        port=port,
        heap_mb=size.heap_mb,
        page_cache_mb=size.page_cache_mb,
        java=f"{java.major} ({java.source})",
    )


def wait_until_ready(
    port: int,
    password: str,
    timeout_s: float,
    running: psutil.Process,
    cancelled: threading.Event,
) -> Readiness | None:
    """Poll until the server is ready; return None if the process ends or the time is up.

    The password is sent only to the process ``running``. Raises ServerStartError when the server
    refuses the password, and when the database has stopped.
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
    """Ask the server once; return None if it is not ready or another process has its port.

    Raises ServerStartError when the server refuses the password, and when its database has stopped.
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


def _make_start_error(
    paths: LocalPaths, options: LocalOptions, sizes_before: LogSizes, still_running: bool
) -> ServerStartError:
    excerpt = quote_failure(paths, sizes_before)
    what = (
        f"did not answer within {options.start_timeout_s:.0f} s"
        if still_running
        else "ended while starting"
    )
    quoted = f", its log says: {excerpt}" if excerpt else ""
    return ServerStartError(
        f"the local server {what}{quoted}; see `pgs local log`, or {paths.logs}"
    )
