"""The two streams: data on stdout, everything said about it on stderr."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from pgs_neo4j.cli.text import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Valid in JSON as they are, but not on a terminal.
_UNSAFE = re.compile(r"[\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
DEFAULT_WIDTH = 80
_speak: Callable[[str], None] | None = None


def prepare() -> None:
    """Let no character fail that a stream's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def width() -> int:
    """Columns of the terminal; 80 where there is none."""
    return max(40, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns)


def is_terminal(stream: TextIO) -> bool:
    """Whether people are watching, on a terminal that can do more than print."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def write(text: str) -> None:
    """Write to stdout at once. Raises BrokenPipeError when nobody reads any more."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_lines(lines: list[str]) -> None:
    """Write lines to stdout."""
    write("".join(f"{line}\n" for line in lines))


def write_json(value: object) -> None:
    """Write one JSON document to stdout."""
    write(json_text(value, ascii_only="utf" not in (sys.stdout.encoding or "").lower()))


def write_json_line(value: object) -> None:
    """Write a JSON document on one line to stdout, for logs."""
    text = json_text(value, ascii_only="utf" not in (sys.stdout.encoding or "").lower())
    # A line end inside a string is written as an escape, so these are all of the layout.
    write(" ".join(line.strip() for line in text.splitlines()) + "\n")


def json_text(value: object, *, ascii_only: bool = False) -> str:
    """The document, with what a terminal might obey written as escapes."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=2, allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def write_table(table: RenderableType) -> None:
    """Write a rich renderable to stdout, in colour only where that is a terminal."""
    from io import StringIO

    from rich.console import Console

    # Rendered apart from stdout: rich would end the process itself on a closed pipe.
    console = Console(
        file=StringIO(), width=width(), force_terminal=is_terminal(sys.stdout), highlight=False
    )
    with console.capture() as captured:
        console.print(table)
    write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def error_console() -> Console:
    """A rich console on stderr that takes nothing for markup."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False)


def note(message: str) -> None:
    """Say one line on stderr."""
    _say(f"note: {one_line(message)}")


def complain(message: str) -> None:
    """Say on stderr, in one line, what went wrong; red on a terminal."""
    line = f"pgs: {one_line(message)}"
    red = is_terminal(sys.stderr) and not os.environ.get("NO_COLOR")
    _say(f"\x1b[31m{line}\x1b[0m" if red else line)


def speak_through(speak: Callable[[str], None] | None) -> None:
    """Have what is said on stderr written by a display that draws there; None: directly again."""
    global _speak  # noqa: PLW0603 - there is but one stderr
    _speak = speak


def _say(line: str) -> None:
    if _speak is not None:
        _speak(line)
        return
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Send what is still written to a stream whose reader is gone to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
