"""Keeps the pinned jars in the cache: fetched once, in parallel, checked, placed atomically.

The cache is shared by all data directories and processes; a lock lets one of them fetch.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from pgs_neo4j.errors import ArtifactError
from pgs_neo4j.local.lockfile import Artifact, Lock
from pgs_neo4j.local.locks import check, held
from pgs_neo4j.local.maven import fetch_jar

THREADS = 8
ATTEMPTS = 3
RETRY_PAUSE_S = 1.0
REPORT_EVERY_S = 0.1

OnProgress = Callable[[int, int, str], None]


class Fetcher(Protocol):
    """Downloads one artifact below a folder of its own and returns where it lies."""

    def __call__(
        self,
        artifact: Artifact,
        folder: Path,
        on_bytes: Callable[[int], None],
        mirrors: tuple[str, ...],
        cancelled: threading.Event,
    ) -> Path: ...


class Progress:
    """Counts bytes over all threads and reports a few times a second."""

    def __init__(self, total: int, report: OnProgress) -> None:
        self._lock = threading.Lock()
        self._done, self._total, self._report = 0, total, report
        self._next = 0.0

    def add(self, count: int, name: str) -> None:
        """Count bytes of ``name``; negative when a failed attempt is taken back."""
        with self._lock:
            self._done += count
            if count == 0:
                return
            now = time.monotonic()
            if now >= self._next or self._done == self._total:
                self._next = now + REPORT_EVERY_S
                self._report(self._done, self._total, name)


def folder_of(lock: Lock, cache_dir: Path) -> Path:
    """The folder whose ``lib`` and ``plugins`` hold the jars of ``lock``."""
    return cache_dir / lock.folder


def ensure(
    lock: Lock,
    cache_dir: Path,
    *,
    on_progress: OnProgress,
    mirrors: tuple[str, ...] = (),
    fetch: Fetcher = fetch_jar,
    cancelled: threading.Event | None = None,
) -> Path:
    """The folder with every jar of ``lock``, each of the pinned size and sha256.

    What is there and right is kept, so an interrupted call goes on where it stopped.
    ``on_progress`` gets bytes done, bytes in total of what was missing, and a jar's name, from
    any thread; it is not called when nothing is missing. Raises ArtifactError.
    """
    stop = cancelled or threading.Event()
    folder = folder_of(lock, cache_dir)
    if not missing_from(folder, lock.artifacts):
        return folder
    with _as_artifact_error(folder):
        for target in ("lib", "plugins"):
            (folder / target).mkdir(parents=True, exist_ok=True)
    with held(cache_dir / f"{lock.folder}.lock", "fetching the server's jars", stop):
        wanted = missing_from(folder, lock.artifacts)
        if wanted:
            _fetch_all(wanted, folder, on_progress, mirrors, fetch, stop)
    return folder


def missing_from(folder: Path, artifacts: Iterable[Artifact]) -> list[Artifact]:
    """The artifacts that are absent, or whose size or checksum is wrong; largest first."""
    listed = list(artifacts)
    with ThreadPoolExecutor(THREADS) as pool:
        right = pool.map(lambda artifact: _is_right(_place(folder, artifact), artifact), listed)
        wanted = [artifact for artifact, ok in zip(listed, right, strict=True) if not ok]
    return sorted(wanted, key=lambda artifact: -artifact.size_bytes)


def sha256_of(path: Path) -> str:
    """The hex sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _place(folder: Path, artifact: Artifact) -> Path:
    return folder / artifact.target / artifact.file_name


def _is_right(path: Path, artifact: Artifact) -> bool:
    try:
        return path.stat().st_size == artifact.size_bytes and sha256_of(path) == artifact.sha256
    except OSError:
        return False


def _fetch_all(
    wanted: list[Artifact],
    folder: Path,
    report: OnProgress,
    mirrors: tuple[str, ...],
    fetch: Fetcher,
    cancelled: threading.Event,
) -> None:
    partial = folder / ".partial"
    shutil.rmtree(partial, ignore_errors=True)  # Left by a process that died; we hold the lock.
    progress = Progress(sum(artifact.size_bytes for artifact in wanted), report)
    halt = threading.Event()

    def fetch_one(artifact: Artifact) -> None:
        check(halt, "fetching the server's jars")
        with _as_artifact_error(folder, artifact):
            partial.mkdir(exist_ok=True)
            _fetch_one(artifact, folder, partial, progress, mirrors, fetch, halt)

    try:
        with ThreadPoolExecutor(THREADS, thread_name_prefix="pgs-fetch") as pool:
            _all_or_first_error([pool.submit(fetch_one, each) for each in wanted], halt, cancelled)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    check(cancelled, "fetching the server's jars")


def _all_or_first_error(
    futures: list[Future[None]], halt: threading.Event, cancelled: threading.Event
) -> None:
    pending = set(futures)
    first: BaseException | None = None
    while pending:
        done, pending = wait(pending, timeout=0.25, return_when=FIRST_EXCEPTION)
        first = first or next((error for each in done if (error := each.exception())), None)
        if first or cancelled.is_set():
            halt.set()
    if first and not cancelled.is_set():
        raise first


def _fetch_one(
    artifact: Artifact,
    folder: Path,
    partial: Path,
    progress: Progress,
    mirrors: tuple[str, ...],
    fetch: Fetcher,
    halt: threading.Event,
) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        counted = 0

        def count(size: int) -> None:
            nonlocal counted
            counted += size
            progress.add(size, artifact.name)

        with tempfile.TemporaryDirectory(dir=partial, ignore_cleanup_errors=True) as scratch:
            try:
                jar = fetch(artifact, Path(scratch), count, mirrors, halt)
                _refuse_wrong(jar, artifact)
                jar.replace(_place(folder, artifact))
            except OSError as error:
                progress.add(-counted, artifact.name)
                if _is_disk(error) or attempt == ATTEMPTS:
                    raise
                halt.wait(attempt * RETRY_PAUSE_S)
                check(halt, f"fetching {artifact.name}")
                continue
        progress.add(artifact.size_bytes - counted, artifact.name)
        return


def _refuse_wrong(jar: Path, artifact: Artifact) -> None:
    found = sha256_of(jar)
    if found != artifact.sha256:
        raise ArtifactError(
            f"{artifact.coordinate} was delivered with sha256 {found[:12]}… instead of "
            f"{artifact.sha256[:12]}… and was thrown away; try again, or check your mirror"
        )


def _is_disk(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def _as_artifact_error(folder: Path, artifact: Artifact | None = None) -> Iterator[None]:
    """Network errors of jgo are OSErrors too; they carry no errno of the disk."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = f"the disk of {folder} is full; free some space and try again"
        elif artifact is None or _is_disk(error):
            reason = f"{folder} cannot be written ({error.strerror}); set PGS_LOCAL_CACHE_DIR"
        else:
            reason = (
                f"{artifact.coordinate} could not be fetched ({type(error).__name__}); "
                "check the network or name a mirror in PGS_LOCAL_MIRRORS, then try again"
            )
        raise ArtifactError(reason) from error
