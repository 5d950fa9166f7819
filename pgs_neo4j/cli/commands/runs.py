"""`pgs runs …` and `pgs sessions …`: list what was asked, how it ended, and how much was read.

`pgs runs` lists the runs and the models' replies in them. `pgs sessions` lists, shows, and deletes
the sessions that the runs belong to.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.request import run_id
from pgs_neo4j.cli.completion import complete_sessions
from pgs_neo4j.cli.options import GraphOption, JsonOption, RunArgument, YesOption
from pgs_neo4j.cli.pages.runs_page import COMPLETE, RUNNING, resume_command
from pgs_neo4j.cli.pages.text import moment
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted, one_line, plain, seconds, texts_note, unproven_note

SHORTEST_ID = 4  # in place of RUN, a number with fewer digits means a reply of the latest run
HEAD = 300  # characters to read of each reply in a list
LISTED_PROPERTIES = (
    *("id", "question", "mode", "status", "started_at", "finished_at", "seconds", "model"),
    *("nodes_read", "nodes_unproven", "calls", "cached", "input_tokens", "output_tokens"),
    *("cost", "thesis", "cache_read_tokens", "cache_write_tokens"),
    *("stopped", "error", "warnings", "sweeps", "redefined"),
)
"""Properties of a run in the JSON of `pgs sessions show`; `pgs show` prints the answer itself."""
RUNNING_HINT = ", if its process was killed"
SessionArgument = Annotated[
    str,
    typer.Argument(metavar="SESSION", help="The session's id.", autocompletion=complete_sessions),
]
runs_app = typer.Typer()
sessions_app = typer.Typer(no_args_is_help=True, help="List, show, and delete sessions.")


@runs_app.callback(invoke_without_command=True)
def runs(
    context: typer.Context,
    graph: GraphOption = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", help="Only the runs of this session.", autocompletion=complete_sessions
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Runs to list.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """List the runs, the latest first.

    Lists those of all graphs, unless --graph names one. The first is the run that 'pgs show',
    'pgs export', 'pgs resume', and 'pgs ask -c' take by default.

    \b
      pgs runs
      pgs runs --graph papers --json
      pgs runs replies
    """
    if context.invoked_subcommand is None:
        run(_runs(graph, session, limit, as_json=as_json))


async def _runs(graph: str | None, session: str | None, limit: int, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages.runs_page import run_lines

    async with database() as pgs:
        infos = await pgs.runs(graph, session, limit=limit)
    if as_json:
        output.write_json({"runs": [plain_data(info) for info in infos]})
    elif infos:
        output.write_lines(run_lines(infos, output.width()))
    else:
        output.note("there is no run yet; 'pgs ask' starts one")


@runs_app.command("replies")
def replies(
    name: RunArgument = None,
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="NUMBER", min=1, help="Print this reply of the list.", show_default=False
        ),
    ] = None,
    rejected: Annotated[
        bool, typer.Option("--rejected", help="List only those that were not accepted.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List or show what the models replied in a run.

    Lists the replies in the order in which they arrived, and says why those were rejected that
    were no report. With NUMBER, prints one as it came.
    Replies that an earlier run had paid for are listed with that run. Calls no model.

    \b
      pgs runs replies
      pgs runs replies r0a1b2 --rejected
      pgs runs replies r0a1b2 3
    """
    run(_replies(name, number, rejected=rejected, as_json=as_json))


