"""Arguments, output, signals, and exit codes of the programs in this folder."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import psutil

from pgs_neo4j.errors import PGSError, UsageError

DONE, FAULT, USAGE, INTERRUPTED = 0, 1, 2, 130

T = TypeVar("T")
Document = dict[str, Any]


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """A parser of ``python -m tests.bench.NAME``, with ``--json``."""
    argument_parser = argparse.ArgumentParser(
        prog=f"python -m tests.bench.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    argument_parser.add_argument(
        "--json", action="store_true", help="print one JSON document instead of a table"
    )
    return argument_parser


def number(least: int) -> Callable[[str], int]:
    """The type of an argument: a whole number from ``least`` up."""

    def whole(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up")
        return int(text)

    return whole


def add_knobs(argument_parser: argparse.ArgumentParser) -> None:
    """Add ``--knob``, which collects settings of the engine as pairs of name and number."""
    argument_parser.add_argument(
        "--knob",
        action="append",
        type=_knob,
        default=[],
        metavar="NAME=NUMBER",
        help="an integer setting of the engine, such as min_community_size=400",
    )


def _knob(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not value.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=NUMBER")
    return name, int(value)


def positive(text: str) -> float:
    """The type of an argument: a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def told(measure: Callable[[], Document], table: Callable[[Document], str], as_json: bool) -> int:
    """Measure, write the figures to stdout, and tell the exit code.

    It is FAULT if the figures belie a claim: ``false`` of the document has these in sentences,
    which also go to stderr.
    """
    belied: list[str] = []

    def work() -> None:
        document = {"machine": machine(), "date": _today(), **measure()}
        text = json.dumps(document, indent=1) if as_json else table(document) + _on(document)
        sys.stdout.write(text.rstrip("\n") + "\n")
        belied.extend(document.get("false", ()))

    code = ended(work)
    for claim in belied:
        sys.stderr.write(f"false: {claim}\n")
    return code if code != DONE or not belied else FAULT


def ended(work: Callable[[], None]) -> int:
    """Do the work of a program; its exit code, and one line on stderr if it failed."""
    try:
        work()
    except PGSError as error:
        sys.stderr.write(f"error: {error}\n")
        return USAGE if isinstance(error, UsageError) else FAULT
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    return DONE


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The result of a coroutine; a signal cancels it, so that what it began is ended first."""

    async def until_told() -> T:
        task = asyncio.current_task()
        assert task is not None
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, task.cancel)
        return await work()

    return asyncio.run(until_told())


def say(what: str) -> None:
    """Tell on stderr what is under way."""
    sys.stderr.write(f"· {what}\n")
    sys.stderr.flush()


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of as many cells: the first column to the left, the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _on(document: Document) -> str:
    machine = document["machine"]
    return (
        f"\n{document['date']}: {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['system']}, Python {machine['python']}\n"
    )
