"""`pgs graph …`: store, list, show, and remove named graphs.

Other commands use this module to print how to ask a new graph, or how to store a proposed one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.completion import complete_graphs
from pgs_neo4j.cli.options import JsonOption, YesOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.model.graph import split_property
from pgs_neo4j.text.commands import add_command, command_line
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted, one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import Domain, GraphChange, Proposal, StoredGraph


graph_app = typer.Typer(no_args_is_help=True, help="Store, list, show, and remove named graphs.")
NameArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The graph's name.", autocompletion=complete_graphs),
]
ShownArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="The graph's name; by default PGS_GRAPH, or the only graph.",
        autocompletion=complete_graphs,
    ),
]
LONGEST = 40
"""Maximum characters of a name derived from a label."""
FIRST_QUESTION = "What is this graph about, and what is missing?"


@graph_app.command("add")
def add(
    name: NameArgument,
    label: Annotated[
        list[str] | None, typer.Option("--label", help="Node label to include; repeatable.")
    ] = None,
    relationship_type: Annotated[
        list[str] | None,
        typer.Option("--relationship-type", help="Relationship type to include; repeatable."),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option("--text", help="Property to read; repeatable, in order.")
    ] = None,
    title: Annotated[
        list[str] | None, typer.Option("--title", help="Property that names a node; repeatable.")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option("--key", help="Property that identifies a node; repeatable.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Property with the weight of a node.")] = None,
    relationship_weight: Annotated[
        str | None, typer.Option(help="Property with the weight of a relationship.")
    ] = None,
    embedding: Annotated[str | None, typer.Option(help="Property with a stored vector.")] = None,
    embedding_model: Annotated[
        str | None, typer.Option(help="Embedder that made the vectors, as in openai/NAME.")
    ] = None,
    relationship_name: Annotated[
        str | None, typer.Option(help="Property that names a relationship.")
    ] = None,
    relationship_text: Annotated[
        str | None, typer.Option(help="Property with the fact that a relationship states.")
    ] = None,
    relationship_embedding: Annotated[
        str | None, typer.Option(help="Property with a stored vector of that fact.")
    ] = None,
    chunk_label: Annotated[
        list[str] | None, typer.Option("--chunk-label", help="Label of text passages; repeatable.")
    ] = None,
    mention_type: Annotated[
        list[str] | None,
        typer.Option(
            "--mention-type",
            help="Relationship type between a passage and what it mentions; repeatable.",
        ),
    ] = None,
    scope_property: Annotated[
        list[str] | None,
        typer.Option(
            "--scope-property",
            help="Property that divides the graph; opening it needs a --scope; repeatable.",
        ),
    ] = None,
    valid_from: Annotated[
        str | None,
        typer.Option(
            "--valid-from",
            help="Property with the date since which a node or relationship is valid.",
        ),
    ] = None,
    valid_to: Annotated[
        str | None,
        typer.Option(
            "--valid-to",
            help="Property with the date from which it is no longer valid.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the whole stored definition of that name.")
    ] = False,
    allow_missing: Annotated[
        bool,
        typer.Option(
            "--allow-missing",
            help="Accept labels, types, and properties that nothing in the database has yet.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Store a view of the database under a name.

    Without --label, all labels are included; without --relationship-type, all types. 'pgs
    inspect' proposes the options. Storing the same view again changes nothing. Another view
    needs --replace, and replaces all of the stored one: an option that is not given is unset, and
    'pgs graph show NAME' prints those that are. The partitions are made again, and only unchanged
    texts still count as read in its sessions. LABEL.PROPERTY after --text, --title, or --key is for
    nodes with that label alone, and goes before a title or key for all.

    \b
      pgs graph add papers --label Paper --text abstract --title title --key doi
      pgs graph add shop --title Product.productName --title Customer.companyName
    """
    titles, keys = split_names("--title", title or ()), split_names("--key", key or ())
    mapping = GraphMapping(
        labels=tuple(label or ()),
        relationship_types=tuple(relationship_type or ()),
        text=tuple(text or ()),
        title=titles.plain,
        key=keys.plain,
        titles=titles.labeled,
        keys=keys.labeled,
        weight=weight,
        relationship_weight=relationship_weight,
        embedding=embedding,
        embedding_model=embedding_model,
        relationship_name=relationship_name,
        relationship_text=relationship_text,
        relationship_embedding=relationship_embedding,
        chunk_labels=tuple(chunk_label or ()),
        mention_types=tuple(mention_type or ()),
        scope=tuple(scope_property or ()),
        valid_from=valid_from,
        valid_to=valid_to,
    )
    run(_add(name, mapping, replace=replace, allow_missing=allow_missing, as_json=as_json))


@dataclass(frozen=True, slots=True)
class Names:
    """Properties given as LABEL.PROPERTY, and the one given for all labels."""

    labeled: tuple[str, ...]
    plain: str | None


