"""Lay out tables of plain text to fit the terminal; text from a graph is never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pgs_neo4j.cli import output
from pgs_neo4j.cli.pages.text import moment
from pgs_neo4j.export.figures import coverage_line
from pgs_neo4j.export.plan_rows import score_heading, score_text, sweep_table
from pgs_neo4j.model import GraphMapping, Partition, Plan, Routing, StatementRows
from pgs_neo4j.text.row_text import write_value
from pgs_neo4j.text.shown import one_line, percent, seconds

if TYPE_CHECKING:
    from pgs_neo4j.engine import Job, SearchIndex, SessionInfo, StoredGraph


REDEFINED = "unknown until the next question, because the graph was redefined"
GAP = 2  # terminal columns between two columns of a table
TOPICS, TITLES, NEIGHBORS = 5, 2, 5
WIDE = 120  # columns of a terminal with room for adjacent partitions
BESIDE = 8  # minimum terminal columns for each column beside a name
INDENT = 2  # terminal columns before the columns below a name
ERROR = 120
SHORT = 16  # cells up to this width stay on one line if there is room
# A name longer than its column, such as `email.header`, is broken after punctuation.
_PIECE = re.compile(r"[^\s._/:,;-]*[._/:,;-]*")


def partitions(parts: Sequence[Partition]) -> Table:
    """Return partitions in the given order, each on one line; a wide terminal adds a column."""
    wide = output.width() >= WIDE
    pools = any(part.pool for part in parts)
    columns = ["id", "nodes>", "tokens>", "topics", "central nodes"]
    columns += ["adjacent (edges)"] if wide else []
    columns += ["pool"] if pools else []
    rows = (
        (
            part.name,
            f"{part.size:,}",
            f"{part.tokens:,}",
            ", ".join(part.topics[:TOPICS]) or "-",
            "; ".join(part.titles[:TITLES]) or "-",
            *([_adjacent(part)] if wide else []),
            *(["yes" if part.pool else ""] if pools else []),
        )
        for part in parts
    )
    return short_table(columns, rows)


def rows(read: StatementRows) -> Table:
    """Return the rows of a statement, each on one line."""
    written = ([write_value(value) for value in row] for row in read.rows)
    return short_table([*read.columns], written)


def _adjacent(part: Partition) -> str:
    near = part.adjacent[:NEIGHBORS]
    return ", ".join(f"P{one.id} ({one.edges})" for one in near) or "-"


def routes(routing: Routing, by_id: Mapping[int, Partition]) -> Table:
    """Return the partitions that a question is routed to, best first."""
    rows = (
        (
            f"P{route.partition}",
            score_text(route),
            f"{by_id[route.partition].size:,}" if route.partition in by_id else "-",
            ", ".join(by_id[route.partition].topics[:4]) if route.partition in by_id else "-",
            route.reason,
        )
        for route in routing.routes
    )
    score = score_heading(routing)
    return table(("id", score, "nodes>", "topics", "reason"), rows)


def plan(forecast: Plan) -> Table:
    """Return the partitions that a question would read, best first, with their expected cost."""
    return table(*sweep_table(forecast))


def graphs(stored: Sequence[StoredGraph]) -> RenderableType:
    """Return stored graphs with their sizes, labels, and text properties."""
    rows = (
        (
            graph.name,
            "-" if graph.partition_count is None else graph.partition_count,
            "-" if graph.node_count is None else f"{graph.node_count:,}",
            ", ".join(graph.mapping.labels) or "all labels",
            ", ".join(graph.mapping.text) or "-",
        )
        for graph in stored
    )
    return named_table(("graph", "partitions>", "nodes>", "labels", "text"), rows)


def mapping(view: GraphMapping) -> Table:
    """Return the mapping of a graph: what it includes, and the role of each property."""
    rows = (
        ("labels", ", ".join(view.labels) or "(all)"),
        ("relationship types", ", ".join(view.relationship_types) or "(all)"),
        ("text", ", ".join(view.text) or "(none)"),
        ("title", _list((*view.titles, view.title))),
        ("key", _list((*view.keys, view.key))),
        ("weight", view.weight or "(none: by degree)"),
        ("relationship weight", view.relationship_weight or "(none: all alike)"),
        ("embedding", view.embedding or "(none)"),
        ("embedding model", view.embedding_model or "(unknown)"),
        ("relationship name", view.relationship_name or "(none: by type)"),
        ("relationship text", view.relationship_text or "(none)"),
        ("relationship embedding", view.relationship_embedding or "(none)"),
        ("chunk labels", ", ".join(view.chunk_labels) or "(none: all nodes with text)"),
        ("mention types", ", ".join(view.mention_types) or "(none)"),
        ("divided by", ", ".join(view.scope) or "(nothing)"),
        ("valid from", view.valid_from or "(always)"),
        ("valid to", view.valid_to or "(always)"),
    )
    return table(("mapping", ""), rows)


def _list(names: Iterable[str | None]) -> str:
    return ", ".join(filter(None, names)) or "(none)"


def sessions(infos: Sequence[SessionInfo]) -> RenderableType:
    """Return stored sessions, the latest first."""
    rows = (
        (
            info.id,
            info.graph,
            info.runs,
            _coverage_text(info),
            moment(info.updated_at),
        )
        for info in infos
    )
    return named_table(("session", "graph", "runs>", "coverage", "last used (UTC)"), rows)


def _coverage_text(info: SessionInfo) -> str:
    if info.redefined:
        return REDEFINED
    return coverage_line(info.coverage) if info.coverage else "-"


def indexes(listed: Sequence[SearchIndex]) -> RenderableType:
    """Return full-text and vector indexes, by kind and label."""
    rows = (
        (
            index.name,
            "full-text" if index.kind == "text" else f"vector on {index.entity}s",
            ", ".join(index.labels),
            ", ".join(index.properties),
            _comparison(index),
            index.state.lower(),
            "pgs" if index.own else "others",
        )
        for index in listed
    )
    columns = ("index", "kind", "labels or types", "properties", "compares", "state", "made by")
    return named_table(columns, rows)


def _comparison(index: SearchIndex) -> str:
    if index.kind == "text":
        return f"words ({index.analyzer or '-'})"
    size = f"{index.dimensions:,} dimensions" if index.dimensions else "any dimensions"
    return f"{size}, {(index.similarity or '-').lower()}"


def jobs(records: Sequence[Job]) -> RenderableType:
    """Return records of jobs, the latest first."""
    rows = (
        (
            job.id,
            job.graph,
            "running (silent)" if job.silent else job.outcome,
            "-" if job.drift is None else percent(job.drift),
            moment(job.started_at),
            seconds(float(job.figures["seconds"])) if "seconds" in job.figures else "-",
            one_line(job.error or "", ERROR),
        )
        for job in records
    )
    return named_table(
        ("job", "graph", "outcome", "drift>", "started (UTC)", "took>", "error"), rows
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return rows under headings, with long cells wrapped.

    ``>`` after a heading aligns its column to the right.
    """
    lines = [[one_line(str(cell)) for cell in row] for row in rows]
    headings = [column.rstrip(">") for column in columns]
    room = output.width() - GAP * (len(columns) - 1)
    widths = column_widths([*zip(headings, *lines, strict=True)], room)
    return _grid(columns, [[*map(wrap_cell, line, widths)] for line in lines], widths)


