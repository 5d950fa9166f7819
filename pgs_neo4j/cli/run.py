"""Run a command: signals cancel it, and each error becomes one line and an exit code.

    0 done   2 usage   3 partial answer, or a limit was reached   4 another job holds the lock
    5 database   6 model   7 nothing left to read   130 interrupted   141 stdout was closed

A note below an error says what to do about it. An unexpected error is a bug in pgs; it is also
reported in one line, with exit code 1.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import traceback
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NoReturn

import typer

from pgs_neo4j.cli import logs, output
from pgs_neo4j.cli.logs import catch_library_logs
from pgs_neo4j.errors import (
    BusyError,
    DatabaseError,
    ModelError,
    NothingLeftError,
    PGSError,
    StoppedError,
)
from pgs_neo4j.text.shown import plain

DONE, FAULT, USAGE, PARTIAL, BUSY, DATABASE, MODEL, NOTHING_LEFT = 0, 1, 2, 3, 4, 5, 6, 7
CODES = (
    (DatabaseError, DATABASE),
    (ModelError, MODEL),
    (BusyError, BUSY),
    (StoppedError, PARTIAL),
    (NothingLeftError, NOTHING_LEFT),
)
SEVERITY = (DONE, NOTHING_LEFT, PARTIAL, BUSY, USAGE, MODEL, DATABASE)
INTERRUPTED, PIPE_CLOSED = 130, 141
GRACE_S = 60.0  # maximum time for the cleanup after the first signal
SECOND_GRACE_S = 10.0  # maximum time for the cleanup after a second signal
# Thresholds of the garbage collector's three generations. A partition's nodes are hundreds of
# thousands of values without reference cycles. With Python's default thresholds, the search for
# cycles adds an eighth to the time that pgs itself spends on a question (tests/bench/README.md,
# overhead).
GC_THRESHOLDS = (20_000, 20, 50)


def run(work: Coroutine[object, object, int | None], *, grace_s: float = GRACE_S) -> None:
    """Run a command's coroutine, and exit with the code it returns (None is 0).

    SIGINT, SIGTERM, and SIGHUP cancel it, which leaves ``grace_s`` seconds for cleanup.
    """
    stop = _Stop(grace_s)
    if logs.is_on():
        logs.apply_settings()
    catch_library_logs(write=debugging())
    gc.set_threshold(*GC_THRESHOLDS)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        # From here on, an interruption needs cleanup. On Windows, asyncio's runner handles SIGINT,
        # but only if Python's default handler is installed.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with asyncio.Runner() as runner:
            code = runner.run(_run_until_signal(work, stop)) or DONE
    except asyncio.CancelledError:
        if not stop.signals:
            raise
        code = INTERRUPTED
    except PGSError as error:
        if not stop.signals:
            fail(error)
        _write_traceback()
        for note in _notes(error):
            output.note(note)
        code = INTERRUPTED
    except KeyboardInterrupt:  # before the first await, or after the last
        code = INTERRUPTED
    except BrokenPipeError:
        output.silence(sys.stdout)
        code = PIPE_CLOSED
    if code == INTERRUPTED:
        report_interruption()
    raise typer.Exit(code)


def fail(error: PGSError) -> NoReturn:
    """Report an error, and exit with its code."""
    _write_traceback()
    code = code_of(error)
    output.report_error(str(error), type(error).__name__, code, _notes(error))
    raise typer.Exit(code)


def report_interruption() -> None:
    """Report that a signal ended the command."""
    output.report_error("interrupted", "Interrupted", INTERRUPTED)


def _notes(error: PGSError) -> Sequence[str]:
    return getattr(error, "__notes__", ())


def code_of(error: PGSError) -> int:
    """Return the exit code of an error."""
    for kind, code in CODES:
        if isinstance(error, kind):
            return code
    return USAGE


def worst(codes: Iterable[int]) -> int:
    """Return the worst of several exit codes, in the order of SEVERITY."""
    return max(codes, key=SEVERITY.index, default=DONE)


def report_fault(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Report an unexpected error in one line, and its traceback if PGS_DEBUG or JSON logs ask."""
    if logs.is_on():
        logs.log_fault(error, trace)
    elif debugging():
        output.say(plain("".join(traceback.format_exception(kind, error, trace))).rstrip())
    output.report_error(
        f"unexpected error in pgs_neo4j or the machine: {kind.__name__}: {error}; "
        "run it again with PGS_DEBUG=1 for the traceback",
        kind.__name__,
        FAULT,
    )


def debugging() -> bool:
    """Return whether PGS_DEBUG is set, which asks for tracebacks."""
    return os.environ.get("PGS_DEBUG", "") not in ("", "0")


@dataclass(slots=True)
class _Stop:
    """Counts stop signals, cancels the task at the first, and limits the time for cleanup."""

    grace_s: float = GRACE_S
    signals: int = 0
    task: asyncio.Task[int | None] | None = None
    deadline: asyncio.TimerHandle | None = field(default=None, repr=False)

    def request_stop(self) -> None:
        self.signals += 1
        limit = self.grace_s if self.signals == 1 else SECOND_GRACE_S
        if self.signals == 1 and self.task is not None:
            output.note("interrupted; ending transactions and cleaning up")
            self.task.cancel()
        elif self.signals == 2:
            output.note(f"still cleaning up; this ends in at most {limit:.0f} s")
        if self.signals <= 2:
            if self.deadline is not None:
                self.deadline.cancel()
            self.deadline = asyncio.get_running_loop().call_later(limit, self.give_up)

    def give_up(self) -> None:
        output.write_error("the cleanup did not finish in time; parts of the run may remain")
        os._exit(INTERRUPTED)


async def _run_until_signal(work: Coroutine[Any, Any, int | None], stop: _Stop) -> int | None:
    stop.task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        ignored = number is not None and signal.getsignal(number) is signal.SIG_IGN
        if number is None or (ignored and name == "SIGHUP"):  # under nohup, keep running
            continue
        try:
            loop.add_signal_handler(number, stop.request_stop)
        except (NotImplementedError, RuntimeError):
            break  # on Windows or outside the main thread, the runner still handles SIGINT
    return await work


def _write_traceback() -> None:
    """Write the traceback of the current error if PGS_DEBUG asks for it.

    It is not written otherwise, because an error message in it may quote the graph.
    """
    if debugging():
        output.say(plain(traceback.format_exc()).rstrip())
