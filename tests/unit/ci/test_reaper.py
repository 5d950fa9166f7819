"""What a killed test process leaves behind is ended, and nothing else is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pgs_neo4j.database.local.options import MARKER
from tests import reaper
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]
SLEEP = "import time; time.sleep(120)"
# Stands in for a worker of pytest: it starts a command, and a local server that knows nothing of
# the worker's environment, in a session of its own.
WORKER = f"""
import json, os, subprocess, sys
from pathlib import Path
from tests import reaper

folder = Path(sys.argv[1])
with reaper.reaping(folder):
    command = subprocess.Popen([sys.executable, "-c", {SLEEP!r}])
    server = subprocess.Popen(
        [sys.executable, "-c", {SLEEP!r}, f"-Dpgs.data.dir={{folder}}/neo4j"],
        env={{}}, start_new_session=True,
    )
    print(json.dumps([command.pid, server.pid]), flush=True)
    if sys.stdin.read() == "end":
        for each in (command, server):
            each.kill()
            each.wait()
"""


def start_worker(folder: Path) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert worker.stdout is not None
    return worker, [psutil.Process(pid) for pid in json.loads(worker.stdout.readline())]


@pytest.fixture
def stranger(tmp_path: Path):
    """A process that runs in the same place, and belongs to nobody's tests."""
    with subprocess.Popen([sys.executable, "-c", SLEEP, str(tmp_path)], env={}) as process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    "ending", [pytest.param(signal.SIGTERM, marks=pytest.mark.thorough), signal.SIGKILL]
)
def test_a_killed_worker_takes_its_commands_servers_and_databases_along(
    tmp_path: Path, stranger: subprocess.Popen[bytes], ending: signal.Signals
) -> None:
    database = tmp_path / "neo4j"
    database.mkdir()
    (database / MARKER).touch()
    worker, started = start_worker(tmp_path)
    assert all(each.is_running() for each in started)
    worker.send_signal(ending)
    worker.communicate()
    wait_until(lambda: not any(each.is_running() for each in started))
    wait_until(lambda: not database.exists())
    assert stranger.poll() is None


@pytest.mark.thorough
def test_a_worker_that_is_killed_while_it_waits_for_them_takes_them_along(tmp_path: Path) -> None:
    worker, started = start_worker(tmp_path)
    with pytest.raises(subprocess.TimeoutExpired):
        worker.communicate("leave", timeout=2)
    assert all(each.is_running() for each in started)
    worker.kill()
    worker.wait()
    wait_until(lambda: not any(each.is_running() for each in started))
    worker.communicate()


def test_a_worker_that_ends_by_itself_is_not_waited_for(tmp_path: Path) -> None:
    worker, started = start_worker(tmp_path)
    worker.communicate("end")
    assert worker.returncode == 0
    assert not any(each.is_running() for each in started)


def test_a_process_that_tests_forgot_fails_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper, "ENDING_S", 0.0)
    monkeypatch.setenv(reaper.VARIABLE, "")  # restores that of this run
    failing = pytest.raises(AssertionError, match="left processes behind")
    with failing, reaper.reaping(tmp_path):
        forgotten = subprocess.Popen([sys.executable, "-c", SLEEP])
    assert forgotten.wait() == -signal.SIGKILL


def test_a_worker_that_outlives_pytest_deletes_its_databases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(reaper.VARIABLE, "")
    with reaper.reaping(tmp_path):
        (tmp_path / MARKER).touch()
        monkeypatch.setattr(os, "getppid", lambda: 1)
    assert not tmp_path.exists()
