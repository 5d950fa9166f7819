"""The server process: identified for certain, detached, and ended by its id."""

import os
import socket
import stat
import subprocess
import sys
from dataclasses import replace

import psutil
import pytest

from pgs_neo4j.database.local import process, runtime
from pgs_neo4j.database.local.process import ServerState
from pgs_neo4j.errors import ServerStartError


@pytest.fixture
def sleeper(paths):
    """A process whose command line carries the marker, and its state."""
    script = "import time; print('up', flush=True); time.sleep(120)"
    command = [sys.executable, "-c", script, process.marker_of(paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        running = psutil.Process(child.pid)
        state = ServerState(child.pid, running.create_time(), 7687, 512, 128, "21 (PATH)")
        yield child, state
        child.kill()


def test_only_the_recorded_process_is_recognized(paths, sleeper, monkeypatch):
    child, state = sleeper
    process.write_state(paths, state)
    assert process.find_live(paths) == (state, psutil.Process(child.pid))
    earlier = replace(state, create_time=state.create_time - 3600)  # its id was another's
    process.write_state(paths, earlier)
    assert process.find_live(paths) is None
    process.write_state(paths, state)
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 4242)
    assert process.find_live(paths) is None


def test_a_pid_reused_by_another_program_is_another_process(paths):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"]) as child:
        started = psutil.Process(child.pid).create_time()
        process.write_state(paths, ServerState(child.pid, started, 7687, 512, 128, "21"))
        server = process.find_live(paths)
        child.kill()
    assert server is None


def test_a_dead_or_zombie_process_is_not_running(paths, sleeper):
    child, state = sleeper
    process.write_state(paths, state)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # Dead and not reaped: a zombie.
    assert process.end(psutil.Process(child.pid), 10.0)
    assert process.find_live(paths) is None
    child.wait(30)
    assert process.find_live(paths) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '"x"', "\x00"])
def test_a_damaged_state_file_counts_as_none(paths, text):
    paths.state.write_text(text)
    assert process.read_state(paths) is None
    assert process.find_live(paths) is None


def test_a_spawned_process_is_detached_and_ends_when_asked(paths, monkeypatch):
    monkeypatch.setenv("PGS_LLM_API_KEY", "secret-key")
    script = "import os, time; print(sorted(os.environ), flush=True); time.sleep(120)"
    spawned = process.spawn([sys.executable, "-c", script], paths)
    assert spawned is not None
    running, _ = spawned
    try:
        assert process.is_alive(running)
        assert running.ppid() != psutil.Process().pid
    finally:
        stopped_by_itself = process.end(running, 20.0)
    assert stopped_by_itself
    assert not process.is_alive(running)
    assert "PGS_LLM_API_KEY" not in paths.console.read_text()
    assert stat.S_IMODE(paths.console.stat().st_mode) == 0o600


def test_a_process_that_ignores_the_request_is_killed(paths):
    script = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('deaf', flush=True); time.sleep(120)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert not process.end(psutil.Process(child.pid), 0.2)
        assert child.wait(30) < 0
    assert paths.marker.exists()


def test_a_pinned_port_that_is_taken_is_refused_and_others_are_replaced():
    with socket.socket() as taken:
        taken.bind((runtime.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerStartError, match=f"port {port} is taken"):
            process.choose_port(port, None)
        assert process.choose_port(None, port) != port
    assert process.choose_port(port, None) == port
    assert process.choose_port(None, port) == port
