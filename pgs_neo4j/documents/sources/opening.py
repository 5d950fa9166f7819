"""Opens the files of sources if they are regular, inside their folder, and not too large."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pgs_neo4j.errors import InputFileError

FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags to open a file; some systems lack some of these flags. Opening must not wait for a pipe,
because without a writer, it would wait forever."""


@contextmanager
def open_file(path: Path, root: Path) -> Iterator[BinaryIO]:
    """Open a regular file inside ``root``. Raises InputFileError.

    The error is also raised at the end if the file has changed since it was opened.
    """
    try:
        descriptor = os.open(path, FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise InputFileError("it is not a regular file")
            _check_place(before, path, root)
            yield file
            after = os.fstat(descriptor)
    except OSError as error:
        raise InputFileError(f"it cannot be read: {error.strerror}") from error
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise InputFileError("it changed while it was read; ingest it again")


def _check_place(opened: os.stat_result, path: Path, root: Path) -> None:
    """Raise InputFileError unless the opened file is inside ``root``.

    A link may be replaced between opening and this check. So the path alone proves nothing, and the
    opened file is compared with the file at the path.
    """
    place = path.resolve(strict=True)
    if not place.is_relative_to(root.resolve()):
        raise InputFileError("it is a link to a place outside of the folder")
    if not os.path.samestat(opened, place.lstat()):
        raise InputFileError("it was replaced while it was opened; ingest it again")


@contextmanager
def reopen_file(opened: BinaryIO) -> Iterator[BinaryIO]:
    """Yield an open file from its beginning; the original stays open. Raises InputFileError."""
    try:
        descriptor = os.dup(opened.fileno())
    except ValueError as error:
        raise InputFileError("it was closed before it was read; send it again") from error
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        yield file


def read_file(path: Path, root: Path, most_bytes: int) -> bytes:
    """Return the bytes of a file unless it is too large. Raises InputFileError."""
    with open_file(path, root) as file:
        return _read_bounded(file, most_bytes)


def read_opened(opened: BinaryIO, most_bytes: int) -> bytes:
    """Return the bytes of an open file unless it is too large. Raises InputFileError."""
    with reopen_file(opened) as file:
        return _read_bounded(file, most_bytes)


def _read_bounded(file: BinaryIO, most_bytes: int) -> bytes:
    check_size(os.fstat(file.fileno()).st_size, most_bytes)
    data = file.read(most_bytes + 1)
    check_size(len(data), most_bytes)
    return data


def check_size(size: int, most_bytes: int) -> None:
    """Raise InputFileError if a document is too large."""
    if size > most_bytes:
        raise InputFileError(
            f"it is larger than {most_bytes / 1e6:,.6g} MB; raise max_document_mb, or split it"
        )
