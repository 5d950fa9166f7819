"""`pgs show` and `pgs export`: the stored answer of a run, on the terminal or in a file."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.delivery import write_answer
from pgs_neo4j.cli.commands.request import run_id
from pgs_neo4j.cli.completion import complete_graphs
from pgs_neo4j.cli.options import JsonOption, LatestOfOption, QuietOption, RunArgument
from pgs_neo4j.cli.pages.text import labeled_rows, moment, size
from pgs_neo4j.cli.run import run as run_command
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.shown import counted, one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import PGS, StoredRun
    from pgs_neo4j.export import Document, Table


def show(
    run: RunArgument = None,
    graph: LatestOfOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show the stored answer of a run.

    Without RUN, shows the latest run. Without an answer, shows how the run ended. 'pgs runs'
    lists the runs. Calls no model and changes no coverage.

    \b
      pgs show
      pgs show r0a1b2c3d4e5
      pgs show r0a1b2c3d4e5 --json
    """
    run_command(_show(run, graph, as_json=as_json, quiet=quiet))


async def _show(name: str | None, graph: str | None, *, as_json: bool, quiet: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of

    async with database() as pgs:
        run = await run_id(pgs, name, graph, quiet=quiet)
        stored = await pgs.runs.get(run)
        document = await pgs.runs.document(run) if stored.properties.get("details") else None
    if as_json:
        output.write_json(json_of.run(stored, document))
    elif document is None:
        output.write_lines(unanswered_lines(stored, output.width()))
    else:
        _write(document, stored.status)


def _write(document: Document, status: str) -> None:
    from pgs_neo4j.cli.pages.answer_page import above, advice, below

    answer, width = document.answer, output.width()
    output.write_lines([*above(answer, document.asked_at, status, width), ""])
    write_answer(answer.text, answer.synthesis.citations)
    output.write_page([*below(answer, width), *(advice(answer) if answer.partial else ())])


def unanswered_lines(stored: StoredRun, width: int) -> list[str]:
    """Return the question of a run without an answer, how it ended, and how to resume it."""
    from pgs_neo4j.cli.pages.runs_page import next_step

    properties: dict[str, Any] = stored.properties
    asked = f"{moment(str(properties.get('started_at') or ''))} UTC, graph {one_line(stored.graph)}"
    rows = (
        ("Question", one_line(str(properties.get("question", "")))),
        (
            "Asked",
            f"{asked}, mode {properties.get('mode')}, in session {one_line(stored.session, 60)}",
        ),
        ("Status", f"{stored.status}, without an answer"),
        ("Error", one_line(str(properties.get("error") or ""))),
    )
    return [*labeled_rows(rows, width), *next_step(stored.id, stored.status)]


STDOUT = "-"


class Format(StrEnum):
    """Formats of an exported answer; each value is also the suffix of the file."""

    MD = "md"
    HTML = "html"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


class TableName(StrEnum):
    """Tables of an exported answer, and the table of all runs."""

    FINDINGS = "findings"
    ABSENCES = "absences"
    CONNECTIONS = "connections"
    COVERAGE = "coverage"
    SOURCES = "sources"
    RUNS = "runs"


TABULAR = (Format.CSV, Format.PARQUET)
ENDINGS = ".md, .html, .json, .csv, or .parquet"
MOST_RUNS = 1_000_000  # in the table of runs; a longer table could hardly be opened


def export(
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FILE",
            help=f"A {ENDINGS} file; - for stdout.",
            show_default=False,
        ),
    ] = None,
    run: RunArgument = None,
    graph: Annotated[
        str | None,
        typer.Option(
            "--graph",
            "-g",
            help="Without RUN: take the latest run of this graph, or its runs.",
            autocompletion=complete_graphs,
        ),
    ] = None,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format", help="Output format, if it cannot be inferred from the file name."
        ),
    ] = None,
    table: Annotated[
        TableName | None,
        typer.Option("--table", help="The table of a .csv or .parquet file."),
    ] = None,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema", help="Print the JSON schema of the JSON format, or of a row of --table."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Write the stored answer of a run to a file.

    Without RUN, writes the latest answer. 'pgs runs' lists the runs.

    Writes Markdown for people and other tools, a self-contained HTML page with every citation,
    or JSON as of 'pgs show --json'. With --table, writes a part of the answer as CSV or Parquet;
    the table 'runs' lists the recorded runs. The file is written completely or not at all.

    \b
      pgs export --to answer.html
      pgs export r0a1b2c3d4e5 --to - --format md | less
      pgs export --table findings --to findings.csv
      pgs export --schema
    """
    if schema:
        run_command(_print_schema(table, to))
    if to is None:
        raise typer.BadParameter(f"name a file that ends in {ENDINGS}", param_hint="'--to'")
    run_command(_export(run, graph, to, format_, table, force=force, quiet=quiet))


async def _print_schema(table: TableName | None, to: str | None) -> None:
    from pgs_neo4j.manual import read_schema

    if to is not None:
        raise UsageError("--schema prints to stdout; leave out --to")
    output.write(read_schema(table or "run"))


async def _export(
    name: str | None,
    graph: str | None,
    to: str,
    format_: Format | None,
    table: TableName | None,
    *,
    force: bool,
    quiet: bool,
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.files import check_target, write_whole

    form = form_of(to, format_)
    _check_table(form, table, name, to)
    if to != STDOUT:
        check_target(to, force=force)
    async with database() as pgs:
        if table is TableName.RUNS:
            what, content = await _runs_content(pgs, graph, form)
        else:
            run = await run_id(pgs, name, graph, answered=True, quiet=quiet)
            what, content = await _answer_content(pgs, run, form, table)
    if to == STDOUT:
        output.write(content if isinstance(content, str) else content.decode("utf-8"))
        return
    if form is Format.CSV and isinstance(content, str):
        from pgs_neo4j.export import BYTE_ORDER_MARK

        content = BYTE_ORDER_MARK + content
    written = write_whole(to, content, force=force)
    if not quiet:
        output.write_lines([f"{what} in {one_line(to)}, {size(written)}"])


def form_of(to: str, format_: Format | None) -> Format:
    """Return the format that the option names, else the format of the file name's suffix.

    Raises UsageError if neither gives a format.
    """
    if format_ is not None:
        return format_
    if to == STDOUT:
        raise UsageError(
            "stdout has no suffix to infer the format from; add --format md, html, json, or csv"
        )
    suffix = Path(to).suffix.lower().removeprefix(".")
    if suffix not in list(Format):
        raise UsageError(
            f"{one_line(to, 200)} does not end in {ENDINGS}; rename it, or add --format"
        )
    return Format(suffix)


def _check_table(form: Format, table: TableName | None, run: str | None, to: str) -> None:
    """Raise UsageError unless the format, the table, the run, and the target can be combined."""
    names = ", ".join(TableName)
    if form in TABULAR and table is None:
        raise UsageError(f"{form} holds one table; name one with --table: {names}")
    if form not in TABULAR and table is not None:
        raise UsageError(f"{form} holds a whole answer; leave out --table, or write csv or parquet")
    if table is TableName.RUNS and run is not None:
        raise UsageError("the table 'runs' lists all runs; leave out RUN")
    if form is Format.PARQUET and to == STDOUT:
        raise UsageError("Parquet is binary and is not written to stdout; name a file with --to")


async def _answer_content(
    pgs: PGS, run: str, form: Format, table: TableName | None
) -> tuple[str, str | bytes]:
    """Return a subject and verb for the message about the file, and the file's content.

    Raises an error if text in the content was deleted in the meantime.
    """
    from pgs_neo4j import export as exports
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.text.json_data import json_text

    check_deleted = await pgs.watch_deletions()
    document = await pgs.runs.document(run)
    if table is not None:
        rows = exports.answer_table(document, table)
        await check_deleted(rows.rows)
        return f"{counted(len(rows.rows), 'row')} of run {run} are", _table_writer(form)(rows)
    if form is Format.JSON:
        text = json_text(json_of.run(await pgs.runs.get(run), document))
    else:
        text = {Format.MD: exports.to_markdown, Format.HTML: exports.to_html}[form](document)
    await check_deleted(text)
    return f"the answer of run {run} is", text


async def _runs_content(pgs: PGS, graph: str | None, form: Format) -> tuple[str, str | bytes]:
    """Return a subject and verb for the message about the file, and the table of runs."""
    from pgs_neo4j import export as exports

    rows = exports.runs_table(await pgs.runs(graph, limit=MOST_RUNS))
    return f"{counted(len(rows.rows), 'run')} are", _table_writer(form)(rows)


def _table_writer(form: Format) -> Callable[[Table], str | bytes]:
    from pgs_neo4j import export as exports

    return exports.to_parquet if form is Format.PARQUET else exports.to_csv
