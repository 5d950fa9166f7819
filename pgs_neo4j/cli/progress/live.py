"""Show progress on a terminal: a line per phase, and one per partition being read."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pgs_neo4j.cli import output
from pgs_neo4j.cli.progress.board import Board, SweepRow, keywords_of
from pgs_neo4j.cli.progress.lines import line
from pgs_neo4j.events import CallsHeld, Event, ReplyRejected, Warned
from pgs_neo4j.text.shown import counted, duration, one_line, seconds

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

STYLES = {"reading": "cyan", "read": "green", "partial": "yellow", "failed": "red"}
FEWEST_ROWS = 3  # minimum partitions to show, even on a very low terminal


@dataclass(slots=True)
class Display:
    """A live display of events, which stays on the screen after it stops."""

    console: Console
    board: Board = field(default_factory=Board)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _live: Live | None = None

    def start(self) -> None:
        """Start the display."""
        self._live = Live(
            get_renderable=self._render,
            console=self.console,
            refresh_per_second=8,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()
        # Print other lines through the console; otherwise the display would overwrite them and then
        # appear twice.
        output.display_through(lambda line: self.console.print(Text.from_ansi(line)))

    def stop(self) -> None:
        """Stop the display and leave its last state on the screen; harmless to repeat."""
        live, self._live = self._live, None
        if live is not None:
            output.display_through(None)
            live.stop()

    def __call__(self, event: Event) -> None:
        """Update the display; print warnings, long waits, and rejected replies above it."""
        with self._lock:
            self.board.take(event)
        match event:
            case Warned(message):
                note = one_line(message)
            case CallsHeld(reason, wait_s):
                note = f"{one_line(reason)}; the next call goes out in {duration(wait_s)}"
            case ReplyRejected():
                note = line(event, self.board)
            case _:
                return
        self.console.print(Text(f"note: {note}", style="yellow"))

    def _render(self) -> RenderableType:
        with self._lock:
            return render(self.board, rows=max(FEWEST_ROWS, self.console.height - 10))


def render(board: Board, rows: int) -> RenderableType:
    """Return the board as a renderable with at most ``rows`` partitions.

    Partitions being read have priority, then those that ended last.
    """
    parts: list[RenderableType] = []
    if not board.phases:
        parts.append(Text("connecting to the database", style="dim"))
    for phase, row in board.phases.items():
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(width=11)
        table.add_column(ratio=1, no_wrap=True)
        if row.total:
            table.add_column(width=20)
        table.add_column(justify="right", no_wrap=True)
        cells: list[RenderableType] = [Text(phase, style="bold"), Text(board.detail(phase))]
        if row.total:
            cells.append(ProgressBar(total=row.total, completed=row.done, width=20))
        table.add_row(*cells, Text(seconds(board.elapsed(phase)), style="dim"))
        parts.append(table)
        if phase == "sweep" and board.sweeps:
            parts.append(_sweeps(board, rows))
    return Group(*parts)


def _sweeps(board: Board, rows: int) -> RenderableType:
    at_work = [item for item in board.sweeps.items() if item[1].state == "reading"]
    ended = [item for item in board.sweeps.items() if item[1].state != "reading"]
    visible = dict(at_work[:rows] + ended[max(0, len(ended) - max(0, rows - len(at_work))) :])
    if len(at_work) >= rows:
        visible = dict(at_work[:rows])
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(width=6, justify="right", no_wrap=True)
    table.add_column(ratio=1, no_wrap=True)
    for _ in range(2):
        table.add_column(justify="right", no_wrap=True)
    table.add_column(width=7, no_wrap=True)
    for partition, row in board.sweeps.items():
        if partition in visible:
            table.add_row(*_cells(partition, row, board.clock()))
    hidden = len(board.sweeps) - len(visible)
    if not hidden:
        return table
    return Group(table, Text(f"        and {counted(hidden, 'partition')} more", style="dim"))


def _about(row: SweepRow, now: float) -> Text:
    """Return why a partition waits; if it does not wait, its keywords."""
    if row.state == "reading" and now < row.waits_until:
        return Text(row.waits, style="yellow")
    return Text(keywords_of(row.keywords))


def _cells(partition: int, row: SweepRow, now: float) -> list[RenderableType]:
    passes = f"{row.done}/{row.passes} passes" if row.passes > 1 else "1 pass"
    return [
        Text(f"P{partition}", style="bold"),
        _about(row, now),
        Text(counted(row.nodes, "node")),
        Text(passes),
        Text(row.state, style=STYLES[row.state]),
    ]
