"""The answer reaches stdout as it arrives, and stops the run when nobody reads."""

from __future__ import annotations

import asyncio
import errno
import sys
from collections.abc import Callable
from io import StringIO

import pytest

from pgs_neo4j.cli import output, progress
from pgs_neo4j.cli.commands.delivery import AnswerStream, answer_stream, write_answer
from pgs_neo4j.cli.pages.text import Wrapper
from pgs_neo4j.cli.progress import Silent
from pgs_neo4j.cli.progress.lines import Lines
from pgs_neo4j.errors import (
    BudgetError,
    BusyError,
    ModelError,
    OutputError,
    PGSError,
    RunLostError,
    TextDeletedError,
    UsageError,
)
from pgs_neo4j.events import (
    Event,
    PhaseStarted,
    ReplyRejected,
    RunStarted,
    SearchAnswered,
    TextStreamed,
    Warned,
)


class Heard(Silent):
    """Notes what it was told, in order."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def start(self) -> None:
        self.told.append("start")

    def stop(self) -> None:
        self.told.append("stop")

    def __call__(self, event: Event) -> None:
        self.told.append(type(event).__name__)


async def test_the_display_stops_before_the_first_text_and_a_search_is_shown_apart(
    capsys: pytest.CaptureFixture[str], hostile: str
) -> None:
    heard = Heard()
    stream = answer_stream(heard)
    for event in (PhaseStarted("sweep"), TextStreamed("one "), TextStreamed(f"two {hostile}")):
        stream(event)
    stream.close()
    assert heard.told == ["PhaseStarted", "stop"]
    assert capsys.readouterr().out == "one two [bold]red[/bold] \n2Jtail\n"
    heard = Heard()
    stream = answer_stream(heard)
    for later in (SearchAnswered("near"), PhaseStarted("sweep"), TextStreamed("far")):
        stream(later)
    stream.close()
    assert heard.told == ["stop", "start", "PhaseStarted", "stop"]
    assert capsys.readouterr().out == (
        "## From the nearest nodes\n\nnear\n\n## From the partitions\n\nfar\n"
    )


@pytest.mark.parametrize(
    ("pieces", "written"),
    [
        (
            ("one\r", "\ntwo\r", "three\u2028four \x1b]0;never closed", " five\r"),
            "one\ntwo\nthree\nfour ]0;never closed five\n",
        ),
        (("end\n",), "end\n"),
        ((), ""),
    ],
)
async def test_what_comes_in_pieces_is_written_as_if_it_came_whole(
    capsys: pytest.CaptureFixture[str], pieces: tuple[str, ...], written: str
) -> None:
    stream = answer_stream(Heard())
    for text in pieces:
        stream(TextStreamed(text))
    stream.close()
    assert stream.written is bool(pieces)
    assert capsys.readouterr().out == written


def test_a_stderr_that_cannot_be_written_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(StringIO):
        error = OSError()

        def flush(self) -> None:
            raise self.error

    for number in (errno.EPIPE, errno.ENOSPC, errno.EIO):
        Gone.error = OSError(number, "gone")
        silenced: list[object] = []
        monkeypatch.setattr(sys, "stderr", Gone())
        monkeypatch.setattr(output, "silence", silenced.append)
        lines = Lines()
        for event in (RunStarted("r1", resumed=False), PhaseStarted("sweep")):
            lines(event)
        output.note("still here")
        assert silenced


async def test_no_event_is_told_within_a_line_of_the_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told: list[tuple[str, str]] = []

    class Late(Silent):
        def __call__(self, event: Event) -> None:
            told.append((event.message, capsys.readouterr().out))

    stream = AnswerStream(Late(), None, Wrapper(None))
    for event in (TextStreamed("one "), Warned("mind"), TextStreamed("line")):
        stream(event)
    assert told == []
    stream.close()
    assert told == [("mind", "one line\n")]


@pytest.mark.parametrize(
    "error", [BrokenPipeError(errno.EPIPE, "gone"), OutputError("stdout cannot be written: full")]
)
async def test_a_stdout_that_takes_no_more_cancels_the_run(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(text: str) -> None:
        raise error

    silenced: list[object] = []
    monkeypatch.setattr(output, "write", fail)
    monkeypatch.setattr(output, "silence", silenced.append)

    async def work() -> None:
        with progress.run_progress(quiet=True) as shown:
            stream = AnswerStream(shown, asyncio.current_task(), Wrapper(None))
            for event in (RunStarted("r1", resumed=False), TextStreamed("a"), TextStreamed("\n")):
                stream(event)
            assert stream.broken
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                raise stream.fault or asyncio.CancelledError from None

    with pytest.raises((OutputError, asyncio.CancelledError)) as raised:
        await asyncio.create_task(work())
    full = isinstance(error, OutputError)
    assert isinstance(raised.value, OutputError) is full
    assert getattr(raised.value, "__notes__", []) == ([RESUME] if full else [])
    assert len(silenced) == (not full)


@pytest.mark.parametrize("quiet", [True, False])
def test_progress_is_silent_when_quiet(quiet: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress(quiet=quiet) as shown:
        shown(PhaseStarted("sweep"))
        told: Callable[[Event], None] = shown
        told(TextStreamed("x"))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert isinstance(shown, Silent) is quiet


RESUME = "run r1 can be resumed: pgs resume r1"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (ModelError, [RESUME]),
        (BudgetError, [f"{RESUME}; its limits start over, and can be changed"]),
        (UsageError, []),
        (BusyError, []),
        (TextDeletedError, [RESUME]),
    ],
)
@pytest.mark.parametrize("quiet", [True, False])
def test_a_run_that_ends_early_says_how_it_goes_on(
    kind: type[PGSError], said: list[str], quiet: bool
) -> None:
    with pytest.raises(kind) as raised, progress.run_progress(quiet=quiet) as shown:
        shown(RunStarted("r1", resumed=False))
        raise kind("x")
    assert getattr(raised.value, "__notes__", []) == said


@pytest.mark.parametrize("gone", [RunLostError("x"), TextDeletedError("x", purged=True)])
def test_a_run_that_is_gone_is_not_offered_to_be_resumed(gone: PGSError) -> None:
    with pytest.raises(type(gone)) as raised, progress.run_progress(quiet=True) as shown:
        shown(RunStarted("r1", resumed=False))
        shown(ReplyRejected(1, 1, 1, "no report"))
        raise gone
    assert getattr(raised.value, "__notes__", []) == []


def test_an_interrupted_run_says_how_it_goes_on_once_there_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for error in (ModelError("x"), asyncio.CancelledError()):
        with pytest.raises(type(error)) as raised, progress.run_progress(quiet=True) as shown:
            shown(PhaseStarted("partition"))
            raise error
        assert not hasattr(raised.value, "__notes__")
    assert capsys.readouterr().err == ""
    with pytest.raises(asyncio.CancelledError), progress.run_progress(quiet=True) as shown:
        shown.start()
        shown(RunStarted("r1", resumed=True))
        shown.stop()
        raise asyncio.CancelledError
    assert capsys.readouterr().err == f"note: {RESUME}\n"


def test_a_whole_answer_is_written_as_a_stream_of_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, hostile: str
) -> None:
    write_answer(f"one two {hostile}\n\n")
    assert capsys.readouterr().out == "one two [bold]red[/bold] \n2Jtail\n"
    write_answer("")
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "40")
    write_answer("- " + "word " * 12)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("  word")
