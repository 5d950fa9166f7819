"""How commands end: codes, one line on stderr, signals, and a stdout that takes no more text."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Coroutine
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer

from pgs_neo4j import errors
from pgs_neo4j.cli import connection
from pgs_neo4j.cli import run as funnel
from pgs_neo4j.cli.run import code_of, report_fault, run, worst
from tests.fakes.commands import pgs

ROOT = Path(__file__).resolve().parents[3]


def left_with(work: Coroutine[Any, Any, int | None]) -> int:
    with pytest.raises(typer.Exit) as left:
        run(work)
    return left.value.exit_code


async def ends(value: int | None) -> int | None:
    return value


async def raises(error: Exception) -> int:
    raise error


EXPECTED = {
    errors.UsageError: 2, errors.ConfigError: 2, errors.QuestionError: 2,
    errors.UnknownGraphError: 2, errors.UnknownSessionError: 2, errors.MappingError: 2,
    errors.EmptyGraphError: 2, errors.InputFileError: 2, errors.DatabaseError: 5,
    errors.DatabaseAuthError: 5, errors.GDSMissingError: 5, errors.ServerStartError: 5,
    errors.JavaMissingError: 5, errors.ModelError: 6, errors.EmbeddingError: 6,
    errors.BusyError: 4, errors.LeaseLostError: 4, errors.StoppedError: 3,
    errors.BudgetError: 3, errors.DeadlineError: 3, errors.UnknownRunError: 2,
    errors.IdempotencyError: 2, errors.NothingLeftError: 7,
}  # fmt: skip


def test_every_error_has_its_code_and_the_worst_stands_for_all() -> None:
    assert {kind: code_of(kind("x")) for kind in EXPECTED} == EXPECTED
    assert code_of(errors.AllSweepsFailedError({1: "429"})) == 6
    several = [(), (0, 0), (0, 4), (4, 2), (2, 6, 4), (6, 5, 0), (3, 0)]
    assert [worst(codes) for codes in several] == [0, 0, 4, 2, 6, 5, 3]


def test_a_command_that_ends_leaves_with_its_code() -> None:
    assert [left_with(ends(value)) for value in (None, 0, 3)] == [0, 0, 3]


def test_an_error_is_one_safe_line_with_what_can_be_done_below_it(
    capsys: pytest.CaptureFixture[str], hostile: str
) -> None:
    error = errors.QueryError(f"refused\n{hostile}")
    error.add_note("run r1 can be resumed: pgs resume r1")
    assert left_with(raises(error)) == 5
    shown = capsys.readouterr()
    assert shown.err == (
        "pgs: refused [bold]red[/bold] 2Jtail\nnote: run r1 can be resumed: pgs resume r1\n"
    )
    assert shown.out == ""


def test_debug_shows_a_traceback_that_commands_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGS_DEBUG", "1")
    hostile = "title \x1b[31mred\x1b]0;x\x07 \u202eback"
    assert left_with(raises(errors.UsageError(hostile))) == 2
    report_fault(ValueError, ValueError(hostile), None)
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert "UsageError: title red back" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_a_fault_is_not_swallowed_and_the_last_word_on_it_is_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ZeroDivisionError):
        run(raises(ZeroDivisionError()))
    report_fault(ValueError, ValueError("a\nb"), None)
    shown = capsys.readouterr().err
    assert len(shown.splitlines()) == 1
    assert "ValueError: a b" in shown
    assert "PGS_DEBUG=1" in shown


@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_clean_up_run(
    number: signal.Signals, failing: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    cleaned: list[str] = []

    async def work() -> int:
        try:
            os.kill(os.getpid(), number)
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            cleaned.append("transaction")
            if failing:
                raise errors.DatabaseUnavailableError("gone")
        return 0

    before = signal.getsignal(signal.SIGTERM)
    assert left_with(work()) == 130
    assert cleaned == ["transaction"]
    assert "pgs: interrupted" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_second_signal_bounds_the_wait(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class LeftError(Exception):
        """Stands in for the end of the process."""

    gone: list[int] = []
    monkeypatch.setattr(funnel, "SECOND_GRACE_S", 0.05)
    monkeypatch.setattr(funnel.os, "_exit", gone.append)  # type: ignore[attr-defined]

    async def work() -> int:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            while not gone:
                await asyncio.sleep(0.01)
        return 0

    assert left_with(work()) == 130
    assert gone == [130]
    shown = capsys.readouterr().err
    assert "still cleaning up" in shown
    assert "did not finish in time" in shown


def test_a_terminal_is_asked_and_without_one_yes_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    what = "all \x1b[2Jgoes\nor \u202enot"
    monkeypatch.setattr(sys, "stdin", StringIO("y\n"))
    connection.confirm(what, yes=True)
    with pytest.raises(errors.UsageError, match="--yes"):
        connection.confirm(what, yes=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(connection.output, "is_terminal", lambda stream: True)  # type: ignore[attr-defined]

    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    for typed in ("y\n", "YES\n", "\n", "no\n"):
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        if typed.lower().startswith("y"):
            connection.confirm(what, yes=False)
        else:
            with pytest.raises(errors.UsageError, match="nothing was changed"):
                connection.confirm(what, yes=False)
        assert capsys.readouterr().err == "all goes or not. Continue? [y/N] "


def test_a_closed_pipe_is_quiet() -> None:
    script = (
        "from pgs_neo4j.cli import output\n"
        "from pgs_neo4j.cli.run import run\n"
        "import typer\n"
        "async def work():\n"
        "    for _ in range(100_000): output.write('line\\n')\n"
        "try: run(work())\n"
        "except typer.Exit as left: raise SystemExit(left.exit_code)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"line\n"
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(timeout=60) == 141
    assert said == b""


FULL = Path("/dev/full")
full_disk = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", "--json", "--nope", "x"), "No such option: --nope"),
        (("ask", "q", "--mode", "all", "--json"), "Invalid value"),
        (("nonsense", "--json"), "No such command"),
    ],
)
def test_wrong_arguments_are_json_too(arguments: tuple[str, ...], said: str) -> None:
    done = pgs(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    error = json.loads(line)
    assert said in error["error"]
    assert error["code"] == 2
    assert set(error) == {"error", "kind", "code", "fix"}


def test_what_to_do_stands_apart_and_after_two_dashes_json_is_a_word() -> None:
    done = pgs("ask", "  ", "--json")
    assert json.loads(done.stderr) == {
        "error": "the question is empty; write what you want to know",
        "kind": "QuestionError", "code": 2, "fix": "write what you want to know",
    }  # fmt: skip
    done = pgs("ask", "--top-k", "1", "--idempotency-key", "k", "--", "why", "--json")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith("pgs: --idempotency-key cannot be combined")


@full_disk
@pytest.mark.parametrize("arguments", [("ask", "--help"), ("help",)])
def test_a_full_stdout_is_one_sentence(arguments: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pgs_neo4j", *arguments],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "pgs: stdout cannot be written: No space left on device; free some space or write "
        "elsewhere\n"
    )


def test_a_message_begins_a_line_of_its_own() -> None:
    script = (
        "from pgs_neo4j.cli import output\n"
        "output.write('half a line')\n"
        "output.note('mind')\n"
        "output.write('whole\\n')\n"
        "output.note('again')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "half a line\nnote: mind\nwhole\nnote: again\n"
    apart = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (apart.stdout, apart.stderr) == ("half a linewhole\n", "note: mind\nnote: again\n")
