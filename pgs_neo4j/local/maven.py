"""Fetches one jar from a Maven repository with jgo.

jgo knows the default repository, so this module names no host.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pgs_neo4j.errors import ArtifactError
from pgs_neo4j.local.extra import missing_extra
from pgs_neo4j.local.lockfile import Artifact
from pgs_neo4j.local.locks import raise_if_cancelled

SOCKET_TIMEOUT_S = 30

OnBytes = Callable[[int], None]


def fetch_jar(
    artifact: Artifact,
    folder: Path,
    on_bytes: OnBytes,
    mirrors: tuple[str, ...],
    cancelled: threading.Event,
) -> Path:
    """Download ``artifact`` below ``folder``, which no other call may use.

    ``on_bytes`` receives the size of each chunk. The content is not checked here. Raises
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
    except RuntimeError as error:  # jgo raises it if no repository has the file.
        raise ArtifactError(
            f"no repository offers {artifact.coordinate}; "
            "check the network, or set PGS_LOCAL_MIRRORS to a mirror"
        ) from error
    return Path(jar)
