"""Events become state, lines, a few lines with signs of life, and a picture of 80 columns."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from pgs_neo4j.cli import output
from pgs_neo4j.cli.logs import catch_library_logs
from pgs_neo4j.cli.progress import lines as brief
from pgs_neo4j.cli.progress.board import Board
from pgs_neo4j.cli.progress.lines import Brief, Lines, line
from pgs_neo4j.cli.progress.live import Display, render
from pgs_neo4j.events import (
    CallRetried,
    CallsHeld,
    Event,
    PassFinished,
    PhaseFinished,
    PhaseStarted,
    Progressed,
    ReplyGrew,
    ReplyRejected,
    Routed,
    RunStarted,
    StepStarted,
    SweepFinished,
    SweepStarted,
    TextStreamed,
    UsageCounted,
    Warned,
)
from pgs_neo4j.model import Route, Routing, Sweep, SweepStatus, Usage
from tests.waiting import until

ROUTING = Routing(
    routes=tuple(Route(partition=i, similarity=0.5, reason="near") for i in (4, 9)), considered=11
)


class Clock:
    """A clock that a test sets."""

    def __init__(self, now: float = 100.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def played(events: Iterable[Event], clock: Clock | None = None) -> Board:
    board = Board(clock or Clock())
    for event in events:
        board.take(event)
    return board


def picture(board: Board, rows: int = 10, width: int = 80) -> str:
    console = Console(file=StringIO(), width=width, color_system=None)
    with console.capture() as captured:
        console.print(render(board, rows))
    return captured.get()


def swept(
    partition: int, status: SweepStatus = SweepStatus.ACCEPTED, *errors: str
) -> SweepFinished:
    read = ((0, 30),) if status is SweepStatus.ACCEPTED else ()
    return SweepFinished(
        Sweep(partition=partition, status=status, nodes=30, read=read, passes=1, errors=errors)
    )


RUN: tuple[Event, ...] = (
    StepStarted("connect", "fetch Neo4j"),
    Progressed("connect", 45_200_000, 155_000_000, "bytes"),
    PhaseStarted("partition"),
    StepStarted("partition", "communities"),
    PhaseFinished("partition", 1.25, "11 partitions of 586 nodes"),
    Routed(ROUTING),
    PhaseFinished("route", 0.1),
    PhaseStarted("sweep"),
    SweepStarted(4, 30, 1, ("task", "loop", "asyncio", "future", "unseen")),
    SweepStarted(9, 60, 2, ()),
    PassFinished(9, 1, 2, None),
    swept(4),
)


def test_the_board_knows_what_runs_and_what_is_done() -> None:
    board = played(RUN)
    assert list(board.phases) == ["connect", "partition", "route", "sweep"]
    assert (board.phases["connect"].seconds, board.phases["connect"].total) == (0.0, 0)
    assert board.detail("partition") == "11 partitions of 586 nodes"
    assert board.detail("route") == "2 of 11 partitions"
    assert board.detail("sweep") == "1 of 2 partitions"
    assert board.sweeps[4].state == "read"
    assert (board.sweeps[9].done, board.sweeps[9].state) == (1, "reading")
    board.take(swept(9, SweepStatus.FAILED))
    assert board.detail("sweep") == "2 of 2 partitions, 1 failed"
    unknown = played([PassFinished(7, 1, 1, None), swept(7), TextStreamed("x")])
    assert unknown.sweeps == {}
    unread = [swept(9, SweepStatus.UNREAD), swept(11, SweepStatus.UNREAD)]
    board = played((*RUN, *unread))
    assert board.detail("sweep") == "1 of 3 partitions, 2 left unread"
    assert list(board.sweeps) == [4]
    shown = picture(board)
    assert "P4" in shown
    assert "P9" not in shown


def test_elapsed_time_runs_until_the_phase_ends() -> None:
    clock = Clock()
    board = played([PhaseStarted("sweep")], clock)
    clock.now += 7
    assert board.elapsed("sweep") == 7
    board.take(PhaseFinished("sweep", 7.5))
    clock.now += 100
    assert board.elapsed("sweep") == 7.5


def test_the_picture_fits_80_columns_and_tells_all(hostile: str) -> None:
    shown = picture(played(RUN))
    assert all(len(row) <= 80 for row in shown.splitlines())
    assert "task, loop, asyncio, future" in shown
    assert "unseen" not in shown
    assert "1/2 passes" in shown
    assert "reading" in shown
    assert "45.2 MB of 155 MB" in picture(played(RUN[:2]))
    events = [PhaseStarted("sweep"), SweepStarted(1, 2, 1, (hostile, "[red]x[/red]"))]
    shown = picture(played(events))
    assert "\x1b" not in shown + line(events[1], played(events))
    assert "[red]x" in shown


def test_work_without_an_end_does_not_displace_work_with_one() -> None:
    nodes = Progressed("partition", 20, 40, "nodes scanned")
    relationships = Progressed("partition", 7, 0, "relationships scanned")
    board = played([PhaseStarted("partition"), nodes, relationships])
    assert board.detail("partition") == "20 of 40 nodes scanned"
    assert "20 of 40 nodes scanned" in picture(board)
    board.take(Progressed("partition", 40, 40, "nodes scanned"))
    board.take(relationships)
    assert board.detail("partition") == "7 relationships scanned"
    board.take(StepStarted("partition", "clean up"))
    assert board.detail("partition") == "clean up"


def test_the_picture_keeps_to_the_height() -> None:
    started = [SweepStarted(i, 30, 1, ()) for i in range(1, 41)]
    board = played([PhaseStarted("sweep"), *started, *(swept(i) for i in range(1, 36))])
    shown = picture(board, rows=8)
    assert len(shown.splitlines()) == 1 + 8 + 1
    assert "and 32 partitions more" in shown
    assert all(f"P{i} " in shown for i in range(36, 41))
    assert "P35 " in shown


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (RUN[4], "partition: 11 partitions of 586 nodes (1.2 s)"),
        (RUN[3], "partition: communities"),
        (RUN[5], "route: 2 of 11 partitions: P4, P9"),
        (
            Routed(replace(ROUTING, note="no text holds “x”")),
            "route: 2 of 11 partitions: P4, P9 (no text holds “x”)",
        ),
        (RUN[6], ""),
        (RUN[8], "sweep: P4 begins, 30 nodes in 1 pass (task, loop, asyncio, future)"),
        (RUN[10], "sweep: P9 pass 1 of 2 read"),
        (PassFinished(9, 1, 1, None), ""),
        (PassFinished(9, 1, 1, "cut\noff"), ""),
        (PassFinished(9, 1, 2, "cut\noff"), "sweep: P9 pass 1 of 2 failed: cut off"),
        (RUN[11], "sweep: P4 read, 30 of 30 nodes (0.0 s)"),
        (
            swept(9, SweepStatus.FAILED, "cut\noff"),
            "sweep: P9 failed, 0 of 30 nodes (0.0 s): cut off",
        ),
        (swept(9, SweepStatus.UNREAD, "2 calls"), "sweep: P9 left unread: 2 calls"),
        (RunStarted("r1", resumed=False), "run: r1 begins"),
        (RunStarted("r1", resumed=True), "run: r1 resumes"),
        (CallRetried("sweep", 30, "429", 2.0), "sweep: P30: 429, again in 2.0 s"),
        (CallRetried("synthesis", None, "429", 45.0), "synthesis: 429, again in 45 s"),
        (CallsHeld("why", 45.0), "note: why; the next call goes out in 45 s"),
        (Warned("mind"), "note: mind"),
        (TextStreamed("x"), ""),
    ],
)
def test_lines(event: Event, told: str) -> None:
    assert line(event, played([event])) == told


def test_lines_of_counted_work_are_few(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(Board(Clock()))
    lines.start()
    for done in range(1, 101):
        lines(Progressed("load", done, 100, "nodes"))
    lines.stop()
    shown = capsys.readouterr()
    assert shown.err.splitlines() == ["load: 1 of 100 nodes", "load: 100 of 100 nodes"]
    assert shown.out == ""


def test_a_retry_stands_in_the_row_of_its_partition_until_it_is_made() -> None:
    clock = Clock()
    retried = (CallRetried("sweep", 9, "429", 2.0), CallRetried("sweep", 77, "429", 2.0))
    board = played((*RUN, *retried), clock)
    assert "429, again in 2.0 s" in picture(board)
    clock.now += 3
    assert "429" not in picture(board)


def test_notes_and_messages_are_written_by_the_display_until_it_stops(
    capsys: pytest.CaptureFixture[str], hostile: str
) -> None:
    file = StringIO()
    display = Display(Console(file=file, width=80, force_terminal=True, color_system=None))
    display.start()
    held = CallsHeld("the endpoint asks for a pause", 45.0)
    for event in (*RUN, held, Warned(f"mind {hostile}")):
        display(event)
    output.note("during")
    display.stop()
    display.stop()
    output.note("after")
    shown = file.getvalue()
    assert "note: the endpoint asks for a pause; the next call goes out in 45 s" in shown
    assert "more for the endpoint" in shown  # in the row of the phase
    assert "note: mind [bold]red[/bold]" in shown
    assert "owned" not in shown
    assert "1 of 2 partitions" in shown
    assert "note: during" in shown
    assert capsys.readouterr().err == "note: after\n"


@pytest.mark.parametrize("library", ["stamina", "neo4j.io", "openai._base_client", "httpx2"])
def test_lines_of_libraries_stay_off_the_terminal_unless_asked_for(
    library: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger(library)
    caplog.set_level(logging.WARNING, logger=library)  # a benchmark may have raised it
    for write, expected in ((False, ""), (True, f"{library}: defunct connection\n")):
        catch_library_logs(write=write)
        logger.warning("defunct %s", "connection")
        assert capsys.readouterr().err == expected
    catch_library_logs(write=False)


def test_a_run_is_told_in_a_line_per_phase(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Brief(Board(Clock()))
    for event in (
        *RUN[:5], RunStarted("r1", resumed=False), *RUN[5:], swept(9, SweepStatus.UNREAD),
        PhaseFinished("sweep", 2.0), Warned("mind"), PhaseFinished("synthesize", 1.0),
    ):  # fmt: skip
        lines(event)
    assert capsys.readouterr().err.splitlines() == [
        "connect: fetch Neo4j",
        "partition: 11 partitions of 586 nodes (1.2 s)",
        "run: r1 begins",
        "route: 2 of 11 partitions: P4, P9",
        "sweep: 1 of 2 partitions, 1 left unread (2.0 s)",
        "note: mind",
        "synthesize: done (1.0 s)",
    ]
    lines = Brief(Board(Clock()))
    for event in (PassFinished(4, 1, 2, "cut off"), swept(4, SweepStatus.FAILED)):
        lines(event)
    assert capsys.readouterr().err.splitlines() == [
        "sweep: P4 pass 1 of 2 failed: cut off",
        "sweep: P4 failed, 0 of 30 nodes (0.0 s)",
    ]


def test_signs_of_life_say_what_is_done_and_grow_rare(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock(0.0)
    lines = Brief(Board(clock))
    for event in (PhaseStarted("sweep"), SweepStarted(4, 30, 1, ())):
        lines(event)
    capsys.readouterr()
    told = {}
    for second in range(100):
        clock.now = float(second)
        lines.pulse.beat()
        if said := capsys.readouterr().err:
            told[second] = said
    assert [*told] == [5, 35, 65, 95]
    assert told[35] == "sweep: 0 of 1 partition (35 s so far)\n"


async def test_the_pulse_beats_by_itself_and_stops(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brief, "SIGN_EVERY_S", 1e9)
    monkeypatch.setattr(brief, "TICK_S", 0.01)
    lines = Brief()
    lines.pulse._wait_s = 0.0
    told = ""

    async def has_beaten() -> bool:
        nonlocal told
        told += capsys.readouterr().err
        return bool(told)

    lines.start()
    waiting = lines.pulse._ended
    await until(has_beaten, 60)
    lines.stop()
    lines.stop()
    assert waiting is not None
    assert waiting.is_set()
    assert told + capsys.readouterr().err == "connect: waiting for the database\n"


def test_a_rejected_reply_has_a_line_and_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    brief = Brief()
    for event in (
        SweepStarted(4, 30, 2, ("harbor",)),
        UsageCounted(Usage(calls=1, input_tokens=9, output_tokens=1_200), None),
        ReplyRejected(4, 2, 2, "the reply is not a\x1b[31m report"),
    ):
        brief(event)
    assert capsys.readouterr().err == (
        "sweep: P4 pass 2 of 2 reply rejected: the reply is not a report\n"
    )
    brief.board.take(PhaseStarted("sweep"))
    detail = brief.board.detail("sweep")
    assert detail == "0 of 1 partition, 1,200 tokens written, 1 reply rejected"


def test_a_growing_reply_is_a_sign_of_life(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    lines = Lines(Board(clock=lambda: now))
    lines(PhaseStarted("sweep"))
    lines(SweepStarted(4, 30, 1, ("harbor",)))
    for seconds_later, tokens in ((2, 40), (4, 90), (18, 400)):
        now = float(seconds_later)
        lines(ReplyGrew("sweep", 4, tokens))
    assert capsys.readouterr().err.splitlines()[1:] == [
        "sweep: P4: 40 tokens of the reply so far",
        "sweep: P4: 400 tokens of the reply so far",
    ]
    lines(UsageCounted(Usage(calls=1, input_tokens=9, output_tokens=1_000), None))
    assert lines.board.detail("sweep") == "0 of 1 partition, 1,400 tokens written"
    lines(ReplyGrew("sweep", 4, 0))
    assert lines.board.detail("sweep") == "0 of 1 partition, 1,000 tokens written"
    brief = Brief()
    for event in (PhaseStarted("search"), ReplyGrew("search", None, 70)):
        brief(event)
    assert brief.board.detail("search") == "70 tokens of the reply so far"
    assert capsys.readouterr().err == ""
