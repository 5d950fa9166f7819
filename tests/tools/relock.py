"""Rewrites a lock file: ``python -m tests.tools.relock --release 2026``, for maintainers.

This needs Maven's ``mvn``, whose resolution of versions is the reference. All files are fetched
into a temporary repository, unless ``--repository`` names another one.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from pgs_neo4j.database.local import lockfile
from pgs_neo4j.database.local.artifacts import sha256_of
from pgs_neo4j.database.local.lockfile import DEFAULT, RELEASES, Target

Root = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Pin:
    """The versions of a release, and the parts of GDS in it."""

    neo4j: str
    gds: str
    parts: tuple[str, ...]

    @property
    def neo4j_roots(self) -> tuple[Root, ...]:
        """Return the coordinates from which Maven resolves Neo4j."""
        return (("org.neo4j", "neo4j", self.neo4j),)

    @property
    def gds_roots(self) -> tuple[Root, ...]:
        """Return the coordinates from which Maven resolves GDS."""
        return tuple(("org.neo4j.gds", part, self.gds) for part in self.parts)


GDS_PARTS = ("proc", "opengds-extension", "open-model-catalog")
PINS = {
    "5.26": Pin("5.26.30", "2.13.9", (*GDS_PARTS, "open-write-services")),
    "2026": Pin("2026.08.1", "2.26.0", GDS_PARTS),
}
# Spellings of license names in POMs, without the words "the", "version", and "v".
SPDX = {
    "apache 2": "Apache-2.0",
    "apache 2 0": "Apache-2.0",
    "apache license 2": "Apache-2.0",
    "apache license 2 0": "Apache-2.0",
    "apache software license 2 0": "Apache-2.0",
    "gnu general public license 3": "GPL-3.0",
    "mit license": "MIT",
    "bsd 2 clause": "BSD-2-Clause",
    "bsd 2 clause license": "BSD-2-Clause",
    "modified bsd": "BSD-3-Clause",
    "eclipse distribution license 1 0": "BSD-3-Clause",
    "edl 1 0": "BSD-3-Clause",
    "epl 2 0": "EPL-2.0",
    "eclipse public license 1 0": "EPL-1.0",
    "eclipse public license 2 0": "EPL-2.0",
    "gpl 2 w cpe": "GPL-2.0 WITH Classpath-exception-2.0",
    "gnu general public license gpl 2 with classpath exception": (
        "GPL-2.0 WITH Classpath-exception-2.0"
    ),
    "mozilla public license 2 0": "MPL-2.0",
}
_FILLER = {"the", "version", "v"}


@dataclass(frozen=True, slots=True, order=True)
class Coordinate:
    """The coordinate of a file in a Maven repository."""

    group: str
    name: str
    version: str
    classifier: str = ""

    def path(self, repository: Path, kind: str = "jar") -> Path:
        """Return the path of the jar or pom of this coordinate in a local repository."""
        classifier = f"-{self.classifier}" if self.classifier and kind == "jar" else ""
        file_name = f"{self.name}-{self.version}{classifier}.{kind}"
        return repository.joinpath(*self.group.split("."), self.name, self.version, file_name)


def main(arguments: list[str] | None = None) -> int:
    """Resolve, hash, and write; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, help="a local Maven repository to use")
    parser.add_argument("--release", choices=PINS, default=DEFAULT)
    parser.add_argument("--output", type=Path, help="instead of the release's own lock file")
    chosen = parser.parse_args(arguments)
    pin = PINS[chosen.release]
    if shutil.which("mvn") is None:
        sys.stderr.write("mvn is not on PATH; install Maven and try again\n")
        return 2
    with tempfile.TemporaryDirectory(prefix="pgs-relock-") as scratch:
        repository = chosen.repository or Path(scratch) / "repository"
        neo4j = resolve(pin.neo4j_roots, Path(scratch), repository)
        gds = resolve(pin.gds_roots, Path(scratch), repository)
        text = render(neo4j, gds, repository, pin)
    output = chosen.output or Path(lockfile.__file__).with_name(RELEASES[chosen.release].lock_name)
    output.write_text(text, encoding="utf-8")
    return 0


