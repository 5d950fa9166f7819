"""Write to the two streams: data to stdout, messages to stderr."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pgs_neo4j.errors import OutputError
from pgs_neo4j.text.shown import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

DEFAULT_WIDTH = 80
HEADING = 40  # maximum columns; a longer text before a colon is part of a sentence
WARNINGS = ("Checks", "Stopped", "Note")
STYLES = {"bold": "1", "ok": "32", "warn": "33", "warning": "33", "failed": "31", "skipped": "2"}
_display: Callable[[str], None] | None = None
_log: Callable[[int, str, Mapping[str, object]], None] | None = None
_errors_as_json = False
_line_is_open = False  # the last text on stdout had no newline at its end


def prepare() -> None:
    """Make both streams safe: replace characters they cannot encode, and reopen a closed stderr."""
    if sys.stderr is None:  # closed by the shell, as with 2>&-
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the process ends
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def width() -> int:
    """Return the width of the terminal in columns, at least 40; 80 without a terminal."""
    return max(40, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that can move its cursor and show styles."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def write(text: str) -> None:
    """Write text to stdout and flush it.

    Raises BrokenPipeError if the reader closed the pipe, and OutputError for another failure, as on
    a full disk.
    """
    global _line_is_open  # noqa: PLW0603 - there is but one stdout
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        silence(sys.stdout)
        raise unwritable(error) from error
    if text:
        _line_is_open = not text.endswith("\n")


def unwritable(error: OSError) -> OutputError:
    """Return the error for a stdout that cannot be written, as on a full disk."""
    reason = error.strerror or type(error).__name__
    return OutputError(f"stdout cannot be written: {reason}; free some space or write elsewhere")


def write_lines(lines: list[str]) -> None:
    """Write lines to stdout."""
    write("".join(f"{line}\n" for line in lines))


def has_color(stream: TextIO) -> bool:
    """Return whether a stream is a terminal and NO_COLOR is not set."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def colored(text: str, style: str) -> str:
    """Return a text for stdout in a style of STYLES; unchanged if stdout shows no colors."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if has_color(sys.stdout) else text


def write_page(lines: list[str]) -> None:
    """Write the lines below an answer, with headings in bold and labels of warnings in color."""
    write_lines([_page_line(line) for line in lines])


def _page_line(line: str) -> str:
    head, colon, rest = line.partition(":")
    if head and not head[0].isspace() and "  " not in head and len(head) < HEADING:
        return colored(f"{head}{colon}", "bold") + rest
    label = next((label for label in WARNINGS if line.startswith(f"{label} ")), "")
    return colored(label, "warn") + line[len(label) :] if label else line


def write_json(value: object) -> None:
    """Write one JSON document to stdout, with control characters escaped."""
    write(_json_text(value))


def write_json_line(value: object) -> None:
    """Write a JSON document to stdout on a single line, as logs need it."""
    write(f"{_one_line_json(value)}\n")


def _one_line_json(value: object) -> str:
    # JSON escapes line ends inside strings, so each line end here belongs to the layout.
    return " ".join(line.strip() for line in _json_text(value).splitlines())


def _json_text(value: object) -> str:
    from pgs_neo4j.text.json_data import json_text

    return json_text(value, ascii_only="utf" not in (sys.stdout.encoding or "").lower())


def write_table(table: RenderableType) -> None:
    """Write a rich renderable to stdout, with styles only on a terminal."""
    from io import StringIO

    from rich.console import Console

    # Render to memory first, because rich itself ends the process if the pipe is closed.
    console = Console(
        file=StringIO(), width=width(), force_terminal=is_terminal(sys.stdout), highlight=False
    )
    with console.capture() as captured:
        console.print(table)
    write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def error_console() -> Console:
    """Return a rich console on stderr that interprets no markup."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False)


def note(message: str) -> None:
    """Write a note to stderr, on one line."""
    say(f"note: {one_line(message)}")


@contextmanager
def note_if_slow(message: str, wait_s: float) -> Iterator[None]:
    """Write a note if the body takes longer than ``wait_s`` seconds."""
    timer = threading.Timer(wait_s, note, [message])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def write_error(message: str) -> None:
    """Write an error to stderr on one line, in red on a terminal."""
    if _log is not None:
        _log(logging.ERROR, one_line(message), {})
        return
    line = f"pgs: {one_line(message)}"
    say(f"\x1b[31m{line}\x1b[0m" if has_color(sys.stderr) else line)


def write_errors_as_json(wanted: bool) -> None:
    """Set whether the error that ends a command is written as JSON instead of text."""
    global _errors_as_json  # noqa: PLW0603 - there is but one stderr
    _errors_as_json = wanted


def report_error(message: str, kind: str, code: int, notes: Sequence[str] = ()) -> None:
    """Write the error that ends a command, and what to do about it.

    With ``--json``, writes one JSON object on one line of stderr. In JSON logs, the record has the
    fields of this object.
    """
    if not _errors_as_json and _log is None:
        write_error(message)
        for text in notes:
            note(text)
        return
    # By convention, a message says what happened and, after its last semicolon, how to fix it.
    _, mark, remedy = message.rpartition("; ")
    fix = one_line("; ".join(notes) or (remedy if mark else ""))
    document = {"error": one_line(message), "kind": kind, "code": code, "fix": fix or None}
    if _log is not None:
        _log(logging.ERROR, one_line(message), document)
    else:
        say(_one_line_json(document))


def log_through(log: Callable[[int, str, Mapping[str, object]], None] | None) -> None:
    """Send all lines for stderr to ``log`` as level, message, and more fields; None undoes it."""
    global _log  # noqa: PLW0603 - there is but one stderr
    _log = log


def display_through(speak: Callable[[str], None] | None) -> None:
    """Send all lines for stderr through a progress display; None undoes it."""
    global _display  # noqa: PLW0603 - there is but one stderr
    _display = speak


def say(line: str) -> None:
    """Write a line that is safe to print to the log, the display, or stderr. Never raises."""
    if _log is not None:
        _log(logging.INFO, line.removeprefix("note: "), {})
    elif _display is not None:
        _display(line)
    else:
        write_record(line)


def write_record(line: str) -> None:
    """Write a line to stderr unchanged. Never raises.

    If stdout has an unfinished line in the same terminal or file, starts a new line first.
    """
    global _line_is_open
    if _line_is_open and _streams_share_target():
        line, _line_is_open = f"\n{line}", False
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:  # a closed pipe, a full disk, or a closed terminal
        silence(sys.stderr)


def _streams_share_target() -> bool:
    """Return whether stdout and stderr are the same file, pipe, or terminal."""
    try:
        one, other = os.fstat(sys.stdout.fileno()), os.fstat(sys.stderr.fileno())
    except (OSError, ValueError):  # a stream is closed, or is not a file
        return False
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def silence(stream: TextIO) -> None:
    """Send all further output of a stream that cannot be written to the null device."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
