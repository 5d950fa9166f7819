"""Progress on stderr and the answer on stdout, while a command runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from pgs_neo4j.cli import logs, output
from pgs_neo4j.cli.pages.answer_page import TITLES
from pgs_neo4j.cli.pages.prose import Prose
from pgs_neo4j.cli.pages.runs_page import resume_command
from pgs_neo4j.cli.pages.text import Wrapper, wrapped
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
    SearchAnswered,
    SweepFinished,
    TextStreamed,
)
from pgs_neo4j.model import Citation
from pgs_neo4j.text.mentions import cited_titles
from pgs_neo4j.text.prose.headings import LoweredText, lower_headings, lowered_text
from pgs_neo4j.text.shown import plain


class Listener(Protocol):
    """Shows events as they come, between ``start`` and ``stop``."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def __call__(self, event: Event) -> None: ...


class Silent:
    """Shows nothing."""

    def start(self) -> None:
        """Do nothing; there is nothing to prepare."""

    def stop(self) -> None:
        """Do nothing; there is nothing to remove."""

    def __call__(self, event: Event) -> None:
        """Ignore the event."""


@contextmanager
def progress(*, quiet: bool, verbose: bool = False) -> Iterator[Listener]:
    """Return a listener for stderr: a display on a terminal, else few lines.

    Verbose writes every step as a line; quiet writes nothing.
    """
    listener = _listener(quiet, verbose)
    listener.start()
    try:
        yield listener
    finally:
        listener.stop()


@dataclass(slots=True)
class Run:
    """Remembers the id of the run and whether replies were rejected, and forwards every event."""

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
        """Take one event."""
        if isinstance(event, RunStarted):
            self.id = event.run
        self.rejected |= isinstance(event, ReplyRejected)
        self.listener(event)


@contextmanager
def run_progress(*, quiet: bool, verbose: bool = False) -> Iterator[Listener]:
    """Listen to a run; even when quiet, say how to resume it, unless it is gone."""
    run = Run(Silent())
    try:
        with progress(quiet=quiet, verbose=verbose) as run.listener:
            yield run
    except asyncio.CancelledError:
        if run.id:
            output.note(_can_go_on(run.id))
        raise
    except (StoppedError, ModelError, DatabaseError, OutputError) as error:
        if run.id and not _is_gone(error):
            if run.rejected:
                error.add_note(f"what the model replied: pgs runs replies {run.id}")
            error.add_note(_can_go_on(run.id, bounded=isinstance(error, StoppedError)))
        raise


def _is_gone(error: PGSError) -> bool:
    """Return whether the run was purged or removed, or belongs to another process by now."""
    return isinstance(error, RunLostError) or (isinstance(error, TextDeletedError) and error.purged)


def _can_go_on(run: str, *, bounded: bool = False) -> str:
    more = "; its limits start over, and can be changed" if bounded else ""
    return f"run {run} can be resumed: {resume_command(run)}{more}"


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
class AnswerStream:
    """Writes the answer to stdout as it arrives; forwards all other events.

    When stdout is closed or full it cancels ``task``, because model calls cost money. Events that
    come within a line of the answer are forwarded when the line ends.
    """

    progress: Listener
    task: asyncio.Task[object] | None
    wrapper: Wrapper
    prose: Prose | None = None
    lower: LoweredText = field(default_factory=LoweredText)
    written: bool = False
    broken: bool = False
    fault: OutputError | None = None
    _late: list[Event] = field(default_factory=list, repr=False)
    _searching: bool = field(default=False, repr=False)
    _line_ended: bool = field(default=False, repr=False)
    _held: str = field(default="", repr=False)
    _cited: list[Citation] = field(default_factory=list, repr=False)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case TextStreamed(text):
                self._begin("\n## From the partitions\n\n" if self._searching else "")
                self._searching = False
                below = self.lower.feed(plain(self._whole(text)))
                self.write(self.wrapper.feed(self._drawn(below)))
            case SearchAnswered(text):
                self._begin("## From the nearest nodes\n\n")
                self.write(f"{_whole_text(_below(plain(text).rstrip()))}\n")
                self._searching = True
                self.progress.start()
            case SweepFinished(sweep) if sweep.report is not None:
                self._cited += sweep.report.citations
                self.progress(event)
            case _ if self.written and not self._line_ended:
                self._late.append(event)
            case _:
                self.progress(event)

    def close(self) -> None:
        """Write the text still held back and end the line."""
        if self.written:
            rest = self._drawn(self.lower.close())
            rest += self.prose.close() if self.prose else ""
            self.write(self.wrapper.feed(rest) + self.wrapper.close())
            self.write("" if self._line_ended else "\n")
        late, self._late = self._late, []
        for event in late:
            self.progress(event)

    def write(self, text: str) -> None:
        """Write a text; cancel the run if the pipe is closed."""
        if self.broken or not text:
            return
        self._line_ended = text.endswith("\n")
        try:
            output.write(text)
        except BrokenPipeError:
            output.silence(sys.stdout)
            self._give_up()
        except OutputError as error:
            self.fault = error
            self._give_up()

    def _give_up(self) -> None:
        self.broken = True
        if self.task is not None:
            self.task.cancel()

    def _whole(self, text: str) -> str:
        """Return text without a trailing ``\\r``.

        The next delta may begin with the ``\\n`` of the same line break.
        """
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        return text.removesuffix("\r")

    def _drawn(self, text: str) -> str:
        """Return text as a terminal shows it; without one, it stays Markdown."""
        if self.prose is None:
            return text
        if not self.prose.titles:
            self.prose.titles = cited_titles(self._cited)
        return self.prose.feed(text)

    def _begin(self, heading: str) -> None:
        if not self.written or heading:
            # The display would be drawn over the answer on the same terminal.
            self.progress.stop()
            self.written = True
            self.write(_whole_text(heading) if heading else "")


def answer_stream(progress: Listener) -> AnswerStream:
    """Return a stream for the current task; wrapped on a terminal only."""
    prose, lower = _prose(), _lower()
    return AnswerStream(progress, asyncio.current_task(), Wrapper(_wrap_width()), prose, lower)


def write_answer(text: str, citations: Sequence[Citation] = ()) -> None:
    """Write a whole answer in the layout of a stream."""
    answer = plain(text).rstrip()
    if answer:
        output.write(f"{_whole_text(_below(answer), citations)}\n")


def _whole_text(text: str, citations: Sequence[Citation] = ()) -> str:
    prose = _prose()
    if prose is not None:
        prose.titles = cited_titles(citations)
        text = prose.feed(text) + prose.close()
    return wrapped(text, _wrap_width())


def _lower() -> LoweredText:
    """Return what keeps the headings of a model below those of the page."""
    return lowered_text(TITLES, markdown=not output.is_terminal(sys.stdout))


def _below(text: str) -> str:
    return lower_headings(text, TITLES, markdown=not output.is_terminal(sys.stdout))


def _prose() -> Prose | None:
    on_terminal = output.is_terminal(sys.stdout)
    return Prose(color=output.has_color(sys.stdout)) if on_terminal else None


def _wrap_width() -> int | None:
    return output.width() if output.is_terminal(sys.stdout) else None
