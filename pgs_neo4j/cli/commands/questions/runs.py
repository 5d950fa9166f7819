"""`pgs runs`: the recorded runs, the latest first."""

from __future__ import annotations

from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.completion import complete_sessions
from pgs_neo4j.cli.options import GraphOption, JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import plain_data


def runs(
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
    """
    run(_runs(graph, session, limit, as_json=as_json))


async def _runs(graph: str | None, session: str | None, limit: int, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages.run_words import listed

    async with database() as pgs:
        infos = await pgs.runs(graph, session, limit=limit)
    if as_json:
        output.write_json({"runs": [plain_data(info) for info in infos]})
    elif infos:
        output.write_lines(listed(infos, output.width()))
    else:
        output.note("there is no run yet; 'pgs ask' starts one")
