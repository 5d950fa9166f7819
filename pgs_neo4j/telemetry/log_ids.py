"""The ids of the run and the job that a log record belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

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
