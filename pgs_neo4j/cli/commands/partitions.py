"""`pgs partition`, `pgs partitions`, and `pgs route`: make, show, and choose partitions."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.request import read_question
from pgs_neo4j.cli.knob_options import ROUTING, with_knobs
from pgs_neo4j.cli.options import (
    FullSweepOption,
    GraphOption,
    JsonOption,
    QuestionArgument,
    QuietOption,
    VerboseOption,
)
from pgs_neo4j.cli.progress import Listener, progress
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.events import ignore
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted

if TYPE_CHECKING:
    pass


@with_knobs(
    "min_community_size",
    "target_partition_max",
    "max_partition_tokens",
    "algorithm",
    "random_seed",
    "centroid",
)
def partition(
    graph: GraphOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Start from scratch, even if nothing changed.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    **knobs: object,
) -> None:
    """Divide a graph into partitions.

    Reuses the current partitions while the graph does not change. 'pgs ask' partitions by itself.
    Options stay with the partitions that they make, until other ones are given or set in pgs.toml
    or the environment.

    \b
      pgs partition --graph papers
      pgs partition --force --json
    """
    listening = progress(quiet=quiet, verbose=verbose)
    run(_partition(graph, force, knobs, listening, as_json=as_json, quiet=quiet))


async def _partition(
    graph: str | None,
    force: bool,
    knobs: dict[str, object],
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of

    with listening as listener:
        async with database(listener, **knobs) as pgs:
            partitioning = await pgs.partitions.build(graph, force=force)
    if as_json:
        output.write_json(json_of.partitioning(partitioning))
    else:
        from pgs_neo4j.cli.pages import partitions_page

        output.write_lines(partitions_page.describe(partitioning))
    if not quiet and any(value is not None for value in knobs.values()):
        output.note("these settings stay with the partitions until others are given or configured")


def partitions(
    graph: GraphOption = None,
    report: Annotated[
        bool, typer.Option("--report", help="Print quality figures instead of the list.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Print how far the graph has drifted from its partitions."),
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="Partitions to list; JSON has all of them.")
    ] = 40,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """List, report on, or check the partitions of a graph.

    Lists the largest first, each on one line. --check scans and compares the graph only if
    something was committed since the last partitioning. It repartitions nothing.

    \b
      pgs partitions --graph papers --json
      pgs partitions --report
      pgs partitions --check
    """
    if report:
        work = _report(graph, check, as_json=as_json)
    elif check:
        listening = progress(quiet=quiet, verbose=verbose)
        work = _check(graph, listening, as_json=as_json)
    else:
        work = _partitions(graph, limit, as_json=as_json)
    run(work)


async def _partitions(graph: str | None, limit: int, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of

    async with database() as pgs:
        stored = await pgs.graphs.get(graph)
        current = await pgs.partitions(stored.name)
    if as_json:
        listed = [json_of.partition(part) for part in current]
        output.write_json(
            {"graph": stored.name, "generation": stored.generation, "partitions": listed}
        )
        return
    from pgs_neo4j.cli.pages import tables

    output.write_table(tables.partitions(current[:limit]))
    left = len(current) - limit
    if left > 0:
        output.note(
            f"{counted(left, 'smaller partition is', 'smaller partitions are')} not shown; "
            f"--limit {len(current)} lists all, and --json prints all that is known of each"
        )


async def _report(graph: str | None, check: bool, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of

    if check:
        raise UsageError("--report cannot be combined with --check; leave one of them out")
    async with database() as pgs:
        generation = await pgs.partitions.generation(graph)
    if as_json:
        output.write_json(json_of.report(generation))
        return
    from pgs_neo4j.cli.pages import partitions_page as page

    output.write_lines(page.report(generation, output.width(), blocks=page.can_show_blocks()))


async def _check(
    graph: str | None, listening: AbstractContextManager[Listener], *, as_json: bool
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.pages import partitions_page

    with listening as listener:
        async with database(listener) as pgs:
            stored = await pgs.graphs.get(graph)
            moved = await pgs.partitions.check(stored.name)
            outlook = "cold" if moved is None else pgs.partitions.outlook(moved)
    if as_json:
        document = {"graph": stored.name, "generation": stored.generation}
        output.write_json({**document, "drift": json_of.drift(moved), "outlook": outlook})
    else:
        lines = partitions_page.check_lines(stored.name, moved, outlook, output.width())
        output.write_lines(lines)


@with_knobs(*ROUTING)
def route(
    question: QuestionArgument = None,
    graph: GraphOption = None,
    full_sweep: FullSweepOption = False,
    as_json: JsonOption = False,
    **knobs: object,
) -> None:
    """Show which partitions a question would go to, and why.

    Calls no language model. (A paid embedding endpoint is asked for one vector.)

    \b
      pgs route "Who supplies whom?"
    """
    asked = read_question(question, quiet=as_json)
    run(_route(asked, graph, full_sweep, knobs, as_json=as_json))


async def _route(
    question: str, graph: str | None, full_sweep: bool, knobs: dict[str, object], *, as_json: bool
) -> None:
    from pgs_neo4j.cli.connection import database

    async with database(ignore, **knobs) as pgs:
        stored = await pgs.graphs.get(graph)
        routing = await pgs.route(question, graph=stored.name, full_sweep=full_sweep)
        by_id = {part.id: part for part in await pgs.partitions(stored.name)}
    if as_json:
        output.write_json({"graph": stored.name, **plain_data(routing)})
        return
    from pgs_neo4j.cli.pages import tables

    output.write_table(tables.routes(routing, by_id))
    if routing.note:
        output.note(routing.note)
