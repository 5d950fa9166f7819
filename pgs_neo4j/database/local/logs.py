"""Reads the last lines of the server's logs, for users and for error messages."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pgs_neo4j.database.local.options import LocalOptions, LocalPaths, paths_of

LogSizes = tuple[int, int]
TAIL_BYTES = 256 * 1024
QUOTED_LINES = 3
QUOTED_CAUSES = 2
QUOTED_CHARACTERS = 240
_ERROR = re.compile(r"ERROR|Error|Exception|Caused by|Unrecognized|Failed")


def log_paths(options: LocalOptions) -> tuple[Path, Path]:
    """Return the paths of Neo4j's short log and of its console output. Either may be absent."""
    paths = paths_of(options)
    return paths.server_log, paths.console


def log_tail(options: LocalOptions, lines: int = 50) -> list[str]:
    """Return the last lines of Neo4j's log, or of its console output if the log is empty."""
    server, console = log_paths(options)
    return tail(server, lines) or tail(console, lines)


def tail(path: Path, lines: int, since: int = 0) -> list[str]:
    """Return the last ``lines`` lines of a file, from byte ``since``; empty if the file is absent.

    If ``since`` is beyond the end, the file was rotated, and ``since`` counts as 0.
    """
    try:
        with path.open("rb") as stream:
            end = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, end - TAIL_BYTES, since if since <= end else 0))
            text = stream.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    return text.splitlines()[-lines:] if lines > 0 else []


def log_sizes(paths: LocalPaths) -> LogSizes:
    """Return the sizes in bytes of Neo4j's short and long log; 0 if a log is absent."""
    return _measure_size(paths.server_log), _measure_size(paths.debug_log)


def quote_failure(paths: LocalPaths, since: LogSizes = (0, 0)) -> str:
    """Return the lines of the logs that explain a failed start, joined; may be empty.

    ``since`` are the sizes of Neo4j's logs before the start. The result has the first line with an
    error, the next line, and the last causes. The long log is read only if the other logs have no
    error. Only the long log says why a database failed to start, but it also warns about many other
    things.
    """
    written = tail(paths.console, 400) + tail(paths.server_log, 400, since[0])
    if not any(map(_ERROR.search, written)):
        long = tail(paths.debug_log, 2000, since[1])
        start = next((at for at, line in enumerate(long) if " ERROR " in line), len(long))
        written += long[start:]
    lines = [line.strip() for line in written if line.strip()]
    first = next((at for at, line in enumerate(lines) if _ERROR.search(line)), None)
    if first is None:
        chosen = lines[-QUOTED_LINES:]
    else:
        rest = [line for line in lines[first + 2 :] if line.startswith("Caused by")]
        chosen = lines[first : first + 2] + rest[-QUOTED_CAUSES:]
    return " | ".join(line[:QUOTED_CHARACTERS] for line in dict.fromkeys(chosen))


def _measure_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