def resolve(roots: tuple[Root, ...], scratch: Path, repository: Path) -> list[Coordinate]:
    """Resolve the run-time dependencies of ``roots`` with Maven, roots included."""
    pom = scratch / "pom.xml"
    listing = scratch / "resolved.txt"
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version></dependency>"
        for group, name, version in roots
    )
    pom.write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>pgs</groupId>"
        "<artifactId>relock</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>",
        encoding="utf-8",
    )
    command = ["mvn", "-q", "-B", "-f", str(pom), f"-Dmaven.repo.local={repository}"]
    command += ["dependency:list", "-DincludeScope=runtime", f"-DoutputFile={listing}"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return parse_listing(listing.read_text(encoding="utf-8"))


def parse_listing(text: str) -> list[Coordinate]:
    """Return sorted coordinates of jars from the output of ``dependency:list``."""
    coordinates = set()
    for line in text.splitlines():
        parts = line.strip().split(" ")[0].split(":")
        if len(parts) >= 5 and parts[2] == "jar":
            classifier = parts[3] if len(parts) == 6 else ""
            coordinates.add(Coordinate(parts[0], parts[1], parts[-2], classifier))
    return sorted(coordinates)


def render(
    neo4j: list[Coordinate], gds: list[Coordinate], repository: Path, pin: Pin = PINS[DEFAULT]
) -> str:
    """Return the text of the lock file.

    Jars of GDS that Neo4j has in any version are left out.
    """
    own = {(jar.group, jar.name) for jar in neo4j}
    extra = [jar for jar in gds if (jar.group, jar.name) not in own]
    entries = [make_entry(jar, "lib", repository) for jar in neo4j]
    entries += [make_entry(jar, "plugins", repository) for jar in extra]
    lines = ",\n".join("    " + json.dumps(entry) for entry in entries)
    versions = f'  "neo4j": "{pin.neo4j}",\n  "gds": "{pin.gds}"'
    return f'{{\n{versions},\n  "artifacts": [\n{lines}\n  ]\n}}\n'


def make_entry(coordinate: Coordinate, target: Target, repository: Path) -> dict[str, str | int]:
    """Return the entry of one artifact in the lock file."""
    jar = coordinate.path(repository)
    entry: dict[str, str | int] = {
        "group": coordinate.group,
        "artifact": coordinate.name,
        "version": coordinate.version,
    }
    if coordinate.classifier:
        entry["classifier"] = coordinate.classifier
    entry["target"] = target
    entry["sha256"] = sha256_of(jar)
    entry["size_bytes"] = jar.stat().st_size
    entry["license"] = read_license(coordinate, repository)
    return entry


def read_license(coordinate: Coordinate, repository: Path) -> str:
    """Return licenses of a POM or its parent, joined by "OR"."""
    at: Coordinate | None = coordinate
    while at is not None:
        root = ElementTree.parse(at.path(repository, "pom")).getroot()
        names = [
            " ".join((name.text or "").split())
            for name in root.findall("./{*}licenses/{*}license/{*}name")
        ]
        if any(names):
            return " OR ".join(dict.fromkeys(spdx_identifier(name) for name in names if name))
        at = _read_parent(root)
    raise LookupError(f"no POM names a license for {coordinate}; look it up and add it by hand")


def spdx_identifier(name: str) -> str:
    """Return the SPDX identifier of a known spelling, else the name."""
    words = re.findall(r"[a-z]+(?=\d)|[a-z]+|\d+", name.lower())
    return SPDX.get(" ".join(word for word in words if word not in _FILLER), name)


def _read_parent(root: ElementTree.Element) -> Coordinate | None:
    parent = root.find("./{*}parent")
    if parent is None:
        return None
    group, name, version = (
        (parent.findtext(f"{{*}}{tag}") or "").strip()
        for tag in ("groupId", "artifactId", "version")
    )
    return Coordinate(group, name, version)


if __name__ == "__main__":
    sys.exit(main())
