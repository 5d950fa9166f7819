import errno
import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pgs_neo4j.database.local import artifacts
from pgs_neo4j.database.local.lockfile import Artifact, Lock
from pgs_neo4j.errors import ArtifactError, LocalServerError

CONTENTS = {f"jar{i}": bytes([i]) * (100 + i) for i in range(12)}


def make_lock() -> Lock:
    listed = tuple(
        Artifact(
            group="g",
            name=name,
            version="1",
            classifier="",
            target="plugins" if index % 3 == 0 else "lib",
            sha256=hashlib.sha256(content).hexdigest(),
            size_bytes=len(content),
            license="MIT",
        )
        for index, (name, content) in enumerate(CONTENTS.items())
    )
    return Lock("5", "2", listed, "d" * 64)


class FakeRepository:
    """Serves CONTENTS; ``wrong`` names get other bytes, ``faults`` are raised once each."""

    def __init__(self, wrong=(), faults=None):
        self.wrong, self.faults = set(wrong), dict(faults or {})
        self.fetched: list[str] = []

    def __call__(self, artifact, folder, on_bytes, mirrors, cancelled):
        del mirrors, cancelled
        self.fetched.append(artifact.name)
        content = CONTENTS[artifact.name]
        if artifact.name in self.wrong:
            content = b"x" * len(content)
        path = Path(folder) / "deep" / "some.jar"
        path.parent.mkdir()
        path.write_bytes(content[:50])
        on_bytes(50)
        if artifact.name in self.faults:
            raise self.faults.pop(artifact.name)
        path.write_bytes(content)
        on_bytes(len(content) - 50)
        return path


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(artifacts, "REPORT_EVERY_S", 0.0)
    monkeypatch.setattr(artifacts, "RETRY_PAUSE_S", 0.0)


def ensure(tmp_path, repository, report=None, **more):
    return artifacts.ensure(
        make_lock(), tmp_path, on_progress=report or (lambda *_: None), fetch=repository, **more
    )


def placed(folder):
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*.jar")
        if ".partial" not in str(path)
    }


def test_every_jar_is_placed_with_progress_and_not_fetched_again(tmp_path):
    reports = []
    folder = ensure(tmp_path, FakeRepository(), lambda *report: reports.append(report))
    assert placed(folder) == {f"{name}-1.jar": content for name, content in CONTENTS.items()}
    total = sum(map(len, CONTENTS.values()))
    assert reports[-1][:2] == (total, total)
    done = [done for done, _, _ in reports]
    assert done == sorted(done)
    assert not (folder / ".partial").exists()
    reports.clear()
    ensure(tmp_path, again := FakeRepository(), lambda *report: reports.append(report))
    assert again.fetched == reports == []


def test_a_damaged_jar_is_fetched_again(tmp_path):
    folder = ensure(tmp_path, FakeRepository())
    (folder / "lib" / "jar1-1.jar").write_bytes(b"z" * 101)
    again = FakeRepository()
    ensure(tmp_path, again)
    assert again.fetched == ["jar1"]
    assert placed(folder)["jar1-1.jar"] == CONTENTS["jar1"]


def test_a_wrong_checksum_is_refused_and_the_next_call_fetches_the_rest(tmp_path):
    with pytest.raises(ArtifactError, match=r"g:jar5:1 .* discarded"):
        ensure(tmp_path, FakeRepository(wrong=["jar5"]))
    kept = {
        name.removesuffix("-1.jar") for name in placed(artifacts.folder_of(make_lock(), tmp_path))
    }
    assert "jar5" not in kept
    ensure(tmp_path, retry := FakeRepository())
    assert {*retry.fetched} == {*CONTENTS} - kept


def test_an_interrupted_transfer_is_tried_again(tmp_path):
    repository = FakeRepository(faults={"jar2": OSError("connection reset")})
    reports = []
    folder = ensure(tmp_path, repository, lambda *report: reports.append(report))
    assert repository.fetched.count("jar2") == 2
    assert len(placed(folder)) == len(CONTENTS)
    assert reports[-1][0] == reports[-1][1]


def test_a_full_disk_ends_in_one_sentence_without_a_second_try(tmp_path):
    full = OSError(errno.ENOSPC, "No space left on device")
    repository = FakeRepository(faults={"jar3": full})
    with pytest.raises(ArtifactError, match=r"disk of .* is full; free some space"):
        ensure(tmp_path, repository)
    assert repository.fetched.count("jar3") == 1


def test_a_disk_that_fills_while_placing_leaves_no_broken_jar(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(ArtifactError, match="is full"):
            ensure(tmp_path, FakeRepository())
    assert placed(artifacts.folder_of(make_lock(), tmp_path)) == {}
    assert len(placed(ensure(tmp_path, FakeRepository()))) == len(CONTENTS)


def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ArtifactError, match="PGS_LOCAL_CACHE_DIR"):
        ensure(tmp_path / "file", FakeRepository())


def test_parallel_callers_fetch_each_jar_once(tmp_path):
    repository = FakeRepository()
    with ThreadPoolExecutor() as pool:
        [*pool.map(lambda _: ensure(tmp_path, repository), range(4))]
    assert sorted(repository.fetched) == sorted(CONTENTS)


def test_a_cancelled_fetch_stops(tmp_path):
    cancelled = threading.Event()

    class Slow(FakeRepository):
        def __call__(self, artifact, folder, on_bytes, mirrors, cancelled_inside):
            if len(self.fetched) >= 3:
                cancelled.set()
                assert cancelled_inside.wait(30), "the fetch was not told to stop"
            return super().__call__(artifact, folder, on_bytes, mirrors, cancelled_inside)

    with pytest.raises(LocalServerError, match="interrupted"):
        ensure(tmp_path, slow := Slow(), cancelled=cancelled)
    assert len(slow.fetched) < len(CONTENTS)
