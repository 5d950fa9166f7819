"""Fetches one jar from the artifact repository; the only module that knows jgo.

jgo knows the default repository, so no host is named here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pgs_neo4j.errors import ArtifactError
from pgs_neo4j.local.extra import missing
from pgs_neo4j.local.lockfile import Artifact
from pgs_neo4j.local.locks import check

SOCKET_TIMEOUT_S = 30

OnBytes = Callable[[int], None]


def fetch_jar(
    artifact: Artifact,
    folder: Path,
    on_bytes: OnBytes,
    mirrors: tuple[str, ...],
    cancelled: threading.Event,
) -> Path:
    """Download ``artifact`` somewhere below ``folder``, which must be this call's own.

    ``on_bytes`` is told of each chunk's size. The content is not checked here. Raises
    ArtifactError, and OSError when the disk or the network fails.
    """
    try:
        from jgo.maven import MavenContext, PythonResolver
    except ImportError as error:
        raise missing(error) from error

    @contextmanager
    def progress(name: str, total: int) -> Iterator[OnBytes]:
        def advance(count: int) -> None:
            check(cancelled, f"fetching {name} ({total} bytes)")
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
    except RuntimeError as error:  # What jgo raises when no repository has the file.
        raise ArtifactError(
            f"no repository offers {artifact.coordinate}; "
            "check the network or name a mirror in PGS_LOCAL_MIRRORS"
        ) from error
    return Path(jar)
