"""Keeps a disk that is known, that of the local server, from filling up."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from pgs_neo4j.errors import DatabaseFullError

RECORD_MB, BULK_MB = 64, 256
"""Disk that a statement must find: one for our records, and any other."""

RequireRoom = Callable[[int], None]


def allow(megabytes: int) -> None:
    """Let every write pass: the disk is not known."""


def room_guard(data_dir: Path) -> RequireRoom:
    """Return what refuses to go below a number of free megabytes on the disk of a data directory.

    A write that a full disk cuts off leaves a transaction log that Neo4j 5.26 cannot read when it
    starts again. So a write has to be refused before that. It raises DatabaseFullError.
    """

    def require(megabytes: int) -> None:
        try:
            free = shutil.disk_usage(data_dir).free
        except OSError:
            return  # It is gone. Neo4j says so better.
        if free < megabytes * 1_000_000:
            raise DatabaseFullError(
                f"the disk of the local server has {free / 1e6:.0f} MB left, and Neo4j needs "
                f"{megabytes} MB to write safely; free space on the disk of {data_dir} and repeat "
                "the command"
            )

    return require
