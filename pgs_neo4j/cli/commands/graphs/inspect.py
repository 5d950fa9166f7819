"""`pgs inspect`: the content of a database, and a suitable graph."""

from __future__ import annotations

from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption
from pgs_neo4j.cli.pages.mapping_words import domain_commands
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.add_command import add_command
from pgs_neo4j.text.json_data import plain_data


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
    neo4j-graphrag, LightRAG, Graphiti, or the FalkorDB GraphRAG-SDK wrote are recognized. Where
    several domains share a database that no relationship connects, each has a command of its own;
    --label proposes a graph of chosen labels.

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
    apart = domain_commands(domains)
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
                    for (domain, own), line in zip(domains, apart, strict=True)
                ],
                "stored": stored,
            }
        )
        return
    from pgs_neo4j.cli.pages import survey_page

    output.write_lines(survey_page.heading(survey))
    for table in survey_page.tables(survey):
        output.write_table(table)
    if len(domains) > 1:
        output.write_lines(survey_page.apart([domain for domain, _ in domains], survey, apart))
    output.write_lines(survey_page.proposed(proposal, command, output.width(), stored))
