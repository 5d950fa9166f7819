"""Brings the server process up: jars, Java, configuration, password, and the wait for it.

The caller holds the lock of the data directory.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from pgs_neo4j.database.probe import Readiness
from pgs_neo4j.errors import ServerStartError
from pgs_neo4j.events import OnEvent, Progressed, StepStarted
from pgs_neo4j.local import artifacts, config_files, credentials, java, lockfile, memory, process
from pgs_neo4j.local.logs import size_of, why_it_failed
from pgs_neo4j.local.options import LocalOptions, LocalPaths
from pgs_neo4j.local.process import ServerState
from pgs_neo4j.local.readiness import wait_until_ready


def fetch(
    paths: LocalPaths, options: LocalOptions, tell: OnEvent, cancelled: threading.Event
) -> Path:
    """The folder of the jars, fetched where missing, with the bytes told as events."""
    lock = lockfile.load()
    told = threading.Event()

    def progress(done: int, total: int, name: str) -> None:
        if not told.is_set():
            told.set()
            tell(StepStarted("connect", f"fetch Neo4j {lock.neo4j} and GDS {lock.gds}"))
        del name
        tell(Progressed("connect", done, total, "bytes"))

    return artifacts.ensure(
        lock, paths.cache_dir, on_progress=progress, mirrors=options.mirrors, cancelled=cancelled
    )


def start(
    paths: LocalPaths, options: LocalOptions, tell: OnEvent, cancelled: threading.Event
) -> tuple[ServerState, str, Readiness]:
    """Start a server and wait until it answers; on failure nothing of it keeps running."""
    found = java.find_java(options.java_home)
    jars = fetch(paths, options, tell, cancelled)
    tell(StepStarted("connect", "start the local server"))
    size = memory.plan(options)
    last = process.read_state(paths)
    port = process.choose_port(options.bolt_port, last.port if last else None)
    write_home(paths, jars, config_files.neo4j_conf(port, size))
    password = credentials.ensure_password(paths, found.executable, jars)
    logged = size_of(paths.server_log)
    spawned = process.spawn(
        config_files.server_command(found.executable, jars, paths, size, process.marker_of(paths)),
        paths,
    )
    if spawned is None:
        raise _failure(paths, options, logged, still_running=False)
    running, create_time = spawned
    try:
        state = ServerState(
            pid=running.pid,
            create_time=create_time,
            port=port,
            heap_mb=size.heap_mb,
            page_cache_mb=size.page_cache_mb,
            java=f"{found.major} ({found.source})",
        )
        process.write_state(paths, state)
        answer = wait_until_ready(
            port, password, options.start_timeout_s, lambda: process.alive(running), cancelled
        )
        if answer is None:
            raise _failure(paths, options, logged, process.alive(running))
    except BaseException:  # Also an interruption: nobody else waits for this process yet.
        process.end(running, 10.0)
        raise
    ready = replace(state, ready=True, neo4j=answer.neo4j, gds=answer.gds)
    process.write_state(paths, ready)
    return ready, password, answer


def write_home(paths: LocalPaths, jars: Path, conf: str) -> None:
    """Lay out the home that Neo4j expects: its folders, neo4j.conf, and the link to GDS."""
    for folder in (paths.conf, paths.logs, paths.data):
        folder.mkdir(parents=True, exist_ok=True)
    (paths.conf / "neo4j.conf").write_text(conf, encoding="ascii")
    paths.plugins.unlink(missing_ok=True)
    paths.plugins.symlink_to(jars / "plugins", target_is_directory=True)


def _failure(
    paths: LocalPaths, options: LocalOptions, logged: int, still_running: bool
) -> ServerStartError:
    said = why_it_failed(paths, logged)
    what = (
        f"did not answer within {options.start_timeout_s:.0f} s"
        if still_running
        else "ended while starting"
    )
    quoted = f", its log says: {said}" if said else ""
    return ServerStartError(
        f"the local server {what}{quoted}; see `pgs local log`, or {paths.logs}"
    )
