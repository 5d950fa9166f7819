"""`pgs export`: a stored answer as a file."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import LatestOfOption, QuietOption, RunArgument
from pgs_neo4j.cli.pages.text import size
from pgs_neo4j.cli.run import run as run_command
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.shown import one_line

if TYPE_CHECKING:
    from pgs_neo4j.export import Document

STDOUT = "-"


class Format(StrEnum):
    """Formats of an exported answer.

    Each is also the suffix of its files.
    """

    MD = "md"
    HTML = "html"
    JSON = "json"


def export(
    to: Annotated[
        str, typer.Option("--to", metavar="FILE", help="A .md, .html, or .json file; - for stdout.")
    ],
    run: RunArgument = None,
    graph: LatestOfOption = None,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format", help="Output format, if it cannot be inferred from the file name."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Write the stored answer of a run to a file.

    Without RUN, writes the latest answer. 'pgs runs' lists the runs.

    Writes Markdown for people and other tools, a self-contained HTML page with every citation,
    or JSON as of 'pgs show --json'. The file is written completely or not at all.

    \b
      pgs export --to answer.html
      pgs export r0a1b2c3d4e5 --to - --format md | less
    """
    run_command(_export(run, graph, to, format_, force=force, quiet=quiet))


async def _export(
    name: str | None,
    graph: str | None,
    to: str,
    format_: Format | None,
    *,
    force: bool,
    quiet: bool,
) -> None:
    from pgs_neo4j.cli.commands.questions.latest import run_id
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.files import check_target, write_whole
    from pgs_neo4j.cli.pages import answer_json
    from pgs_neo4j.text.json_data import json_text

    form = form_of(to, format_)
    if to != STDOUT:
        check_target(to, force=force)
    async with database() as pgs:
        run = await run_id(pgs, name, graph, answered=True, quiet=quiet)
        check_deleted = await pgs.watch_deletions()
        document = await pgs.document(run)
        if form is Format.JSON:
            text = json_text(answer_json.run(await pgs.runs.get(run), document))
        else:
            text = _writer(form)(document)
        await check_deleted(text)
    if to == STDOUT:
        output.write(text)
        return
    written = write_whole(to, text, force=force)
    if not quiet:
        output.write_lines([f"the answer of run {run} is in {one_line(to)}, {size(written)}"])


def form_of(to: str, format_: Format | None) -> Format:
    """Return the named format, else that of the file's suffix. Raises UsageError."""
    if format_ is not None:
        return format_
    if to == STDOUT:
        raise UsageError(
            "stdout has no suffix to infer the format from; add --format md, html, or json"
        )
    suffix = Path(to).suffix.lower().removeprefix(".")
    if suffix not in list(Format):
        raise UsageError(
            f"{one_line(to, 200)} does not end in .md, .html, or .json, which are the formats; "
            "rename it, or add --format"
        )
    return Format(suffix)


def _writer(form: Format) -> Callable[[Document], str]:
    from pgs_neo4j import export as made

    return {Format.MD: made.to_markdown, Format.HTML: made.to_html}[form]