async def _replies(name: str | None, number: int | None, *, rejected: bool, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import runs_page

    if name is not None and number is None and name.isdecimal() and len(name) < SHORTEST_ID:
        number = int(name)
        name = None
    async with database() as pgs:
        chosen = await run_id(pgs, name, None)
        whole = as_json or number is not None
        stored = await (pgs.runs.replies(chosen) if whole else pgs.runs.replies(chosen, most=HEAD))
        cached = (await pgs.runs.get(chosen)).properties.get("cached") or 0
    shown = [(at, one) for at, one in enumerate(stored, 1) if not rejected or one.error]
    if number is not None:
        shown = [(at, one) for at, one in shown if at == number]
        if not shown:
            kept = runs_page.count_replies(stored)
            raise UsageError(
                f"run {chosen} has no reply {number} to show: {kept}; 'pgs runs replies {chosen}' "
                "lists them"
            )
    if as_json:
        listed = [{"number_in_run": at, **plain_data(one)} for at, one in shown]
        output.write_json({"run": chosen, "cached": cached, "replies": listed})
    elif number is not None:
        output.write_lines(runs_page.whole_reply(*shown[0]))
    else:
        output.write_lines(runs_page.reply_lines(shown, stored, output.width()))
        if cached:
            output.note(runs_page.cached_note(int(cached)))


@sessions_app.command("list")
def list_(graph: GraphOption = None, as_json: JsonOption = False) -> None:
    """List sessions with their coverage, the latest first."""
    run(_list(graph, as_json=as_json))


async def _list(graph: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.pages import tables

    async with database() as pgs:
        name = (await pgs.graphs.get(graph)).name if graph else None
        infos = await pgs.sessions(name)
    if as_json:
        output.write_json({"sessions": [json_of.session(info) for info in infos]})
    elif infos:
        output.write_table(tables.sessions(infos))
    else:
        output.note("there is no session yet; 'pgs ask' starts one")


@sessions_app.command("show")
def show(
    session: SessionArgument,
    graph: GraphOption = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="With --json: everything that is stored, including answers."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the runs of a session: question, outcome, and thesis.

    'pgs show RUN' prints an answer again; 'pgs resume RUN' resumes a run that ended early.
    """
    run(_show(session, graph, full=full, as_json=as_json))


async def _show(session: str, graph: str | None, *, full: bool, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages.tables import REDEFINED
    from pgs_neo4j.export.figures import coverage_line
    from pgs_neo4j.export.json_text import coverage_data

    async with database() as pgs:
        stored = await pgs.graphs.get(graph)
        runs = await pgs.sessions.runs(session, stored.name)
        covered = await pgs.sessions.coverage(stored.name, session)
    redefined = stored.redefined
    if as_json:
        document = {
            "session": session,
            "graph": stored.name,
            "runs": plain_data(
                runs if full else [_listed_properties(properties) for properties in runs]
            ),
        }
        document["coverage"] = coverage_data(covered) if covered else None
        document["redefined"] = redefined
        output.write_json(document)
        return
    coverage = REDEFINED if redefined else coverage_line(covered) if covered else ""
    progress = f": {coverage}" if coverage else ""
    lines = [f"session {one_line(session, 60)} of graph {stored.name}{progress}"]
    output.write_lines([*lines, *(line for properties in runs for line in _describe(properties))])


def _listed_properties(properties: dict[str, Any]) -> dict[str, Any]:
    """Return only the properties of a run that a list of runs shows."""
    return {name: properties[name] for name in LISTED_PROPERTIES if name in properties}


def _describe(properties: dict[str, Any]) -> list[str]:
    run, status = str(properties.get("id")), str(properties.get("status"))
    began = moment(str(properties.get("started_at", "")))
    head = f"{began}  {run}  {properties.get('mode')}  {status}"
    took = seconds(float(properties.get("seconds") or 0.0))
    if properties.get("nodes_shown") is not None:
        head += f"  {counted(int(properties['nodes_shown']), 'node')} shown, {took}"
    elif properties.get("nodes_read") is not None:
        swept = counted(len(properties.get("sweeps") or ()), "partition")
        read = int(properties["nodes_read"])
        head += f"  {swept}, {counted(read, 'node')}"
        head += texts_note(read, properties["texts_read"])
        head += f"{unproven_note(properties.get('nodes_unproven') or 0)}, {took}"
    lines = ["", head, f"  asked   {one_line(str(properties.get('question', '')), 300)}"]
    if properties.get("redefined"):
        lines.append("  of      an earlier definition of the graph")
    if properties.get("thesis"):
        lines.append(f"  thesis  {one_line(plain(str(properties['thesis'])), 300)}")
    if properties.get("error"):
        lines.append(f"  error   {one_line(str(properties['error']), 300)}")
    if status != COMPLETE:
        lines.append(f"  try     {resume_command(run)}{RUNNING_HINT if status == RUNNING else ''}")
    return lines


@sessions_app.command("delete")
def delete(
    session: SessionArgument,
    graph: GraphOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a session with its runs, findings, and coverage."""
    run(_delete(session, graph, yes=yes, as_json=as_json))


async def _delete(session: str, graph: str | None, *, yes: bool, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import confirm, database

    async with database() as pgs:
        stored = await pgs.graphs.get(graph)
        runs = len(await pgs.sessions.runs(session, stored.name))
        if runs:
            confirm(f"deleting session {session} also deletes {counted(runs, 'run')}", yes=yes)
        await pgs.sessions.delete(session, stored.name)
    if as_json:
        output.write_json({"deleted": session, "graph": stored.name, "runs": runs})
    else:
        output.write_lines([f"session {one_line(session, 60)} is deleted, {counted(runs, 'run')}"])
