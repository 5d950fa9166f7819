"""Locks between processes; waiting for one can be cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgs_neo4j.database.local.extra import missing_extra
from pgs_neo4j.errors import LocalServerError

try:
    import filelock
except ImportError as error:
    raise missing_extra(error) from error

POLL_S = 0.25


@contextmanager
def hold_lock(
    path: Path, what: str, cancelled: threading.Event, timeout_s: float = 1800.0
) -> Iterator[None]:
    """Hold a lock file; the system frees it if its holder dies.

    ``what`` completes the sentence "another process has been …". Raises LocalServerError after
    ``timeout_s`` seconds without the lock, or on ``cancelled``.
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
                    "wait for it, or end it and try again"
                ) from error
            raise_if_cancelled(cancelled, what)
        except OSError as error:
            raise LocalServerError(
                f"the lock file {path} cannot be used ({error.strerror}); "
                "check the folder's rights and free space"
            ) from error
    try:
        yield
    finally:
        lock.release()


def raise_if_cancelled(cancelled: threading.Event, what: str) -> None:
    """Raise LocalServerError if the caller has cancelled the work."""
    if cancelled.is_set():
        raise LocalServerError(f"interrupted while {what}; run the command again to continue")
