"""The managed server without a process: status, stop, reset, and attachment."""

import os
import threading
from dataclasses import replace

import psutil
import pytest

from pgs_neo4j.database.local import bulk_import, credentials, process, server
from pgs_neo4j.database.local.options import LocalOptions
from pgs_neo4j.database.local.process import ServerState
from pgs_neo4j.database.probe import Readiness
from pgs_neo4j.errors import LocalServerError, ServerStartError


@pytest.fixture
def options(paths):
    return LocalOptions(data_dir=paths.data_dir, start_timeout_s=1.0)


@pytest.fixture
def running(paths, monkeypatch):
    """This process plays the server."""
    own = psutil.Process()
    state = ServerState(os.getpid(), own.create_time(), 7687, 512, 128, "21", ready=True)
    process.write_state(paths, state)
    monkeypatch.setattr(process, "find_live", lambda paths: (process.read_state(paths), own))
    monkeypatch.setattr(credentials, "read_password", lambda paths: "secret")
    return state


def attach(paths, options, **changes):
    return server._attach(paths, options, threading.Event(), **changes)


def test_the_status_of_a_directory_without_a_server(paths, options):
    paths.data.mkdir()
    (paths.data / "store").write_bytes(b"12345")
    status = server.status(options)
    assert (status.running, status.data_dir, status.size_bytes) == (False, paths.data_dir, 5)
    assert (status.release, status.version[:5]) == ("5.26", "5.26.")
    assert (status.pid, status.uri, status.uptime_s) == (None, None, None)


async def test_the_store_of_another_release_is_shown_but_never_opened(paths, options):
    paths.release.write_text("2026\n")
    asked = LocalOptions(data_dir=paths.data_dir, release="5.26")
    status = server.status(asked)
    assert (status.release, status.version) == ("2026", "2026.08.1")
    with pytest.raises(LocalServerError, match=r"Neo4j 2026, and Neo4j 5\.26 will not open it"):
        await server.ensure_running(asked)
    with pytest.raises(LocalServerError, match=r"Neo4j 2026, and Neo4j 5\.26 will not open it"):
        await bulk_import(asked, nodes=[__file__], overwrite=True)
    assert not paths.conf.exists()


def test_only_who_holds_the_lock_attaches_to_a_server_that_was_left_unready(
    paths, options, running, monkeypatch
):
    process.write_state(paths, replace(running, ready=False))
    ready = Readiness("5.26.30", "2.13.9", 7)
    monkeypatch.setattr(server, "wait_until_ready", lambda *arguments: ready)
    assert attach(paths, options) is None
    attached = attach(paths, options, unready=True)
    assert (attached.started, attached.pid, attached.neo4j) == (False, running.pid, "5.26.30")
    state = process.read_state(paths)
    assert (state.ready, state.neo4j, state.gds) == (True, "5.26.30", "2.13.9")
    assert attach(paths, options) == attached
    monkeypatch.setattr(credentials, "read_password", lambda paths: None)
    assert attach(paths, options) is None


def test_a_server_that_does_not_answer_is_an_error_unless_it_died(
    paths, options, running, monkeypatch
):
    monkeypatch.setattr(server, "wait_until_ready", lambda *arguments: None)
    with pytest.raises(ServerStartError, match=f"process {running.pid}.* has not answered for 1 s"):
        attach(paths, options)
    monkeypatch.setattr(process, "is_alive", lambda running: False)
    assert attach(paths, options) is None


def test_a_process_that_does_not_end_is_an_error(paths, running, monkeypatch):
    monkeypatch.setattr(process, "end", lambda running, timeout_s: False)
    with pytest.raises(LocalServerError, match="does not stop; end it by hand"):
        server.stop_locked(paths, 0.1)
