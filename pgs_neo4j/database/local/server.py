"""Starts, stops, resets, and describes the managed local server.

All callers share the one server of a data directory. Blocking work runs in a thread, and the
asynchronous functions wait for this work.
"""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from pgs_neo4j.database.local import credentials, launch, lockfile, process
from pgs_neo4j.database.local.blocking import deliver_events, hold_lock, in_thread
from pgs_neo4j.database.local.credentials import USER, wait_with_password
from pgs_neo4j.database.local.launch import wait_until_ready
from pgs_neo4j.database.local.options import (
    LocalOptions,
    LocalPaths,
    choose_release,
    claim,
    foreign_error,
    paths_of,
    read_release,
    secure,
    translate_disk_errors,
)
from pgs_neo4j.database.local.runtime import uri_of
from pgs_neo4j.database.probe import Readiness
from pgs_neo4j.errors import LocalServerError, ServerStartError
from pgs_neo4j.events import OnEvent


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that is ready. ``started`` is true if this call started it."""

    uri: str
    user: str
    password: str = field(repr=False)
    pid: int
    data_dir: Path
    started: bool
    neo4j: str
    gds: str


def password_file(options: LocalOptions | None = None) -> Path:
    """Return the path of the private file with the server's password."""
    return paths_of(options or LocalOptions()).password


@dataclass(frozen=True, slots=True)
class LocalStatus:
    """The state of a data directory's server. Unknown values are None.

    ``size_bytes`` is the size of the database on disk, and ``memory_bytes`` is the memory that the
    process uses. ``heap_mb`` and ``page_cache_mb`` are the process's limits in MiB.
    """

    running: bool
    data_dir: Path
    size_bytes: int
    version: str
    gds_version: str
    release: str
    pid: int | None = None
    uri: str | None = None
    heap_mb: int | None = None
    page_cache_mb: int | None = None
    memory_bytes: int | None = None
    uptime_s: float | None = None


async def ensure_running(
    options: LocalOptions | None = None, on_event: OnEvent | None = None
) -> LocalServer:
    """Return the running server of a data directory, or start one.

    Simultaneous callers, in any number of processes, get the same server. ``on_event`` receives
    the steps and the bytes fetched. Raises ArtifactError, JavaMissingError, ServerStartError,
    LocalServerError.
    """
    chosen = options or LocalOptions()
    report = deliver_events(on_event)
    return await in_thread(lambda cancelled: _ensure(chosen, report, cancelled))


async def stop(options: LocalOptions | None = None, timeout_s: float = 60.0) -> bool:
    """Stop the server, by force after ``timeout_s``; return False if no server was running."""
    paths = paths_of(options or LocalOptions())
    if not paths.marker.exists():
        return False

    def work(cancelled: threading.Event) -> bool:
        with hold_lock(paths.lock, "using the local server's data directory", cancelled):
            return stop_locked(paths, timeout_s)

    return await in_thread(work)


async def reset(options: LocalOptions | None = None) -> bool:
    """Stop the server and delete its databases, logs, and password.

    Returns False if there were no databases. Other files in the directory stay. Raises
    LocalServerError if the folder is not a data directory of this package.
    """
    paths = paths_of(options or LocalOptions())
    if not paths.data_dir.exists():
        return False
    if not paths.marker.exists():
        raise foreign_error(paths)

    def work(cancelled: threading.Event) -> bool:
        with hold_lock(paths.lock, "using the local server's data directory", cancelled):
            stop_locked(paths, 60.0)
            return _delete_data(paths)

    return await in_thread(work)


def status(options: LocalOptions | None = None) -> LocalStatus:
    """Return the state of the server without connecting to it."""
    chosen = options or LocalOptions()
    paths = paths_of(chosen)
    # Show the release of the store even if the options name another release.
    release = choose_release(paths, replace(chosen, release=read_release(paths) or chosen.release))
    lock = lockfile.load(release.name)
    size = process.folder_size(paths.data)
    server = process.find_live(paths)
    if server is None:
        return LocalStatus(False, paths.data_dir, size, lock.neo4j, lock.gds, release.name)
    state, running = server
    return LocalStatus(
        running=True,
        data_dir=paths.data_dir,
        size_bytes=size,
        version=state.neo4j or lock.neo4j,
        gds_version=state.gds or lock.gds,
        release=release.name,
        pid=state.pid,
        uri=uri_of(state.port),
        heap_mb=state.heap_mb,
        page_cache_mb=state.page_cache_mb,
        memory_bytes=process.resident_bytes(running),
        uptime_s=max(0.0, time.time() - state.create_time),
    )


