"""Waiting for a server: polls until it is ready, dead, cancelled, or late."""

import socket
import subprocess
import sys
import threading
from unittest.mock import MagicMock

import psutil
import pytest
from neo4j import GraphDatabase
from neo4j import exceptions as driver_errors

from pgs_neo4j.database.local import process, readiness
from pgs_neo4j.database.local.readiness import wait_until_ready
from pgs_neo4j.database.probe import Readiness, probe_server
from pgs_neo4j.errors import (
    DatabaseAuthError,
    DatabaseHaltedError,
    LocalServerError,
    ServerStartError,
)

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

    monkeypatch.setattr(readiness, "probe_server", probe)
    monkeypatch.setattr(readiness, "POLL_S", 0.0)
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
        assert readiness.probe(port, "secret", running) is None
        assert wait_until_ready(port, "secret", 0.3, running, threading.Event()) is None
        with socket.create_server(("127.0.0.2", 0)) as elsewhere:
            assert not process.listens(psutil.Process(), elsewhere.getsockname()[1])
        with pytest.raises(BlockingIOError):
            thief.accept()
        starting.kill()
    assert not process.listens(running, port)
