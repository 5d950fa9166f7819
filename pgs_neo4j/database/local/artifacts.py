"""Fetches the pinned jars into the cache, in parallel, and checks their checksums.

All data directories and processes share the cache. A lock lets only one process fetch at a time.
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

from pgs_neo4j.database.local.blocking import hold_lock, raise_if_cancelled
from pgs_neo4j.database.local.lockfile import Artifact, Lock
from pgs_neo4j.database.local.options import missing_extra
from pgs_neo4j.errors import ArtifactError

THREADS = 8
ATTEMPTS = 3
RETRY_PAUSE_S = 1.0
REPORT_EVERY_S = 0.1
SOCKET_TIMEOUT_S = 30

OnBytes = Callable[[int], None]
OnProgress = Callable[[int, int, str], None]


def fetch_jar(
    artifact: Artifact,
    folder: Path,
    on_bytes: OnBytes,
    mirrors: tuple[str, ...],
    cancelled: threading.Event,
) -> Path:
    """Download an artifact below ``folder`` and return its path. No other call may use the folder.

    ``on_bytes`` receives the size of each chunk. The caller must check the content. Raises
    ArtifactError, or OSError if the disk or the network fails.
    """
    try:
        from jgo.maven import MavenContext, PythonResolver
    except ImportError as error:
        raise missing_extra(error) from error

    @contextmanager
    def progress(name: str, total: int) -> Iterator[OnBytes]:
        def advance(count: int) -> None:
            raise_if_cancelled(cancelled, f"fetching {name} ({total} bytes)")
            on_bytes(count)

        yield advance

    context = MavenContext(
        resolver=PythonResolver(progress_callback=progress),
        repo_cache=folder,
        remote_repos={f"mirror{i}": url.rstrip("/") for i, url in enumerate(mirrors)} or None,
        timeout=SOCKET_TIMEOUT_S,
    )
    component = context.project(artifact.group, artifact.name).at_version(artifact.version)
    try:
        jar = component.artifact(classifier=artifact.classifier).resolve()
    except RuntimeError as error:  # jgo raises this if no repository has the file.
        raise ArtifactError(
            f"no repository offers {artifact.coordinate}; "
            "check the network, or set PGS_LOCAL_MIRRORS to a mirror"
        ) from error
    return Path(jar)


class Fetcher(Protocol):
    """Downloads one artifact into its own folder and returns its path."""

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
        """Count bytes of the jar ``name``; a negative count subtracts a failed attempt."""
        with self._lock:
            self._done += count
            if count == 0:
                return
            now = time.monotonic()
            if now >= self._next or self._done == self._total:
                self._next = now + REPORT_EVERY_S
                self._report(self._done, self._total, name)


def folder_of(lock: Lock, cache_dir: Path) -> Path:
    """Return the cache folder of a lock. Its jars are in the subfolders ``lib`` and ``plugins``."""
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
    """Fetch the missing jars of ``lock`` and return the folder with all of its jars.

    On return, every jar has the pinned size and sha256. Correct files stay, so the next call
    continues an interrupted one. ``on_progress`` receives the bytes done, the total bytes to fetch,
    and a jar's name. It may be called from any thread, and is not called if no jar is missing.
    Raises ArtifactError.
    """
    stop = cancelled or threading.Event()
    folder = folder_of(lock, cache_dir)
    if not find_missing(folder, lock.artifacts):
        return folder
    with _translate_disk_errors(folder):
        for target in ("lib", "plugins"):
            (folder / target).mkdir(parents=True, exist_ok=True)
    with hold_lock(cache_dir / f"{lock.folder}.lock", "fetching the server's jars", stop):
        missing = find_missing(folder, lock.artifacts)
        if missing:
            _fetch_all(missing, folder, on_progress, mirrors, fetch, stop)
    return folder


def find_missing(folder: Path, artifacts: Iterable[Artifact]) -> list[Artifact]:
    """Return artifacts that are absent or have a wrong size or checksum, largest first."""
    pinned = list(artifacts)
    with ThreadPoolExecutor(THREADS) as pool:
        valid = pool.map(lambda artifact: _is_valid(_path_of(folder, artifact), artifact), pinned)
        missing = [artifact for artifact, ok in zip(pinned, valid, strict=True) if not ok]
    return sorted(missing, key=lambda artifact: -artifact.size_bytes)


def sha256_of(path: Path) -> str:
    """Return the hex sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _path_of(folder: Path, artifact: Artifact) -> Path:
    return folder / artifact.target / artifact.file_name