def named_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> RenderableType:
    """Return a table whose first column has names, which stay whole so that they can be copied.

    If the other columns would have too little room beside the names, each name gets a line of its
    own above its other cells.
    """
    lines = [[one_line(str(cell)) for cell in row] for row in rows]
    headings = [column.rstrip(">") for column in columns]
    longest = max(cell_len(line[0]) for line in [headings, *lines])
    room = output.width() - longest - GAP * (len(columns) - 1)
    others = [*zip(headings[1:], *(line[1:] for line in lines), strict=True)]
    if room >= BESIDE * len(others):
        widths = [longest, *column_widths(others, room)]
        cut = [[line[0], *map(wrap_cell, line[1:], widths[1:])] for line in lines]
        return _grid(columns, cut, widths)
    room = output.width() - INDENT - GAP * (len(others) - 1)
    widths = column_widths(others, room)
    parts: list[RenderableType] = [Text(headings[0], style="bold")]
    for line in (headings, *lines):
        if line is not headings:
            parts.append(Text(line[0], overflow="fold"))
        style = "bold" if line is headings else ""
        grid = _grid(columns[1:], [[*map(wrap_cell, line[1:], widths)]], widths, style, head=False)
        parts.append(Padding(grid, (0, 0, 0, INDENT)))
    return Group(*parts)


