"""Starting a server without Neo4j: its home, its jars, its readiness, and failures."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from unittest.mock import MagicMock

import psutil
import pytest
from neo4j import GraphDatabase
from neo4j import exceptions as driver_errors

from pgs_neo4j.database.local import artifacts, credentials, launch, process, runtime
from pgs_neo4j.database.local.launch import wait_until_ready
from pgs_neo4j.database.local.lockfile import RELEASES
from pgs_neo4j.database.local.options import LocalOptions, read_release
from pgs_neo4j.database.local.runtime import Java
from pgs_neo4j.database.probe import Readiness, probe_server
from pgs_neo4j.errors import (
    DatabaseAuthError,
    DatabaseHaltedError,
    LocalServerError,
    ServerStartError,
)
from pgs_neo4j.events import Progressed, StepStarted

LTS = RELEASES["5.26"]
SLEEPER = [sys.executable, "-c", "import time; time.sleep(120)"]


@pytest.fixture
def options(paths):
    return LocalOptions(data_dir=paths.data_dir, heap_mb=512, page_cache_mb=64)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A Java, jars, and a password, all at hand."""
    (tmp_path / "jars" / "plugins").mkdir(parents=True)
    found = Java(tmp_path / "java", 21, "PATH")
    monkeypatch.setattr(runtime, "find_java", lambda java_home, supported: found)
    monkeypatch.setattr(artifacts, "ensure", lambda lock, cache, **_: tmp_path / "jars")
    monkeypatch.setattr(credentials, "ensure_password", lambda paths, java, jars, renew: "secret")
    return tmp_path


def start(paths, options):
    events: list = []
    try:
        return launch.start(paths, options, events.append, threading.Event())
    finally:
        assert StepStarted("connect", "start the local server") in events


def test_fetching_is_announced_once_and_only_if_something_is_missing(
    paths, options, monkeypatch, tmp_path
):
    def ensure(lock, cache, *, on_progress, mirrors, cancelled):
        on_progress(1, 2, "a")
        on_progress(2, 2, "b")
        return tmp_path

    events: list = []
    monkeypatch.setattr(artifacts, "ensure", ensure)
    assert launch.fetch(LTS, paths, options, events.append, threading.Event()) == tmp_path
    assert isinstance(events[0], StepStarted)
    assert events[1:] == [
        Progressed("connect", 1, 2, "bytes"),
        Progressed("connect", 2, 2, "bytes"),
    ]


def test_a_server_that_is_never_ready_is_ended(paths, options, machine, monkeypatch):
    monkeypatch.setattr(runtime, "server_command", lambda *_: SLEEPER)
    monkeypatch.setattr(launch, "wait_until_ready", lambda *_: None)
    with pytest.raises(ServerStartError, match="did not answer within 120 s"):
        start(paths, options)
    state = process.read_state(paths)
    assert state is not None
    assert (state.heap_mb, state.page_cache_mb, state.java) == (512, 64, "21 (PATH)")
    assert not state.ready
    assert process.find_live(paths) is None


def test_a_release_starts_with_its_own_jars_java_and_class(paths, machine, monkeypatch):
    sought: list = []
    found = Java(machine / "java", 25, "PATH")

    def find_java(home, supported):
        sought.append(supported)
        return found

    def ensure(lock, cache, **_):
        sought.append(lock.neo4j)
        return machine / "jars"

    monkeypatch.setattr(runtime, "find_java", find_java)
    monkeypatch.setattr(artifacts, "ensure", ensure)
    monkeypatch.setattr(process, "spawn", lambda command, paths: sought.append(command))
    with pytest.raises(ServerStartError):
        start(paths, LocalOptions(data_dir=paths.data_dir, release="2026"))
    assert sought[:2] == [(21, 25), "2026.08.1"]
    assert "org.neo4j.server.Neo4jCommunity" in sought[2]
    assert read_release(paths) == "2026"


READY = Readiness(neo4j="5.26.30", gds="2.13.9", nodes=0)