def split_names(option: str, names: Sequence[str]) -> Names:
    """Separate names of the form LABEL.PROPERTY from the one property for all labels.

    Raises UsageError if several properties are given for all labels.
    """
    plain = [name for name in names if len(split_property(name)) == 1]
    if len(plain) > 1:
        raise UsageError(
            f"{option} names {' and '.join(plain[:3])} for all labels; write LABEL.PROPERTY for "
            f"those of one label, as in {option} Product.{plain[-1]}"
        )
    labeled = tuple(name for name in names if name not in plain)
    return Names(labeled, plain[0] if plain else None)


async def _add(
    name: str, mapping: GraphMapping, *, replace: bool, allow_missing: bool, as_json: bool
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.engine import check_graph_name, check_mapping

    check_graph_name(name)
    check_mapping(mapping)
    async with database() as pgs:
        warnings = await pgs.graphs.validate(mapping, allow_missing=allow_missing)
        change = await pgs.graphs.compare(name, mapping)
        created = await pgs.graphs.add(name, mapping, replace=replace)
    if as_json:
        document = {"name": name, "created": created, "mapping": plain_data(mapping)}
        document |= {"warnings": warnings, "change": plain_data(change)}
        output.write_json(document)
        return
    for warning in warnings:
        output.note(warning)
    lines = [*_describe_added(name, change, created=created), *next_question(name)]
    output.write_lines(lines)


def _describe_added(name: str, change: GraphChange | None, *, created: bool) -> list[str]:
    if change is None:
        return [f"graph {name} is {'stored' if created else 'already stored, unchanged'}"]
    differences = [f"  {one_line(difference)}" for difference in change.differences]
    return [f"graph {name} is replaced", *differences, f"so {change.effect}"]


def next_question(name: str) -> list[str]:
    """Return an empty line, a heading, and the command that asks a newly stored graph."""
    words = ["pgs", "ask", "--graph", name, FIRST_QUESTION]
    return ["", "To ask it a question:", f"  {command_line(words)}"]


def domain_commands(domains: Sequence[tuple[Domain, Proposal]]) -> list[str]:
    """Return the ``pgs graph add`` command for each domain, each with a different name."""
    commands: list[str] = []
    taken: set[str] = set()
    for number, (domain, proposal) in enumerate(domains, start=1):
        plain = re.sub(r"[^a-z0-9]+", "-", domain.labels[0].lower()).strip("-")[:LONGEST]
        name = plain if plain and plain not in taken else f"domain-{number}"
        taken.add(name)
        commands.append(add_command(name, proposal.mapping))
    return commands


@graph_app.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the stored graphs."""
    run(_list(as_json=as_json))


async def _list(*, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.pages import tables

    async with database() as pgs:
        graphs = await pgs.graphs()
    if as_json:
        output.write_json({"graphs": [json_of.graph(graph) for graph in graphs]})
    elif graphs:
        output.write_table(tables.graphs(graphs))
    else:
        output.note("no graph is stored yet; 'pgs inspect' proposes one")


@graph_app.command("show")
def show(name: ShownArgument = None, as_json: JsonOption = False) -> None:
    """Show a graph's mapping and its current partitioning."""
    run(_show(name, as_json=as_json))


async def _show(name: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import as_json as json_of
    from pgs_neo4j.cli.pages import tables

    async with database() as pgs:
        graph = await pgs.graphs.get(name)
    if as_json:
        output.write_json(json_of.graph(graph))
        return
    output.write_table(tables.mapping(graph.mapping))
    output.write_lines(
        ["", _state(graph), f"as a command: {add_command(graph.name, graph.mapping)}"]
    )


def _state(graph: StoredGraph) -> str:
    if graph.node_count is None or graph.partition_count is None:
        return f"not partitioned yet: pgs partition --graph {graph.name}"
    parts = counted(graph.partition_count, "partition")
    state = f"{parts} of {counted(graph.node_count, 'node')}, generation {graph.generation}"
    return f"{state}, made for an earlier definition" if graph.redefined else state


@graph_app.command("remove")
def remove(name: NameArgument, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Delete a graph's mapping, partitions, and sessions. Its nodes stay."""
    run(_remove(name, yes=yes, as_json=as_json))


async def _remove(name: str, *, yes: bool, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import confirm, database

    async with database() as pgs:
        graph = await pgs.graphs.get(name)
        sessions = len(await pgs.sessions(graph.name))
        if sessions:
            what = f"removing graph {graph.name} also deletes {counted(sessions, 'session')}"
            confirm(what, yes=yes)
        await pgs.graphs.remove(graph.name)
    if as_json:
        output.write_json({"removed": graph.name, "sessions": sessions})
    else:
        output.write_lines([f"graph {graph.name} is removed; its nodes stay"])
