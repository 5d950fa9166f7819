"""Writes log records as lines of JSON, with the ids of the run and the job that they belong to."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime

from pgs_neo4j.telemetry.redaction import redacted

FIELDS = "fields"
"""The attribute of a record that holds more fields, values by name."""

RUN: ContextVar[str] = ContextVar("pgs_run", default="")
JOB: ContextVar[str] = ContextVar("pgs_job", default="")


@contextmanager
def log_ids(*, run: str = "", job: str = "") -> Iterator[None]:
    """Give log records of the block these ids; an empty one stays as it is.

    Tasks that the block starts inherit them.
    """
    wanted = [(RUN, run or RUN.get()), (JOB, job or JOB.get())]
    marks = [(variable, variable.set(value)) for variable, value in wanted]
    try:
        yield
    finally:
        for variable, mark in marks:
            with suppress(ValueError):  # closed by another task, which never had the ids
                variable.reset(mark)


class JsonLines(logging.Formatter):
    """Makes one line of ASCII of a record, without secrets.

    ``time`` is in UTC, in microseconds. ``run``, ``job``, and ``exception`` are left out where
    there are none.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        at = datetime.fromtimestamp(record.created, UTC)
        ids = {"run": RUN.get(), "job": JOB.get()}
        document: dict[str, object] = {
            "time": at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(_message(record)),
            **{name: value for name, value in ids.items() if value},
        }
        for name, value in getattr(record, FIELDS, {}).items():
            document[name] = redacted(value) if isinstance(value, str) else value
        if record.exc_info and record.exc_info[1] is not None:
            document["exception"] = redacted(self.formatException(record.exc_info))
        return json.dumps(document, default=str)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - a library may log arguments that do not fit
        return str(record.msg)
