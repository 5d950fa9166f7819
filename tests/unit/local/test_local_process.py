import os
import socket
import stat
import subprocess
import sys
from dataclasses import replace

import psutil
import pytest

from pgs_neo4j.errors import ServerStartError
from pgs_neo4j.local import config_files, credentials, logs, process
from pgs_neo4j.local.memory import Memory
from pgs_neo4j.local.options import LocalOptions, claim, paths_of
from pgs_neo4j.local.process import ServerState


@pytest.fixture
def paths(tmp_path):
    found = paths_of(LocalOptions(data_dir=tmp_path / "data"))
    claim(found)
    found.logs.mkdir()
    return found


@pytest.fixture
def sleeper(paths):
    """A process of ours whose command line carries the marker, and its state."""
    script = "import time; print('up', flush=True); time.sleep(120)"
    command = [sys.executable, "-c", script, process.marker_of(paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        running = psutil.Process(child.pid)
        state = ServerState(child.pid, running.create_time(), 7687, 512, 128, "21 (PATH)")
        yield child, state
        child.kill()


def test_the_recorded_process_is_recognised(paths, sleeper):
    _, state = sleeper
    process.write_state(paths, state)
    found = process.live(paths)
    assert found is not None
    assert found[0] == state


def test_a_pid_reused_later_is_not_ours(paths, sleeper):
    _, state = sleeper
    process.write_state(paths, replace(state, create_time=state.create_time - 3600))
    assert process.live(paths) is None


def test_a_pid_reused_by_another_program_is_not_ours(paths):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"]) as child:
        started = psutil.Process(child.pid).create_time()
        process.write_state(paths, ServerState(child.pid, started, 7687, 512, 128, "21"))
        found = process.live(paths)
        child.kill()
    assert found is None


def test_a_dead_or_zombie_process_is_not_running(paths, sleeper):
    child, state = sleeper
    process.write_state(paths, state)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # Dead and not reaped: a zombie.
    assert process.end(psutil.Process(child.pid), 10.0)
    assert process.live(paths) is None
    child.wait(30)
    assert process.live(paths) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '"x"', "\x00"])
def test_a_damaged_state_file_counts_as_none(paths, text):
    paths.state.write_text(text)
    assert process.read_state(paths) is None
    assert process.live(paths) is None


def test_a_spawned_process_is_detached_and_ends_when_asked(paths, monkeypatch):
    monkeypatch.setenv("PGS_LLM_API_KEY", "secret-key")
    script = "import os, time; print(sorted(os.environ), flush=True); time.sleep(120)"
    spawned = process.spawn([sys.executable, "-c", script], paths)
    assert spawned is not None
    running, _ = spawned
    try:
        assert process.alive(running)
        assert running.ppid() != psutil.Process().pid
    finally:
        stopped_by_itself = process.end(running, 20.0)
    assert stopped_by_itself
    assert not process.alive(running)
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
        taken.bind((config_files.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerStartError, match=f"port {port} is taken"):
            process.choose_port(port, None)
        assert process.choose_port(None, port) != port
    assert process.choose_port(port, None) == port
    assert process.choose_port(None, port) == port


def test_the_configuration_is_loopback_only():
    lines = config_files.neo4j_conf(17687, Memory(700, 200)).splitlines()
    settings = dict(line.split("=", 1) for line in lines)
    assert settings["server.bolt.listen_address"] == "127.0.0.1:17687"
    assert settings["server.http.enabled"] == settings["server.https.enabled"] == "false"
    assert settings["dbms.usage_report.enabled"] == "false"
    assert settings["server.memory.pagecache.size"] == "200m"
    assert settings["dbms.security.procedures.unrestricted"] == "gds.*"
    assert all(value.startswith("127.0.0.1") for name, value in settings.items() if "addr" in name)


@pytest.mark.parametrize(("heap_mb", "collector"), [(700, "Serial"), (4096, "Parallel")])
def test_the_command_names_heap_collector_and_marker(paths, tmp_path, heap_mb, collector):
    command = config_files.server_command(
        tmp_path / "java", tmp_path / "jars", paths, Memory(heap_mb, 200), "-Dmarker=1"
    )
    assert command[0] == str(tmp_path / "java")
    assert f"-Xmx{heap_mb}m" in command
    assert f"-XX:+Use{collector}GC" in command
    assert "-Dmarker=1" in command
    assert command[command.index("-cp") + 1] == f"{tmp_path}/jars/plugins/*:{tmp_path}/jars/lib/*"
    assert command[-2:] == [f"--home-dir={paths.data_dir}", f"--config-dir={paths.conf}"]


def test_the_password_is_private_and_never_on_a_command_line(paths, tmp_path):
    seen = tmp_path / "seen"
    program = tmp_path / "java"
    program.write_text(
        f'#!/bin/sh\nfor a; do last="$a"; done\necho "$*" > {seen}\ncat "${{last#@}}" >> {seen}\n'
    )
    program.chmod(0o755)
    password = credentials.ensure_password(paths, program, tmp_path)
    assert stat.S_IMODE(paths.password.stat().st_mode) == 0o600
    command, arguments = seen.read_text().splitlines()
    assert password not in command
    assert arguments == f'dbms set-initial-password "{password}"'
    (paths.data / "databases" / "system").mkdir(parents=True)
    seen.unlink()
    assert credentials.ensure_password(paths, program, tmp_path) == password
    assert not seen.exists()


def test_a_password_cannot_be_taken_for_an_option(paths, tmp_path):
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    made = set()
    for _ in range(20):
        made.add(credentials.ensure_password(paths, program, tmp_path))
        paths.password.unlink()
    assert len(made) == 20
    assert all(password.isalnum() and len(password) >= 32 for password in made)


def test_a_lost_password_is_said(paths, tmp_path):
    (paths.data / "databases" / "system").mkdir(parents=True)
    with pytest.raises(ServerStartError, match=r"password file .* is missing"):
        credentials.ensure_password(paths, tmp_path / "java", tmp_path)


def test_a_refused_first_password_does_not_leak(paths, tmp_path):
    program = tmp_path / "java"
    program.write_text('#!/bin/sh\nfor a; do last="$a"; done\ncat "${last#@}" >&2\nexit 1\n')
    program.chmod(0o755)
    with pytest.raises(ServerStartError, match="did not take its first password") as caught:
        credentials.ensure_password(paths, program, tmp_path)
    password = credentials.read_password(paths)
    assert password
    assert password not in str(caught.value)


def test_the_log_is_quoted_by_its_telling_lines(paths):
    paths.server_log.write_text("2026 ERROR of an earlier start\n")
    since = logs.size_of(paths.server_log)
    paths.console.write_text("noise\nError: no room\n\tat x.y(z)\nCaused by: disk\nmore noise\n")
    with paths.server_log.open("a") as stream:
        stream.write("2026 INFO fine\nCaused by: bind failed\n")
    said = logs.why_it_failed(paths, since)
    assert said == "Error: no room | at x.y(z) | Caused by: disk | Caused by: bind failed"
    assert "earlier start" not in said


def test_the_tail_of_absent_and_short_logs(paths):
    options = LocalOptions(data_dir=paths.data_dir)
    assert logs.log_tail(options) == []
    paths.console.write_text("one\ntwo\nthree\n")
    assert logs.log_tail(options, 2) == ["two", "three"]
    paths.server_log.write_text("the server's own\n")
    assert logs.log_tail(options, 2) == ["the server's own"]
