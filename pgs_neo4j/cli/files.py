"""Writes files completely or not at all; overwrites only with ``--force``."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from pgs_neo4j.errors import UsageError


def check_target(name: str, *, force: bool) -> None:
    """Raise UsageError if the file cannot be written; called before any costly work."""
    path = Path(name).expanduser()
    try:
        there, ordinary = path.exists(), path.is_file()
        folder = path.is_dir()
        parent = path.parent.is_dir()
    except OSError as error:
        raise _unwritable(name, error) from error
    if folder:
        raise UsageError(f"{name} is a folder; name a file in it")
    if not parent:
        raise UsageError(f"there is no folder {path.parent}; create it first, or write elsewhere")
    if there and not ordinary:
        raise UsageError(f"{name} is not an ordinary file; name one, or write to stdout as -")
    if there and not force:
        raise UsageError(f"{name} already exists; pass --force to overwrite it")


def write_whole(name: str, whole: str | bytes, *, force: bool) -> int:
    """Write a file atomically, with text as UTF-8, and return its size in bytes.

    Follows symbolic links. An overwritten file keeps its mode. Raises UsageError.
    """
    check_target(name, force=force)
    target = Path(os.path.realpath(Path(name).expanduser()))
    content = whole.encode("utf-8") if isinstance(whole, str) else whole
    beside = target.with_name(f".pgs-{secrets.token_hex(6)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        check_target(name, force=force)  # another process may have created the file since
        beside.replace(target)
    except OSError as error:
        raise _unwritable(name, error) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    return len(content)


def _unwritable(name: str, error: OSError) -> UsageError:
    return UsageError(f"{name} cannot be written: {error.strerror or error}")
