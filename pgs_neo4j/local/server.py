"""The managed local server's life: one per data directory, shared by all who call.

Everything here blocks in a thread; the async functions only wait for it.
"""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from pgs_neo4j.database.probe import Readiness
from pgs_neo4j.errors import LocalServerError, ServerStartError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.local import credentials, launch, lockfile, process
from pgs_neo4j.local.config_files import uri_of
from pgs_neo4j.local.locks import held
from pgs_neo4j.local.options import LocalOptions, LocalPaths, claim, foreign, paths_of, writing
from pgs_neo4j.local.readiness import USER, wait_until_ready
from pgs_neo4j.local.threads import delivered, in_thread


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answers. ``started`` tells whether this call started it."""

    uri: str
    user: str
    password: str = field(repr=False)
    pid: int
    data_dir: Path
    started: bool
    neo4j: str
    gds: str


@dataclass(frozen=True, slots=True)
class LocalStatus:
    """How the server of a data directory is doing; what is unknown or not running is None.

    ``size_bytes`` is the database on disk, ``memory_bytes`` what the process holds,
    ``heap_mb`` and ``page_cache_mb`` its limits in MiB.
    """

    running: bool
    data_dir: Path
    size_bytes: int
    version: str
    gds_version: str
    pid: int | None = None
    uri: str | None = None
    heap_mb: int | None = None
    page_cache_mb: int | None = None
    memory_bytes: int | None = None
    uptime_s: float | None = None


async def ensure_running(
    options: LocalOptions | None = None, on_event: OnEvent | None = None
) -> LocalServer:
    """Attach to the server of the data directory, or fetch what is missing and start it.

    Callers at the same time, in any number of processes, get the same one server. Tells
    ``on_event`` the steps it takes and the bytes it fetches. Raises ArtifactError,
    JavaMissingError, ServerStartError, LocalServerError.
    """
    given = options or LocalOptions()
    tell = delivered(on_event)
    return await in_thread(lambda cancelled: _ensure(given, tell, cancelled))


async def stop(options: LocalOptions | None = None, timeout_s: float = 60.0) -> bool:
    """Stop the server, by force after ``timeout_s``; False when none was running."""
    paths = paths_of(options or LocalOptions())
    if not paths.marker.exists():
        return False

    def work(cancelled: threading.Event) -> bool:
        with held(paths.lock, "using the local server's data directory", cancelled):
            return stop_locked(paths, timeout_s)

    return await in_thread(work)


async def reset(options: LocalOptions | None = None) -> bool:
    """Stop the server and delete its databases, logs and password; False if there were none.

    Files in the directory that are not the server's stay. Raises LocalServerError when the
    directory is not one of ours.
    """
    paths = paths_of(options or LocalOptions())
    if not paths.data_dir.exists():
        return False
    if not paths.marker.exists():
        raise foreign(paths)

    def work(cancelled: threading.Event) -> bool:
        with held(paths.lock, "using the local server's data directory", cancelled):
            stop_locked(paths, 60.0)
            return _delete_data(paths)

    return await in_thread(work)


def status(options: LocalOptions | None = None) -> LocalStatus:
    """How the server is doing, without asking it anything."""
    paths = paths_of(options or LocalOptions())
    lock = lockfile.load()
    size = process.folder_size(paths.data)
    found = process.live(paths)
    if found is None:
        return LocalStatus(False, paths.data_dir, size, lock.neo4j, lock.gds)
    state, running = found
    return LocalStatus(
        running=True,
        data_dir=paths.data_dir,
        size_bytes=size,
        version=state.neo4j or lock.neo4j,
        gds_version=state.gds or lock.gds,
        pid=state.pid,
        uri=uri_of(state.port),
        heap_mb=state.heap_mb,
        page_cache_mb=state.page_cache_mb,
        memory_bytes=process.resident_bytes(running),
        uptime_s=max(0.0, time.time() - state.create_time),
    )


def stop_locked(paths: LocalPaths, timeout_s: float) -> bool:
    """Stop the server while holding the directory's lock; False when none was running."""
    found = process.live(paths)
    if found is None:
        return False
    process.end(found[1], timeout_s)
    if process.alive(found[1]):
        raise LocalServerError(
            f"the local server (process {found[0].pid}) does not end; end it by hand and try again"
        )
    return True


def _ensure(options: LocalOptions, tell: OnEvent, cancelled: threading.Event) -> LocalServer:
    paths = paths_of(options)
    attached = _attach(paths, options, cancelled)
    if attached:
        return attached
    claim(paths)
    with held(paths.lock, "starting the local server", cancelled), writing(paths):
        # Started by another while we waited, or left unready by one that was killed.
        attached = _attach(paths, options, cancelled, unready=True)
        if attached:
            return attached
        state, password, answer = launch.start(paths, options, tell, cancelled)
        return _server(paths, state.port, state.pid, password, answer, started=True)


def _attach(
    paths: LocalPaths, options: LocalOptions, cancelled: threading.Event, unready: bool = False
) -> LocalServer | None:
    """The running server; one that is not known to be ready only when ``unready``."""
    found = process.live(paths)
    password = credentials.read_password(paths)
    if found is None or password is None or not (found[0].ready or unready):
        return None
    state, running = found
    answer = wait_until_ready(
        state.port, password, options.start_timeout_s, lambda: process.alive(running), cancelled
    )
    if answer is None:
        if not process.alive(running):
            return None
        raise ServerStartError(
            f"the local server (process {state.pid}) runs but has not answered for "
            f"{options.start_timeout_s:.0f} s; stop it with `pgs local stop` and try again"
        )
    if not state.ready:
        process.write_state(paths, replace(state, ready=True, neo4j=answer.neo4j, gds=answer.gds))
    return _server(paths, state.port, state.pid, password, answer, started=False)


def _delete_data(paths: LocalPaths) -> bool:
    existed = paths.data.exists()
    try:
        for folder in (paths.data, paths.logs, paths.conf, paths.run, paths.staging):
            if folder.exists():
                shutil.rmtree(folder)
        for file in (paths.password, paths.state, paths.plugins):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise LocalServerError(
            f"{error.filename} could not be deleted ({error.strerror}); "
            "delete it by hand and run `pgs local reset` again"
        ) from error
    return existed


def _server(
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
