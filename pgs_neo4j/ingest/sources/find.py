"""Finds the files to ingest, each with an id that stays the same in every ingestion."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.documents import DocumentSource


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources in the order of their ids, and how many files no reader takes, by ending."""

    listed: tuple[DocumentSource, ...]
    skipped: Mapping[str, int]


def find_sources(paths: Sequence[Path], takes: Callable[[str], bool]) -> Sources:
    """Return the files of some folders and files. The id of one is its path below its folder.

    Hidden files and folders are left out; links to folders are not followed. Raises UsageError for
    a path that is not there, and for two files of one id.
    """
    found: dict[str, DocumentSource] = {}
    skipped: Counter[str] = Counter()
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no {path}; name a file or folder to ingest")
        for source in _files_of(path):
            place = source.path or path
            former = found.get(source.id)
            if path.is_dir() and not takes(place.name):
                skipped[place.suffix.lower() or "without ending"] += 1
            elif former and former.path and not former.path.samefile(place):
                raise UsageError(
                    f"{former.path} and {place} would both be {source.id}; ingest a folder that "
                    "contains both"
                )
            else:
                found[source.id] = source
    return Sources(tuple(found[id_] for id_ in sorted(found)), dict(sorted(skipped.items())))


def _files_of(path: Path) -> Iterator[DocumentSource]:
    if not path.is_dir():
        yield DocumentSource(id=path.name, path=path, root=path.parent)
        return
    for folder, names, files in os.walk(path):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                file = Path(folder, name)
                yield DocumentSource(id=file.relative_to(path).as_posix(), path=file, root=path)
