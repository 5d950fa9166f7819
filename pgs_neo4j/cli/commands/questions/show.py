"""`pgs show`: the stored answer of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption, LatestOfOption, QuietOption, RunArgument
from pgs_neo4j.cli.progress.listen import write_answer
from pgs_neo4j.cli.run import run as run_command

if TYPE_CHECKING:
    from pgs_neo4j.engine import StoredRun
    from pgs_neo4j.export import Document


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
    from pgs_neo4j.cli.commands.questions.latest import run_id
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import answer_json

    async with database() as pgs:
        run = await run_id(pgs, name, graph, quiet=quiet)
        stored = await pgs.runs.get(run)
        document = await pgs.document(run) if stored.properties.get("details") else None
    if as_json:
        output.write_json(answer_json.run(stored, document))
    elif document is None:
        output.write_lines(without_answer(stored, output.width()))
    else:
        _write(document, stored.status)


def _write(document: Document, status: str) -> None:
    from pgs_neo4j.cli.pages.page import above, advice, below

    answer, width = document.answer, output.width()
    output.write_lines([*above(answer, document.asked_at, status, width), ""])
    write_answer(answer.text, answer.synthesis.citations)
    output.write_page([*below(answer, width), *(advice(answer) if answer.partial else ())])


def without_answer(stored: StoredRun, width: int) -> list[str]:
    """Return a run without an answer.

    Shown are its question, how it ended, and how to resume it.
    """
    from pgs_neo4j.cli.pages.run_words import next_step
    from pgs_neo4j.cli.pages.text import labeled, moment
    from pgs_neo4j.text.shown import one_line

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
    lines = [line for label, text in rows if text for line in labeled(label, text, width)]
    return [*lines, *next_step(stored.id, stored.status)]
