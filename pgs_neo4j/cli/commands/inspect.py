"""`pgs inspect`: show the content of a database, and propose a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.graph import domain_commands
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.pages.text import wrap_lines
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.commands import add_command
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted, one_line, percent, plain

if TYPE_CHECKING:
    from rich.table import Table

    from pgs_neo4j.engine import Domain, LabelSample, NodeProperty, Proposal, Survey


MOST_LABELS = 15
MOST_PROPERTIES = 8
MOST_DOMAINS = 10


def inspect(
    name: Annotated[str, typer.Option("--name", help="Name for the proposed graph.")] = "mygraph",
    label: Annotated[
        list[str] | None,
        typer.Option("--label", help="Node label that the graph is to include; repeatable."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Inspect a database and propose a graph.

    Reads counts and a sample only. The last line is a command ready to run. Graphs that
    neo4j-graphrag, LightRAG, Graphiti, or the FalkorDB GraphRAG-SDK wrote are recognized. If the
    database has several unconnected domains, prints one command per domain. Use --label to propose
    a graph of the labels you choose.

    \b
      pgs inspect
      pgs inspect --name films --label Movie --label Person
    """
    run(_inspect(name, label or [], as_json=as_json))


async def _inspect(name: str, chosen: list[str], *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.engine import propose

    async with database() as pgs:
        await pgs.survey.check_labels(chosen)
        survey = await pgs.survey(chosen)
        proposal = propose(survey, chosen)
        domains = [] if chosen else await pgs.survey.domains(survey)
        labels = set(proposal.mapping.labels or (sample.label for sample in survey.labels))
        stored = [
            graph.name
            for graph in await pgs.graphs()
            if not graph.mapping.labels or labels <= set(graph.mapping.labels)
        ]
    command = add_command(name, proposal.mapping) if survey.nodes else None
    commands = domain_commands(domains)
    if as_json:
        output.write_json(
            {
                **plain_data(survey),
                "mapping": plain_data(proposal.mapping),
                "notes": list(proposal.notes),
                "recognized": proposal.recognized,
                "command": command,
                "domains": [
                    {**plain_data(domain), "mapping": plain_data(own.mapping), "command": line}
                    for (domain, own), line in zip(domains, commands, strict=True)
                ],
                "stored": stored,
            }
        )
        return
    output.write_lines(survey_heading(survey))
    for table in survey_tables(survey):
        output.write_table(table)
    if len(domains) > 1:
        output.write_lines(domain_lines([domain for domain, _ in domains], survey, commands))
    output.write_lines(proposal_lines(proposal, command, output.width(), stored))


def survey_heading(survey: Survey) -> list[str]:
    """Return the total counts of nodes, relationships, labels, and types, then an empty line."""
    floor = f" (counting stopped at {survey.floor:,})" if survey.floor else ""
    lines = [
        f"{counted(survey.nodes, 'node')}, {counted(survey.relationships, 'relationship')}{floor}, "
        f"{counted(len(survey.labels), 'label')}, "
        f"{counted(len(survey.relationship_types), 'relationship type')}"
    ]
    if survey.our_labels:
        ours = sum(count for _, count in survey.our_labels)
        lines.append(f"and {counted(ours, 'node')} of pgs itself, not counted")
    return [*lines, ""]


def survey_tables(survey: Survey) -> Iterator[Table]:
    """Yield a table of labels and their properties, then one of any relationship types."""
    from pgs_neo4j.cli.pages import tables

    rows = [row for sample in survey.labels[:MOST_LABELS] for row in _rows(sample)]
    hidden = len(survey.labels) - MOST_LABELS
    if hidden > 0:
        rows.append((f"and {hidden} more", "", "", "", "", ""))
    columns = ("label", "nodes>", "property", "on>", "kind", "sample")
    yield tables.table(columns, rows)
    if survey.relationship_types:
        types = (
            (sample.type, f"{sample.count:,}", ", ".join(p.name for p in sample.properties) or "-")
            for sample in survey.relationship_types[: 2 * MOST_LABELS]
        )
        yield tables.table(("",), [])
        yield tables.table(("relationship type", "count>", "properties"), types)


def _rows(sample: LabelSample) -> Iterator[tuple[str, ...]]:
    label = sample.label or "(no label)"
    count = f"{sample.count:,}"
    for prop in sample.properties[:MOST_PROPERTIES]:
        yield label, count, prop.name, percent(sample.share(prop)), _kind(prop), _content(prop)
        label = count = ""
    if not sample.properties:
        yield label, count, "-", "", "" if sample.sampled else "not sampled", ""
    hidden = len(sample.properties) - MOST_PROPERTIES
    if hidden > 0:
        yield "", "", f"and {hidden} more", "", "", ""


def _kind(prop: NodeProperty) -> str:
    if prop.sizes:
        return "vector"
    return ", ".join(prop.types).lower() + (" unique" if prop.unique else "")


def _content(prop: NodeProperty) -> str:
    if prop.sizes:
        return ", ".join(f"{size} numbers" for size, _ in prop.sizes[:3])
    if prop.texts:
        prose = f", {percent(prop.prose / prop.texts)} prose" if prop.prose else ""
        return f"{prop.mean_length or 0:.0f} characters on average{prose}"
    if prop.least is not None and prop.greatest is not None:
        return f"{prop.least:g} to {prop.greatest:g}"
    return ""


def domain_lines(domains: Sequence[Domain], survey: Survey, commands: Sequence[str]) -> list[str]:
    """Return the domains of a database, each with its command, and a heading for what follows.

    The caller then prints the proposal for all domains together.
    """
    counts = {sample.label: sample.count for sample in survey.labels}
    lines = ["", f"{counted(len(domains), 'domain')} that no relationship connects"]
    for domain, command in list(zip(domains, commands, strict=True))[:MOST_DOMAINS]:
        nodes = counted(sum(counts[label] for label in domain.labels), "node")
        named = ", ".join(one_line(label) for label in domain.labels[:MOST_LABELS])
        more = len(domain.labels) - MOST_LABELS
        named += f", and {more} more labels" if more > 0 else ""
        lines += ["", f"  {named} ({nodes})", plain(command)]
    if len(domains) > MOST_DOMAINS:
        lines += ["", f"  and {len(domains) - MOST_DOMAINS} more; --json lists all"]
    return [*lines, "", "All of them together:"]


def proposal_lines(
    proposal: Proposal, command: str | None, width: int, stored: Sequence[str] = ()
) -> list[str]:
    """Return the proposal with its reasons, below a line for each graph in ``stored``.

    ``stored`` has the names of graphs that already cover the same nodes. The last line is
    ``command``, ready to run.
    """
    lines = [
        line
        for name in stored
        for line in ("", f"Graph {name} already covers all of these nodes: pgs graph show {name}")
    ]
    lines += ["", "Proposed graph"]
    for note in proposal.notes:
        wrapped = wrap_lines(one_line(note), max(40, width - 4)) or [""]
        lines += [f"  - {wrapped[0]}", *(f"    {line}" for line in wrapped[1:])]
    # The command is not wrapped, so that it can be copied as one line.
    return [*lines, "", plain(command)] if command else lines