def running_access(options: LocalOptions | None = None) -> tuple[str, str] | None:
    """Return the address and password of the running server.

    Returns None if there is no server, or if another program uses its port.
    """
    paths = paths_of(options or LocalOptions())
    server, password = process.find_live(paths), credentials.read_password(paths)
    if server is None or password is None or not process.listens(server[1], server[0].port):
        return None
    return uri_of(server[0].port), password


def stop_locked(paths: LocalPaths, timeout_s: float) -> bool:
    """Stop the server and return True; False if no server was running.

    The caller holds the lock of the data directory. Raises LocalServerError if it does not stop.
    """
    server = process.find_live(paths)
    if server is None:
        return False
    state, running = server
    process.end(running, timeout_s)
    if process.is_alive(running):
        raise LocalServerError(
            f"the local server (process {state.pid}) does not stop; end it by hand and try again"
        )
    return True


def _ensure(options: LocalOptions, report: OnEvent, cancelled: threading.Event) -> LocalServer:
    paths = paths_of(options)
    secure(paths)
    choose_release(paths, options)
    attached = _attach(paths, options, cancelled)
    if attached:
        return attached
    claim(paths)
    with (
        hold_lock(paths.lock, "starting the local server", cancelled),
        translate_disk_errors(paths),
    ):
        # During the wait, another process may have started the server, or may have been killed
        # before the server was ready.
        attached = _attach(paths, options, cancelled, unready=True)
        if attached:
            return attached
        state, password, readiness = launch.start(paths, options, report, cancelled)
        return _make_server(paths, state.port, state.pid, password, readiness, started=True)


def _attach(
    paths: LocalPaths, options: LocalOptions, cancelled: threading.Event, unready: bool = False
) -> LocalServer | None:
    """Wait until the running server is ready and return it; None if no server is running.

    Ignores a server that is not marked as ready, unless ``unready`` is set.
    """
    server = process.find_live(paths)
    password = credentials.read_password(paths)
    if server is None or password is None or not (server[0].ready or unready):
        return None
    state, running = server
    readiness, password = wait_with_password(
        paths,
        password,
        lambda tried: wait_until_ready(
            state.port, tried, options.start_timeout_s, running, cancelled
        ),
    )
    if readiness is None:
        if not process.is_alive(running):
            return None
        raise ServerStartError(
            f"the local server (process {state.pid}) has not answered for "
            f"{options.start_timeout_s:.0f} s; stop it with `pgs local stop` and try again"
        )
    if not state.ready:
        process.write_state(
            paths, replace(state, ready=True, neo4j=readiness.neo4j, gds=readiness.gds)
        )
    return _make_server(paths, state.port, state.pid, password, readiness, started=False)


def _delete_data(paths: LocalPaths) -> bool:
    existed = paths.data.exists()
    try:
        for folder in (paths.data, paths.logs, paths.conf, paths.run, paths.staging):
            if folder.exists():
                shutil.rmtree(folder)
        for file in (
            paths.password,
            paths.next_password,
            paths.state,
            paths.plugins,
            paths.release,
        ):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise LocalServerError(
            f"{error.filename} could not be deleted ({error.strerror}); "
            "delete it by hand and run `pgs local reset` again"
        ) from error
    return existed


def _make_server(
    paths: LocalPaths, port: int, pid: int, password: str, readiness: Readiness, started: bool
) -> LocalServer:
    return LocalServer(
        uri=uri_of(port),
        user=USER,
        password=password,
        pid=pid,
        data_dir=paths.data_dir,
        started=started,
        neo4j=readiness.neo4j,
        gds=readiness.gds,
    )
