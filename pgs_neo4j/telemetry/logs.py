"""Writes log records as lines of JSON, with the ids of their run and job."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime

from pgs_neo4j.telemetry.redaction import redacted

FIELDS = "fields"
"""The attribute of a log record with additional fields, as values by name."""

RUN: ContextVar[str] = ContextVar("pgs_run", default="")
JOB: ContextVar[str] = ContextVar("pgs_job", default="")


@contextmanager
def log_ids(*, run: str = "", job: str = "") -> Iterator[None]:
    """Add these ids to log records of the block; an empty id keeps the current one.

    Tasks that the block starts inherit the ids.
    """
    wanted = [(RUN, run or RUN.get()), (JOB, job or JOB.get())]
    marks = [(variable, variable.set(value)) for variable, value in wanted]
    try:
        yield
    finally:
        for variable, mark in marks:
            # A generator may be closed by another task, which never had the ids.
            with suppress(ValueError):
                variable.reset(mark)


class JsonLines(logging.Formatter):
    """Formats a record as one line of ASCII JSON without secrets.

    ``time`` is in UTC, to the microsecond. ``run``, ``job``, and ``exception`` are left out if the
    record has none.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a line break."""
        at = datetime.fromtimestamp(record.created, UTC)
        ids = {"run": RUN.get(), "job": JOB.get()}
        document: dict[str, object] = {
            "time": at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(_format_message(record)),
            **{name: value for name, value in ids.items() if value},
        }
        for name, value in getattr(record, FIELDS, {}).items():
            document[name] = redacted(value) if isinstance(value, str) else value
        if record.exc_info and record.exc_info[1] is not None:
            document["exception"] = redacted(self.formatException(record.exc_info))
        return json.dumps(document, default=str)


def _format_message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - a library may log arguments that do not fit
        return str(record.msg)
