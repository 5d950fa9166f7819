"""The pinned jars of the local server, from artifacts.lock.json by ``relock``."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

Target = Literal["lib", "plugins"]

LOCK_NAME = "artifacts.lock.json"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One jar; ``target`` is its folder, and ``classifier`` may be empty."""

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
        """``group:artifact:version``, and ``:classifier`` if there is one."""
        parts = [self.group, self.name, self.version, self.classifier]
        return ":".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Lock:
    """All jars of one pair of releases, identified by a digest."""

    neo4j: str
    gds: str
    artifacts: tuple[Artifact, ...]
    digest: str

    @property
    def size_bytes(self) -> int:
        """The size of all jars together."""
        return sum(artifact.size_bytes for artifact in self.artifacts)

    @property
    def folder(self) -> str:
        """The name of the cache folder that holds exactly these jars."""
        return f"neo4j-{self.neo4j}-gds-{self.gds}-{self.digest[:12]}"


@cache
def load() -> Lock:
    """Return the lock that the package ships."""
    text = resources.files(__package__).joinpath(LOCK_NAME).read_text(encoding="utf-8")
    return parse(text)


def parse(text: str) -> Lock:
    """Return a lock from the JSON text that ``relock`` writes."""
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
