"""Defines the local server's releases and their jars. ``tests/tools/relock.py`` pins the jars."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Literal

from pgs_neo4j.errors import ConfigError

Target = Literal["lib", "plugins"]

DEFAULT = "5.26"


@dataclass(frozen=True, slots=True)
class Release:
    """A release line of Neo4j that the local server can run.

    ``java`` has the major versions of Java in Neo4j's system requirements.
    """

    name: str
    lock_name: str
    java: tuple[int, ...]
    server_class: str


RELEASES: Mapping[str, Release] = MappingProxyType(
    {
        release.name: release
        for release in (
            Release(
                DEFAULT,
                "artifacts.lock.json",
                (17, 21),
                "org.neo4j.server.CommunityEntryPoint",
            ),
            Release(
                "2026",
                "artifacts-2026.lock.json",
                (21, 25),
                "org.neo4j.server.Neo4jCommunity",
            ),
        )
    }
)


@dataclass(frozen=True, slots=True)
class Artifact:
    """One jar. ``target`` is its folder, and ``classifier`` may be empty."""

    group: str
    name: str
    version: str
    classifier: str
    target: Target
    sha256: str
    size_bytes: int
    license: str

    @property
    def file_name(self) -> str:
        """The jar's file name, unique within its target."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.name}-{self.version}{classifier}.jar"

    @property
    def coordinate(self) -> str:
        """The jar's ``group:artifact:version``, followed by ``:classifier`` if there is one."""
        parts = [self.group, self.name, self.version, self.classifier]
        return ":".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Lock:
    """All jars for one release of Neo4j and one release of GDS, identified by a digest."""

    neo4j: str
    gds: str
    artifacts: tuple[Artifact, ...]
    digest: str

    @property
    def size_bytes(self) -> int:
        """The total size of all jars."""
        return sum(artifact.size_bytes for artifact in self.artifacts)

    @property
    def folder(self) -> str:
        """The name of the cache folder for exactly these jars."""
        return f"neo4j-{self.neo4j}-gds-{self.gds}-{self.digest[:12]}"


def find_release(name: str) -> Release:
    """Return the release of the given name. Raises ConfigError."""
    if name not in RELEASES:
        raise ConfigError(
            f"{name!r} is not a release of the local server; choose {' or '.join(RELEASES)} "
            "(--release, PGS_LOCAL_RELEASE)"
        )
    return RELEASES[name]


@cache
def load(release: str = DEFAULT) -> Lock:
    """Return the lock for a release. The package ships one for each release."""
    path = resources.files(__package__).joinpath(find_release(release).lock_name)
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> Lock:
    """Parse a lock from its JSON text."""
    document = json.loads(text)
    artifacts = tuple(
        Artifact(
            group=entry["group"],
            name=entry["artifact"],
            version=entry["version"],
            classifier=entry.get("classifier", ""),
            target=entry["target"],
            sha256=entry["sha256"],
            size_bytes=entry["size_bytes"],
            license=entry["license"],
        )
        for entry in document["artifacts"]
    )
    names = "\n".join(
        f"{artifact.target}/{artifact.file_name} {artifact.sha256}" for artifact in artifacts
    )
    digest = hashlib.sha256(names.encode()).hexdigest()
    return Lock(document["neo4j"], document["gds"], artifacts, digest)
