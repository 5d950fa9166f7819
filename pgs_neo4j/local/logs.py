"""Reads the ends of the server's logs, also for error messages."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pgs_neo4j.local.options import LocalOptions, LocalPaths, paths_of

TAIL_BYTES = 256 * 1024
QUOTED_LINES = 3
QUOTED_CAUSES = 2
QUOTED_CHARACTERS = 240
_ERROR = re.compile(r"ERROR|Error|Exception|Caused by|Unrecognized|Failed")


def log_paths(options: LocalOptions) -> tuple[Path, Path]:
    """Return paths of Neo4j's log and its console; either may be absent."""
    paths = paths_of(options)
    return paths.server_log, paths.console


def log_tail(options: LocalOptions, lines: int = 50) -> list[str]:
    """Return the last lines of Neo4j's log, or else of its console."""
    server, console = log_paths(options)
    return tail(server, lines) or tail(console, lines)


def tail(path: Path, lines: int, since: int = 0) -> list[str]:
    """Return the last ``lines`` lines of a file, from byte ``since``.

    Empty if the file is absent. A ``since`` beyond the end counts as 0: the file was rotated.
    """
    try:
        with path.open("rb") as stream:
            end = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, end - TAIL_BYTES, since if since <= end else 0))
            text = stream.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    return text.splitlines()[-lines:] if lines > 0 else []


def size_of(path: Path) -> int:
    """Return the bytes of a file; 0 if it is absent."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def quote_failure(paths: LocalPaths, since: int = 0) -> str:
    """Return the joined lines that explain a failed start; may be empty.

    ``since`` is the size of Neo4j's log before the start. The quotation has the first line with an
    error, the next line, and the last causes.
    """
    written = tail(paths.console, 400) + tail(paths.server_log, 400, since)
    lines = [line.strip() for line in written if line.strip()]
    first = next((at for at, line in enumerate(lines) if _ERROR.search(line)), None)
    if first is None:
        chosen = lines[-QUOTED_LINES:]
    else:
        rest = [line for line in lines[first + 2 :] if line.startswith("Caused by")]
        chosen = lines[first : first + 2] + rest[-QUOTED_CAUSES:]
    return " | ".join(line[:QUOTED_CHARACTERS] for line in dict.fromkeys(chosen))