def short_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table with one line for each row; cells that do not fit are cut."""
    lines = [[one_line(str(cell)) for cell in row] for row in rows]
    headings = [column.rstrip(">") for column in columns]
    room = output.width() - GAP * (len(columns) - 1)
    widths = column_widths([*zip(headings, *lines, strict=True)], room)
    cut = [
        [cell if cell_len(cell) <= width else f"{set_cell_size(cell, width - 1).rstrip()}…"
         for cell, width in zip(line, widths, strict=True)]
        for line in lines
    ]  # fmt: skip
    return _grid(columns, cut, widths)


def _grid(
    columns: Sequence[str],
    lines: Iterable[Sequence[str]],
    widths: Sequence[int],
    style: str = "",
    *,
    head: bool = True,
) -> Table:
    grid = Table(
        box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", show_header=head
    )
    headings = [column.rstrip(">") for column in columns]
    for column, heading, width in zip(columns, headings, widths, strict=True):
        grid.add_column(
            heading,
            justify="right" if column.endswith(">") else "left",
            overflow="fold",
            width=width,
        )
    for line in lines:
        grid.add_row(*(Text(cell, style=style) for cell in line))
    return grid


def column_widths(cells: Sequence[Sequence[str]], room: int) -> list[int]:
    """Return a width for each column of ``cells``, so that all fit into ``room``.

    ``cells`` has one sequence of texts per column. Each column first gets the width of its longest
    piece of a word. The rest of the room goes to cells of up to SHORT columns, then to whole words,
    then to longer texts.
    """
    least = [
        max((cell_len(piece) for text in texts for piece in _PIECE.findall(text)), default=1) or 1
        for texts in cells
    ]
    most = [max((cell_len(text) for text in texts), default=1) or 1 for texts in cells]
    words = [
        max((cell_len(word) for text in texts for word in text.split()), default=1)
        for texts in cells
    ]
    widths = _cap_widths(least, max(room, len(cells)))
    whole = [max(low, min(high, SHORT)) for low, high in zip(least, most, strict=True)]
    for wanted in (whole, words, most):
        widths = _widen(widths, wanted, room - sum(widths))
    return widths


def _widen(widths: Sequence[int], wanted: Sequence[int], spare: int) -> list[int]:
    """Share ``spare`` terminal columns among the widths that are below ``wanted``."""
    lacking = [max(0, most - width) for most, width in zip(wanted, widths, strict=True)]
    total = sum(lacking)
    if total <= spare:
        return [width + less for width, less in zip(widths, lacking, strict=True)]
    return [w + max(0, spare) * less // total for w, less in zip(widths, lacking, strict=True)]


def _cap_widths(widths: Sequence[int], room: int) -> list[int]:
    """Lower the largest widths to a common limit, so that the sum fits into ``room``."""
    level = max(widths, default=1)
    while level > 1 and sum(min(width, level) for width in widths) > room:
        level -= 1
    return [min(width, level) for width in widths]


def wrap_cell(text: str, width: int) -> str:
    """Wrap a text to lines of at most ``width`` columns, joined by newlines."""
    lines = [""]
    for word in text.split():
        gap = " " if lines[-1] else ""
        if cell_len(lines[-1]) + len(gap) + cell_len(word) <= width:
            lines[-1] += gap + word
            continue
        lines.append("")
        for piece in _PIECE.findall(word):
            if cell_len(lines[-1]) + cell_len(piece) <= width:
                lines[-1] += piece
            else:
                lines += chop_cells(piece, width)
    return "\n".join(line for line in lines if line)
