"""The managed server without a process: status, stop, reset, and attachment."""

import os
import threading

import psutil
import pytest

from pgs_neo4j.database.probe import Readiness
from pgs_neo4j.errors import LocalServerError, ServerStartError
from pgs_neo4j.local import bulk_import, credentials, process, server
from pgs_neo4j.local.options import LocalOptions
from pgs_neo4j.local.process import ServerState


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
    assert not status.running
    assert status.data_dir == paths.data_dir
    assert status.size_bytes == 5
    assert status.version.startswith("5.26")
    assert status.release == "5.26"
    assert (status.pid, status.uri, status.uptime_s) == (None, None, None)


def test_the_status_of_a_running_server(options, running):
    status = server.status(options)
    assert status.running
    assert (status.pid, status.uri) == (running.pid, "bolt://127.0.0.1:7687")
    assert (status.heap_mb, status.page_cache_mb) == (512, 128)
    assert status.memory_bytes is not None
    assert status.memory_bytes > 2**20
    assert status.uptime_s is not None
    assert status.uptime_s >= 0


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


async def test_nothing_to_stop_or_reset(tmp_path):
    absent = LocalOptions(data_dir=tmp_path / "absent")
    assert not await server.stop(absent)
    assert not await server.reset(absent)
    assert not (tmp_path / "absent").exists()


async def test_a_folder_with_other_content_is_never_reset(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(LocalServerError, match="not a data directory of pgs_neo4j"):
        await server.reset(LocalOptions(data_dir=tmp_path))
    assert (tmp_path / "thesis.txt").exists()


async def test_a_reset_deletes_what_belongs_to_the_server_only(paths, options):
    for folder in (paths.data, paths.conf, paths.run, paths.staging):
        folder.mkdir()
    paths.password.write_text("secret")
    paths.release.write_text("2026\n")
    (paths.data_dir / "notes.txt").write_text("mine")
    assert await server.reset(options)
    left = {entry.name for entry in paths.data_dir.iterdir()}
    assert left - {paths.lock.name} == {paths.marker.name, "notes.txt"}
    assert not await server.reset(options)


def test_a_server_that_is_ready_is_attached_to(paths, options, running, monkeypatch):
    ready = Readiness("5.26.30", "2.13.9", 7)
    monkeypatch.setattr(server, "wait_until_ready", lambda *arguments: ready)
    attached = attach(paths, options)
    assert attached is not None
    assert not attached.started
    assert (attached.pid, attached.neo4j, attached.gds) == (running.pid, "5.26.30", "2.13.9")
    assert "secret" not in repr(attached)


def test_a_server_that_was_left_unready_is_marked_as_ready(paths, options, running, monkeypatch):
    unready = ServerState(running.pid, running.create_time, 7687, 512, 128, "21")
    process.write_state(paths, unready)
    ready = Readiness("5.26.30", "2.13.9", 7)
    monkeypatch.setattr(server, "wait_until_ready", lambda *arguments: ready)
    assert attach(paths, options) is None
    assert attach(paths, options, unready=True) is not None
    state = process.read_state(paths)
    assert state is not None
    assert (state.ready, state.neo4j, state.gds) == (True, "5.26.30", "2.13.9")


def test_a_server_that_does_not_answer_is_an_error(paths, options, running, monkeypatch):
    monkeypatch.setattr(server, "wait_until_ready", lambda *arguments: None)
    with pytest.raises(ServerStartError, match=f"process {running.pid}.* has not answered for 1 s"):
        attach(paths, options)


def test_a_server_that_dies_during_the_wait_is_not_attached_to(
    paths, options, running, monkeypatch
):
    monkeypatch.setattr(server, "wait_until_ready", lambda *arguments: None)
    monkeypatch.setattr(process, "is_alive", lambda running: False)
    assert attach(paths, options) is None


def test_without_a_password_there_is_nothing_to_attach_to(paths, options, running, monkeypatch):
    monkeypatch.setattr(credentials, "read_password", lambda paths: None)
    assert attach(paths, options) is None


def test_a_process_that_does_not_end_is_an_error(paths, running, monkeypatch):
    monkeypatch.setattr(process, "end", lambda running, timeout_s: False)
    with pytest.raises(LocalServerError, match="does not stop; end it by hand"):
        server.stop_locked(paths, 0.1)
