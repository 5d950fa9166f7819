"""Tells which folders are read in full, and so which documents have lost their files.

A document remembers its folder by hashes of its path, since a graph need not tell how the folders
of its user are called. Equal paths of two machines are the same folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pgs_neo4j.graph.hashes import digest
from pgs_neo4j.model.documents import DocumentSource


def root_hashes(folder: Path) -> tuple[str, ...]:
    """Return hashes of a folder's path, as it is named and as its links lead to it.

    By one of them it is the same folder from any working directory, and when a link moves on.
    """
    paths = {os.path.normpath(folder.absolute()), str(folder.resolve())}
    return tuple(sorted({digest(os.path.normcase(path)) for path in paths}))


def folder_of(source: DocumentSource) -> Path | None:
    """Return the folder below which a file is what its id says; None of anything else."""
    if source.path is None:
        return None
    folder = source.root or source.path.parent
    return folder if folder / source.id == source.path else None


@dataclass(frozen=True, slots=True)
class ReadFolder:
    """A folder of which all files are read that a loader ``takes``, but for hidden ones.

    With a ``pattern``, these are the ones that match it.
    """

    folder: Path
    roots: frozenset[str]
    takes: Callable[[str], bool]
    pattern: tuple[str, ...] = ()

    def has_lost(self, source: str, roots: Iterable[str]) -> bool:
        """Whether a source of a folder with such hashes would have been found if it were there."""
        parts = source.split("/")
        if self.roots.isdisjoint(roots) or (self.pattern and not matches(parts, self.pattern)):
            return False
        looked_for = self.takes(parts[-1]) and not any(part.startswith(".") for part in parts)
        return looked_for or not os.path.lexists(self.folder / source)


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path match those of a pattern, in which ``**`` are any folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(matches(parts[place:], pattern[1:]) for place in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and matches(parts[1:], pattern[1:])
