"""Show the progress of a command on stderr.

A terminal gets a live display; elsewhere, a few lines, or with --verbose a line per event.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from pgs_neo4j.cli import logs, output
from pgs_neo4j.cli.pages.runs_page import resume_command
from pgs_neo4j.errors import (
    DatabaseError,
    ModelError,
    OutputError,
    PGSError,
    RunLostError,
    StoppedError,
    TextDeletedError,
)
from pgs_neo4j.events import (
    Event,
    ReplyRejected,
    RunStarted,
)


class Listener(Protocol):
    """Shows events as they arrive between ``start`` and ``stop``."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def __call__(self, event: Event) -> None: ...


class Silent:
    """A listener that shows nothing."""

    def start(self) -> None:
        """Do nothing; there is nothing to prepare."""

    def stop(self) -> None:
        """Do nothing; there is nothing to remove."""

    def __call__(self, event: Event) -> None:
        """Ignore the event."""


@contextmanager
def progress(*, quiet: bool, verbose: bool = False) -> Iterator[Listener]:
    """Yield a started listener for stderr: a live display on a terminal, else a few lines.

    ``verbose`` prints every step as a line; ``quiet`` prints nothing.
    """
    listener = _listener(quiet, verbose)
    listener.start()
    try:
        yield listener
    finally:
        listener.stop()


def _listener(quiet: bool, verbose: bool) -> Listener:
    if quiet:
        return Silent()
    if verbose:
        from pgs_neo4j.cli.progress.lines import Lines

        return Lines()
    if output.is_terminal(sys.stderr) and not logs.is_on():
        from pgs_neo4j.cli.progress.live import Display

        return Display(output.error_console())
    from pgs_neo4j.cli.progress.lines import Brief

    return Brief()


@dataclass(slots=True)
class RunTracker:
    """Forwards every event, and notes the id of the run and whether replies were rejected."""

    listener: Listener
    id: str = ""
    rejected: bool = False

    def start(self) -> None:
        """Start the listener."""
        self.listener.start()

    def stop(self) -> None:
        """Stop the listener."""
        self.listener.stop()

    def __call__(self, event: Event) -> None:
        """Note the run id and rejected replies from an event, and forward it."""
        if isinstance(event, RunStarted):
            self.id = event.run
        self.rejected |= isinstance(event, ReplyRejected)
        self.listener(event)


@contextmanager
def run_progress(*, quiet: bool, verbose: bool = False) -> Iterator[Listener]:
    """Yield a listener for a run; if the run fails or is canceled, say how to resume it.

    The hint appears even with ``quiet``, but not if the run no longer exists or another process has
    taken it over.
    """
    run = RunTracker(Silent())
    try:
        with progress(quiet=quiet, verbose=verbose) as run.listener:
            yield run
    except asyncio.CancelledError:
        if run.id:
            output.note(_how_to_resume(run.id))
        raise
    except (StoppedError, ModelError, DatabaseError, OutputError) as error:
        if run.id and not _is_lost(error):
            if run.rejected:
                error.add_note(f"what the model replied: pgs runs replies {run.id}")
            error.add_note(_how_to_resume(run.id, bounded=isinstance(error, StoppedError)))
        raise


def _is_lost(error: PGSError) -> bool:
    """Return whether the run was purged or removed, or another process has taken it over."""
    return isinstance(error, RunLostError) or (isinstance(error, TextDeletedError) and error.purged)


def _how_to_resume(run: str, *, bounded: bool = False) -> str:
    more = "; its limits start over, and can be changed" if bounded else ""
    return f"run {run} can be resumed: {resume_command(run)}{more}"
