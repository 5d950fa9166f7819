"""The real fetcher against a repository on loopback."""

import gc
import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pgs_neo4j.database.local import artifacts
from pgs_neo4j.database.local.lockfile import Artifact, Lock
from pgs_neo4j.errors import ArtifactError

CONTENT = b"a jar of some size" * 5000


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Nothing is printed."""


@pytest.fixture
def repository(tmp_path):
    """A Maven repository with one jar; yields its address."""
    jar = tmp_path / "repository/org/example/thing/1.0/thing-1.0-linux.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(CONTENT)
    handler = partial(Quiet, directory=str(tmp_path / "repository"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join(30)


def fetch(name, cache, mirror, report=lambda *_: None):
    digest = hashlib.sha256(CONTENT).hexdigest()
    one = Artifact("org.example", name, "1.0", "linux", "lib", digest, len(CONTENT), "MIT")
    lock = Lock("5", "2", (one,), "e" * 64)
    return artifacts.ensure(lock, cache, on_progress=report, mirrors=(mirror,))


def test_a_jar_comes_from_the_mirror_under_its_coordinates(repository, tmp_path):
    reports = []
    folder = fetch("thing", tmp_path / "cache", repository, lambda *told: reports.append(told))
    assert (folder / "lib" / "thing-1.0-linux.jar").read_bytes() == CONTENT
    assert reports[-1] == (len(CONTENT), len(CONTENT), "thing")
    assert [path.name for path in folder.rglob("*.jar")] == ["thing-1.0-linux.jar"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # jgo leaves the refused answer unread.
def test_a_jar_that_no_mirror_has_is_named(repository, tmp_path):
    with pytest.raises(ArtifactError) as caught:
        fetch("absent", tmp_path / "cache", repository)
    message = str(caught.value)
    del caught
    gc.collect()  # The answer's socket is closed here, under the filter.
    assert message.startswith("no repository offers org.example:absent:1.0:linux; ")


def test_an_unreachable_mirror_ends_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "RETRY_PAUSE_S", 0.0)
    with pytest.raises(ArtifactError, match=r"could not be fetched .* try again"):
        fetch("thing", tmp_path / "cache", "http://127.0.0.1:9/")
