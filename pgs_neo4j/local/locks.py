"""Locks between processes, which a waiting thread can be called away from."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgs_neo4j.errors import LocalServerError
from pgs_neo4j.local.extra import missing

try:
    import filelock
except ImportError as error:
    raise missing(error) from error

POLL_S = 0.25


@contextmanager
def held(
    path: Path, what: str, cancelled: threading.Event, timeout_s: float = 1800.0
) -> Iterator[None]:
    """Hold the lock file ``path``; the system frees it when the holder dies.

    Raises LocalServerError when it cannot be had in ``timeout_s`` seconds, or on ``cancelled``.
    """
    lock = filelock.FileLock(path)
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            lock.acquire(timeout=POLL_S)
            break
        except filelock.Timeout as error:
            if time.monotonic() > deadline:
                raise LocalServerError(
                    f"another process has been {what} for {timeout_s:.0f} s; "
                    "wait for it or end it, then try again"
                ) from error
            check(cancelled, what)
        except OSError as error:
            raise LocalServerError(
                f"the lock file {path} cannot be used ({error.strerror}); "
                "check the folder's rights and free space"
            ) from error
    try:
        yield
    finally:
        lock.release()


def check(cancelled: threading.Event, what: str) -> None:
    """Leave the current work when its caller no longer wants it."""
    if cancelled.is_set():
        raise LocalServerError(f"interrupted while {what}; run the command again to go on")
