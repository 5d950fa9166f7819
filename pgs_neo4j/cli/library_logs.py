"""Keeps the log lines of libraries off the terminal."""

from __future__ import annotations

import logging

from pgs_neo4j.cli import json_logs, output
from pgs_neo4j.text.shown import one_line

# What these report as warnings are retries, which events and typed errors report in words.
LIBRARIES = ("graphdatascience", "httpcore2", "httpx2", "mcp", "neo4j", "openai", "stamina")


class _Lines(logging.Handler):
    """Writes records as lines on stderr, or nowhere."""

    def __init__(self, *, write: bool) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record above the display; never raises."""
        if self._write and not json_logs.is_on() and record.levelno >= logging.WARNING:
            output.say(f"{record.name}: {one_line(record.getMessage())}")


def catch_library_logs(*, write: bool) -> None:
    """Give each library a handler, so that Python prints none of its lines itself."""
    handler = _Lines(write=write)
    for name in LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers = [other for other in logger.handlers if not isinstance(other, _Lines)]
        logger.addHandler(handler)
