"""`pgs load`: load a file of nodes and edges as a graph."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.graph import next_question
from pgs_neo4j.cli.options import GraphName, JsonOption, QuietOption, VerboseOption
from pgs_neo4j.cli.progress import Listener, progress
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted, one_line


def load(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A brain: .json or .json.gz.")],
    graph: GraphName = None,
    label: Annotated[
        str | None, typer.Option(help="Label of its nodes; derived from the name by default.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Load a file and store it as a graph.

    The file is a brain: a JSON object with nodes (id, concept, tag, weight, embedding) and
    edges (source, target, weight, type).

    The load is atomic. Loading again replaces the graph.

    \b
      pgs load physics.json.gz --graph physics
    """
    listening = progress(quiet=quiet, verbose=verbose)
    run(_load(file, graph, label, listening, as_json=as_json))


async def _load(
    file: Path,
    graph: str | None,
    label: str | None,
    listening: AbstractContextManager[Listener],
    *,
    as_json: bool,
) -> None:
    from pgs_neo4j.cli.connection import database, named_graph
    from pgs_neo4j.engine import check_graph_name, read_brain

    graph = named_graph(graph)
    check_graph_name(graph)
    content = read_brain(file)
    with listening as listener:
        async with database(listener) as pgs:
            done = await pgs.load(content, graph, label=label)
    ignored = ", ".join(f"{one_line(name)} ({count:,})" for name, count in content.ignored.items())
    if as_json:
        output.write_json({**plain_data(done), "ignored": dict(content.ignored)})
        return
    amount = f"{counted(done.nodes, 'node')} and {counted(done.relationships, 'relationship')}"
    how = "is already loaded, unchanged" if done.unchanged else "is loaded"
    told = f"graph {graph}, {amount} labeled {done.label}, {how}"
    output.write_lines([told, *next_question(graph)])
    if ignored:
        output.note(f"these keys of the file were ignored: {ignored}")
