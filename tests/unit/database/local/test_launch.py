"""Starting a server without Neo4j: its home, its jars, and failures."""

import sys
import threading

import pytest

from pgs_neo4j.database.local import artifacts, config_files, credentials, java, launch, process
from pgs_neo4j.database.local.java import Java
from pgs_neo4j.database.local.lockfile import RELEASES
from pgs_neo4j.database.local.options import LocalOptions, read_release
from pgs_neo4j.errors import ServerStartError
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
    runtime = Java(tmp_path / "java", 21, "PATH")
    monkeypatch.setattr(java, "find_java", lambda java_home, supported: runtime)
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
    monkeypatch.setattr(config_files, "server_command", lambda *_: SLEEPER)
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
    runtime = Java(machine / "java", 25, "PATH")

    def find_java(home, supported):
        sought.append(supported)
        return runtime

    def ensure(lock, cache, **_):
        sought.append(lock.neo4j)
        return machine / "jars"

    monkeypatch.setattr(java, "find_java", find_java)
    monkeypatch.setattr(artifacts, "ensure", ensure)
    monkeypatch.setattr(process, "spawn", lambda command, paths: sought.append(command))
    with pytest.raises(ServerStartError):
        start(paths, LocalOptions(data_dir=paths.data_dir, release="2026"))
    assert sought[:2] == [(21, 25), "2026.08.1"]
    assert "org.neo4j.server.Neo4jCommunity" in sought[2]
    assert read_release(paths) == "2026"