@pytest.fixture
def answers(monkeypatch):
    """What each poll gets; the last answer repeats. Errors are raised."""
    queue: list = []
    calls: list = []

    def probe(uri: str, user: str, password: str):
        calls.append((uri, user, password))
        answer = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(launch, "probe_server", probe)
    monkeypatch.setattr(launch, "POLL_S", 0.0)
    return queue, calls


def wait(timeout_s: float = 30.0, alive: bool = True, cancelled: bool = False):
    event = threading.Event()
    if cancelled:
        event.set()
    running = psutil.Process()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "is_alive", lambda running: alive)
        patch.setattr(process, "listens", lambda running, port: True)
        return wait_until_ready(7687, "secret", timeout_s, running, event)


def test_polls_until_the_server_is_ready(answers):
    queue, calls = answers
    queue += [None, None, READY]
    assert wait() == READY
    assert calls == [("bolt://127.0.0.1:7687", "neo4j", "secret")] * 3


def test_a_dead_process_a_limit_or_the_caller_ends_the_wait(answers):
    queue, calls = answers
    queue.append(None)
    assert wait(alive=False) is None
    assert len(calls) == 1
    assert wait(timeout_s=0.0) is wait(timeout_s=0.05) is None
    calls.clear()
    with pytest.raises(LocalServerError, match="interrupted while waiting for the local server"):
        wait(cancelled=True)
    assert calls == []


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DatabaseAuthError("refused"), "refuses its stored password"),
        (DatabaseHaltedError("stopped"), r"such as a full disk; make room, run `pgs local st"),
    ],
)
def test_an_error_that_stays_ends_the_wait(answers, error, told):
    queue, calls = answers
    queue.append(error)
    with pytest.raises(ServerStartError, match=told) as caught:
        wait()
    assert len(calls) == 1
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("halted", [True, False])
def test_a_probe_tells_a_database_that_stopped_from_one_that_begins(monkeypatch, halted):
    said = "The database has encountered a critical error, and" if halted else "Not yet."
    code = "Neo.DatabaseError.Transaction.TransactionStartFailed"
    session = MagicMock()
    session.run.side_effect = driver_errors.Neo4jError._hydrate_neo4j(code=code, message=said)
    driver = MagicMock()
    driver.__enter__.return_value.session.return_value.__enter__.return_value = session
    monkeypatch.setattr(GraphDatabase, "driver", lambda *args, **given: driver)
    monkeypatch.setattr(socket, "create_connection", MagicMock())
    if halted:
        with pytest.raises(DatabaseHaltedError):
            probe_server("bolt://127.0.0.1:7687", "neo4j", "secret")
    else:
        assert probe_server("bolt://127.0.0.1:7687", "neo4j", "secret") is None


@pytest.mark.parametrize("open_", [False, True])
def test_a_port_that_is_closed_or_hangs_up_is_not_ready(open_):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if not open_:
            server.close()

        def hang_up() -> None:
            for _ in range(2):
                server.accept()[0].close()

        if open_:
            threading.Thread(target=hang_up, daemon=True).start()
        assert probe_server(f"bolt://127.0.0.1:{port}", "neo4j", "secret") is None


def test_no_password_goes_to_another_program_on_the_port():
    """While the server starts, this test listens on its port in its place."""
    with (
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as starting,
        socket.create_server(("127.0.0.1", 0)) as thief,
    ):
        thief.settimeout(0.0)
        port = thief.getsockname()[1]
        running = psutil.Process(starting.pid)
        assert process.listens(psutil.Process(), port)
        assert not process.listens(running, port)
        assert launch.probe(port, "secret", running) is None
        assert wait_until_ready(port, "secret", 0.3, running, threading.Event()) is None
        with socket.create_server(("127.0.0.2", 0)) as elsewhere:
            assert not process.listens(psutil.Process(), elsewhere.getsockname()[1])
        with pytest.raises(BlockingIOError):
            thief.accept()
        starting.kill()
    assert not process.listens(running, port)
