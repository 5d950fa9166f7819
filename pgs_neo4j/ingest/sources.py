"""Finds the files to ingest, each with an id that stays the same in every ingestion."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgs_neo4j.errors import InputFileError, UsageError
from pgs_neo4j.ingest.read.text import read_text
from pgs_neo4j.model.documents import DocumentText

Reader = Callable[[bytes], DocumentText]
READERS: Mapping[str, Reader] = {
    ".txt": read_text,
    ".text": read_text,
    ".md": read_text,
    ".markdown": read_text,
    ".rst": read_text,
}
"""Readers by the ending of a file's name, in lower case."""
LONGEST_ID = 500


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file; ``id`` is its path below the folder that was named, with ``/``."""

    id: str
    path: Path
    root: Path


@dataclass(frozen=True, slots=True)
class Sources:
    """Files in the order of their ids, and how many no reader takes, by ending."""

    files: tuple[SourceFile, ...]
    skipped: Mapping[str, int]


def find_sources(paths: Sequence[Path]) -> Sources:
    """Return the files of some folders and files.

    Hidden files and folders are left out; links to folders are not followed. Raises UsageError for
    a path that is not there, and for two files of one id.
    """
    found: dict[str, SourceFile] = {}
    skipped: Counter[str] = Counter()
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no {path}; name a file or folder to ingest")
        named = _walk(path) if path.is_dir() else iter((SourceFile(path.name, path, path.parent),))
        for source in named:
            ending = source.path.suffix.lower()
            if path.is_dir() and ending not in READERS:
                skipped[ending or "without ending"] += 1
            elif source.id in found and not found[source.id].path.samefile(source.path):
                raise UsageError(
                    f"{found[source.id].path} and {source.path} would both be {source.id}; ingest "
                    "a folder that contains both"
                )
            else:
                found[source.id] = source
    return Sources(tuple(found[id_] for id_ in sorted(found)), dict(sorted(skipped.items())))


def read_source(source: SourceFile, most_bytes: int) -> tuple[DocumentText, int]:
    """Return the text of a file, and its bytes. Raises InputFileError at any fault."""
    reader = READERS.get(source.path.suffix.lower())
    if reader is None:
        endings = ", ".join(READERS)
        raise InputFileError(f"no reader takes {source.path.suffix or 'it'}; those are {endings}")
    try:
        source.id.encode()
    except UnicodeEncodeError:
        raise InputFileError("its name is not valid UTF-8; rename it") from None
    if len(source.id) > LONGEST_ID:
        raise InputFileError(f"its path has more than {LONGEST_ID} characters; shorten it")
    data = _read(source, most_bytes)
    return reader(data), len(data)


def _read(source: SourceFile, most_bytes: int) -> bytes:
    try:
        # Opened without waiting, since a pipe without a writer would never open.
        descriptor = os.open(source.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise InputFileError("it is not a regular file")
            if not source.path.resolve().is_relative_to(source.root.resolve()):
                raise InputFileError("it is a link to a place outside of the folder")
            data = file.read(most_bytes + 1)
            after = os.fstat(descriptor)
    except OSError as error:
        raise InputFileError(f"it cannot be read: {error.strerror}") from error
    if len(data) > most_bytes:
        raise InputFileError(
            f"it is larger than {most_bytes / 1e6:,.0f} MB; raise max_document_mb, or split it"
        )
    if (about.st_mtime_ns, about.st_size) != (after.st_mtime_ns, after.st_size):
        raise InputFileError("it changed while it was read; ingest it again")
    return data


def _walk(root: Path) -> Iterator[SourceFile]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                path = Path(folder, name)
                yield SourceFile(path.relative_to(root).as_posix(), path, root)
