"""`pgs partition`, `pgs partitions`, `pgs route`: the graph divided, and who would be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import (
    FractionOption,
    FullSweepOption,
    GraphOption,
    JsonOption,
    LeastOption,
    MaxPartitionOption,
    MinCommunityOption,
    MostOption,
    QuestionArgument,
    QuietOption,
    ThresholdOption,
)
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted, percent, seconds

if TYPE_CHECKING:
    from pgs_neo4j.engine import Partitioning


def partition(
    graph: GraphOption = None,
    force: Annotated[bool, typer.Option("--force", help="Even when nothing changed.")] = False,
    min_community_size: MinCommunityOption = None,
    target_partition_max: MaxPartitionOption = None,
    algorithm: Annotated[
        str | None, typer.Option(help="leiden-louvain, leiden or louvain [leiden-louvain].")
    ] = None,
    random_seed: Annotated[int | None, typer.Option(help="Seed of the communities [42].")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Divide a graph into partitions.

    They are reused while the graph does not change. 'pgs ask' does this by itself. Sizes and
    algorithm given here hold for this call; put them into pgs.toml or the environment for all.

    \b
      pgs partition --graph papers
      pgs partition --force --json
    """
    knobs = {
        "min_community_size": min_community_size,
        "target_partition_max": target_partition_max,
        "algorithm": algorithm,
        "random_seed": random_seed,
    }
    run(_partition(graph, force, knobs, as_json=as_json, quiet=quiet))


async def _partition(
    graph: str | None, force: bool, knobs: dict[str, Any], *, as_json: bool, quiet: bool
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.progress.listen import progress

    with progress(quiet=quiet) as shown:
        async with database(shown, **knobs) as pgs:
            found = await pgs.partition(graph, force=force)
    if as_json:
        output.write_json(json_of.partitioning(found))
    else:
        output.write_lines(described(found))
    changed = {name: value for name, value in knobs.items() if value is not None}
    if changed and not quiet:
        named = " ".join(f"PGS_{name.upper()}={value}" for name, value in changed.items())
        output.note(f"'pgs ask' partitions anew unless it is told the same: {named}")


def described(found: Partitioning) -> list[str]:
    """What was partitioned, in a few lines."""
    from pgs_neo4j.cli.pages.drift_words import drifted, origin

    made = found.generation
    how = "unchanged, reused" if found.reused else origin(made)
    lines = [
        f"{made.graph}: {counted(made.partition_count, 'partition')} of "
        f"{counted(made.node_count, 'node')} and "
        f"{counted(made.relationship_count, 'relationship')}, {how}, {seconds(found.seconds)}",
        f"modularity {made.modularity:.3f}, the largest holds {percent(made.largest_fraction)} of "
        f"the nodes, {made.pooled_nodes:,} are pooled",
    ]
    if found.drift is not None and not found.reused:
        lines.append(drifted(found.drift))
    if made.issues:
        listed = ", ".join(
            f"{count:,} {name.replace('_', ' ')}" for name, count in made.issues.items()
        )
        lines.append(f"noticed: {listed}")
    return lines


def partitions(
    graph: GraphOption = None,
    report: Annotated[
        bool, typer.Option("--report", help="Print how good they are instead of the list.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Print how far the graph has moved from them.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """List, report on, or check the partitions of a graph.

    The list begins with the largest. --check looks whether anybody else has committed since
    then; only if so is the graph scanned and compared. It repartitions nothing.

    \b
      pgs partitions --graph papers --json
      pgs partitions --report
      pgs partitions --check
    """
    if report:
        work = _report(graph, check, as_json=as_json)
    elif check:
        work = _check(graph, as_json=as_json, quiet=quiet)
    else:
        work = _partitions(graph, as_json=as_json)
    run(work)


async def _partitions(graph: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of

    async with database() as pgs:
        stored = await pgs.graph(graph)
        found = await pgs.partitions(stored.name)
    if as_json:
        listed = [json_of.partition(part) for part in found]
        output.write_json(
            {"graph": stored.name, "generation": stored.generation, "partitions": listed}
        )
        return
    from pgs_neo4j.cli.pages import tables

    output.write_table(tables.partitions(found))


async def _report(graph: str | None, check: bool, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of

    if check:
        raise UsageError("both --report and --check are given; leave one of them out")
    async with database() as pgs:
        made = await pgs.generation(graph)
    if as_json:
        output.write_json(json_of.report(made))
        return
    from pgs_neo4j.cli.pages import quality_page as page

    output.write_lines(page.report(made, output.width(), blocks=page.can_show_blocks()))


async def _check(graph: str | None, *, as_json: bool, quiet: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.pages import drift_words
    from pgs_neo4j.cli.progress.listen import progress

    with progress(quiet=quiet) as shown:
        async with database(shown) as pgs:
            stored = await pgs.graph(graph)
            moved = await pgs.check(stored.name)
            outlook = "cold" if moved is None else pgs.outlook(moved)
    if as_json:
        document = {"graph": stored.name, "generation": stored.generation}
        output.write_json({**document, "drift": json_of.drift(moved), "outlook": outlook})
    else:
        lines = drift_words.checked(stored.name, moved, outlook, output.width())
        output.write_lines(lines)


def route(
    question: QuestionArgument,
    graph: GraphOption = None,
    full_sweep: FullSweepOption = False,
    sweep_fraction: FractionOption = None,
    max_sweep_partitions: MostOption = None,
    min_sweep_partitions: LeastOption = None,
    threshold: ThresholdOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which partitions a question would go to, and why.

    No language model is called. (An embedder that is a paid endpoint gives one vector.)

    \b
      pgs route "Who supplies whom?"
    """
    knobs = {
        "sweep_fraction": sweep_fraction,
        "max_sweep_partitions": max_sweep_partitions,
        "min_sweep_partitions": min_sweep_partitions,
        "partition_relevance_threshold": threshold,
    }
    run(_route(question, graph, full_sweep, knobs, as_json=as_json))


async def _route(
    question: str, graph: str | None, full_sweep: bool, knobs: dict[str, Any], *, as_json: bool
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.engine import check_question

    check_question(question)
    async with database(**knobs) as pgs:
        stored = await pgs.graph(graph)
        routing = await pgs.route(question, graph=stored.name, full_sweep=full_sweep)
        found = {part.id: part for part in await pgs.partitions(stored.name)}
    if as_json:
        output.write_json({"graph": stored.name, **plain_data(routing)})
        return
    from pgs_neo4j.cli.pages import tables

    output.write_table(tables.routes(routing, found))
    if routing.note:
        output.note(routing.note)
