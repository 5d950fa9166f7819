"""`pgs index …`: vector indexes, created on request only."""

from __future__ import annotations

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import GraphOption, JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted

index_app = typer.Typer(
    no_args_is_help=True, help="Create, list, and drop vector indexes on stored embeddings."
)


@index_app.command("create")
def create_index(graph: GraphOption = None, as_json: JsonOption = False) -> None:
    """Create a vector index on each label of a graph.

    The graph needs stored embeddings; similarity is cosine. Nothing else creates vector indexes.
    With them, embeddings count when a question is routed, however large the graph is.
    """
    run(_create_index(graph, as_json=as_json))


async def _create_index(graph: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database

    async with database() as pgs:
        created = await pgs.indexes.create(graph)
    if as_json:
        output.write_json(
            {
                "graph": created.graph,
                "dimensions": created.dimensions,
                "created": list(created.names),
            }
        )
    elif created.names:
        amount = counted(len(created.names), "index", "indexes")
        output.write_lines([f"{amount} of {created.dimensions} dimensions created"])
    else:
        output.write_lines(["every label already has a vector index"])


@index_app.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the vector indexes of the database, and who made them."""
    run(_list(as_json=as_json))


async def _list(*, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import tables

    async with database() as pgs:
        indexes = await pgs.indexes()
    if as_json:
        output.write_json({"indexes": [plain_data(index) for index in indexes]})
    elif indexes:
        output.write_table(tables.indexes(indexes))
    else:
        output.note("there is no vector index; 'pgs index create' creates one for each label")


@index_app.command("drop")
def drop_index(as_json: JsonOption = False) -> None:
    """Drop the vector indexes that 'pgs index create' made. Others stay."""
    run(_drop_index(as_json=as_json))


async def _drop_index(*, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database

    async with database() as pgs:
        names = await pgs.indexes.drop()
    if as_json:
        output.write_json({"dropped": names})
    else:
        output.write_lines([f"{counted(len(names), 'index', 'indexes')} dropped"])