def _is_valid(path: Path, artifact: Artifact) -> bool:
    try:
        return path.stat().st_size == artifact.size_bytes and sha256_of(path) == artifact.sha256
    except OSError:
        return False


def _fetch_all(
    missing: list[Artifact],
    folder: Path,
    report: OnProgress,
    mirrors: tuple[str, ...],
    fetch: Fetcher,
    cancelled: threading.Event,
) -> None:
    partial = folder / ".partial"
    # A process that died may have left this folder. No living process uses it while this process
    # holds the lock.
    shutil.rmtree(partial, ignore_errors=True)
    progress = Progress(sum(artifact.size_bytes for artifact in missing), report)
    halt = threading.Event()

    def fetch_one(artifact: Artifact) -> None:
        raise_if_cancelled(halt, "fetching the server's jars")
        with _translate_disk_errors(folder, artifact):
            partial.mkdir(exist_ok=True)
            _fetch_one(artifact, folder, partial, progress, mirrors, fetch, halt)

    try:
        with ThreadPoolExecutor(THREADS, thread_name_prefix="pgs-fetch") as pool:
            jobs = [pool.submit(fetch_one, artifact) for artifact in missing]
            _wait_for_all(jobs, halt, cancelled)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    raise_if_cancelled(cancelled, "fetching the server's jars")


def _wait_for_all(
    futures: list[Future[None]], halt: threading.Event, cancelled: threading.Event
) -> None:
    """Wait for all futures. On cancellation or the first error, set ``halt`` to stop them.

    Raises the first error, but not after a cancellation.
    """
    pending = set(futures)
    first: BaseException | None = None
    while pending:
        done, pending = wait(pending, timeout=0.25, return_when=FIRST_EXCEPTION)
        first = first or next((error for future in done if (error := future.exception())), None)
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
                _check_digest(jar, artifact)
                jar.replace(_path_of(folder, artifact))
            except OSError as error:
                progress.add(-counted, artifact.name)
                if _is_disk_error(error) or attempt == ATTEMPTS:
                    raise
                halt.wait(attempt * RETRY_PAUSE_S)
                raise_if_cancelled(halt, f"fetching {artifact.name}")
                continue
        progress.add(artifact.size_bytes - counted, artifact.name)
        return


def _check_digest(jar: Path, artifact: Artifact) -> None:
    digest = sha256_of(jar)
    if digest != artifact.sha256:
        raise ArtifactError(
            f"{artifact.coordinate} was delivered with sha256 {digest[:12]}… instead of "
            f"{artifact.sha256[:12]}… and was discarded; try again, or check your mirror"
        )


def _is_disk_error(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def _translate_disk_errors(folder: Path, artifact: Artifact | None = None) -> Iterator[None]:
    """Turn an OSError of the disk or the network into an ArtifactError.

    jgo raises OSErrors for network faults. Their errno differs from the errno of disk errors.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = f"the disk of {folder} is full; free some space, then try again"
        elif artifact is None or _is_disk_error(error):
            reason = f"{folder} cannot be written ({error.strerror}); set PGS_LOCAL_CACHE_DIR"
        else:
            reason = (
                f"{artifact.coordinate} could not be fetched ({type(error).__name__}); "
                "check the network, or set PGS_LOCAL_MIRRORS to a mirror, then try again"
            )
        raise ArtifactError(reason) from error
