"""`pgs runs …`: the recorded runs, the latest first, and what the models replied in them."""

from __future__ import annotations

from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.request import run_id
from pgs_neo4j.cli.completion import complete_sessions
from pgs_neo4j.cli.options import GraphOption, JsonOption, RunArgument
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.json_data import plain_data

SHORTEST_ID = 4  # a shorter number in place of a run names a reply of the latest run
HEAD = 300  # characters of each reply that a list reads

runs_app = typer.Typer()


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
                f"run {chosen} has no such reply {number}: {kept}; 'pgs runs replies {chosen}' "
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


async def _runs(graph: str | None, session: str | None, limit: int, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages.runs_page import listed

    async with database() as pgs:
        infos = await pgs.runs(graph, session, limit=limit)
    if as_json:
        output.write_json({"runs": [plain_data(info) for info in infos]})
    elif infos:
        output.write_lines(listed(infos, output.width()))
    else:
        output.note("there is no run yet; 'pgs ask' starts one")
