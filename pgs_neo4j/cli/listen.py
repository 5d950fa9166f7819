"""Who hears the engine's events: the progress on stderr and the answer on stdout."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from pgs_neo4j.cli import output
from pgs_neo4j.cli.text import Wrapper, plain
from pgs_neo4j.events import Event, SearchAnswered, TextStreamed


class Listener(Protocol):
    """Shows events as they come, between ``start`` and ``stop``."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def __call__(self, event: Event) -> None: ...


class Silent:
    """Shows nothing."""

    def start(self) -> None:
        """Nothing to prepare."""

    def stop(self) -> None:
        """Nothing to take down."""

    def __call__(self, event: Event) -> None:
        """Nothing to show."""


@contextmanager
def progress(*, quiet: bool) -> Iterator[Listener]:
    """A listener for stderr: a display on a terminal, lines elsewhere, nothing when quiet."""
    listener = _listener(quiet)
    listener.start()
    try:
        yield listener
    finally:
        listener.stop()


def _listener(quiet: bool) -> Listener:
    if quiet:
        return Silent()
    if output.is_terminal(sys.stderr):
        from pgs_neo4j.cli.live import Display

        return Display(output.error_console())
    from pgs_neo4j.cli.lines import Lines

    return Lines()


@dataclass(slots=True)
class AnswerStream:
    """Writes the answer to stdout as it arrives, and passes all else on.

    When nobody reads stdout any more it cancels ``task``, for a model call costs money.
    """

    progress: Listener
    task: asyncio.Task[object] | None
    wrapper: Wrapper
    written: bool = False
    broken: bool = False
    _searching: bool = field(default=False, repr=False)
    _line_ended: bool = field(default=False, repr=False)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case TextStreamed(text):
                self._begin("\n## From the partitions\n\n" if self._searching else "")
                self._searching = False
                self.write(self.wrapper.feed(plain(text)))
            case SearchAnswered(text):
                self._begin("## From the nearest nodes\n\n")
                whole = Wrapper(self.wrapper.width)
                self.write(f"{whole.feed(plain(text).rstrip())}{whole.close()}\n")
                self._searching = True
                self.progress.start()
            case _:
                self.progress(event)

    def close(self) -> None:
        """Write what is still held back and end the line."""
        if self.written:
            self.write(self.wrapper.close())
            self.write("" if self._line_ended else "\n")

    def write(self, text: str) -> None:
        """Write, or ask the run to end when the pipe is closed."""
        if self.broken or not text:
            return
        self._line_ended = text.endswith("\n")
        try:
            output.write(text)
        except BrokenPipeError:
            self.broken = True
            output.silence(sys.stdout)
            if self.task is not None:
                self.task.cancel()

    def _begin(self, heading: str) -> None:
        if not self.written or heading:
            # The display would be drawn over the answer on the same terminal.
            self.progress.stop()
            self.written = True
            self.write(heading)


def answer_stream(progress: Listener) -> AnswerStream:
    """A stream for the running task; wrapped at the width of a terminal, raw in a pipe."""
    width = output.width() if output.is_terminal(sys.stdout) else None
    return AnswerStream(progress, asyncio.current_task(), Wrapper(width))
