"""`pgs index …`: full-text and vector indexes, created on request only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import GraphOption, JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.shown import counted

if TYPE_CHECKING:
    from pgs_neo4j.engine import CreatedIndexes

TextOption = Annotated[bool, typer.Option("--text", help="A full-text index on texts and titles.")]
FactsOption = Annotated[
    bool, typer.Option("--facts", help="Vector indexes on embeddings of relationships.")
]
VectorsOption = Annotated[
    bool, typer.Option("--vectors", help="Vector indexes on embeddings of nodes (default).")
]

index_app = typer.Typer(
    no_args_is_help=True, help="Create, list, and drop full-text and vector indexes."
)


@index_app.command("create")
def create_index(
    graph: GraphOption = None,
    text: TextOption = False,
    facts: FactsOption = False,
    vectors: VectorsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Create the indexes that searches of a graph use.

    Nothing else creates an index on your graph. An index of yours that serves as well is not
    duplicated. Waits until the indexes are filled. Vectors are compared by cosine. With their
    indexes, embeddings count when a question is routed, however large the graph is.

    \b
      pgs index create --graph papers --text --vectors
    """
    run(_create_index(graph, text=text, facts=facts, vectors=vectors, as_json=as_json))


async def _create_index(
    graph: str | None, *, text: bool, facts: bool, vectors: bool, as_json: bool
) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import index_page

    async with database() as pgs:
        created = await pgs.indexes.create(graph, text=text, facts=facts, vectors=vectors)
    if as_json:
        output.write_json(index_page.created_json(created))
    else:
        _write_created(created)


def _write_created(created: CreatedIndexes) -> None:
    from pgs_neo4j.cli.pages import index_page

    output.write_lines(index_page.lines(created))
    for note in created.notes:
        output.note(note)


@index_app.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the full-text and vector indexes of the database, and who made them."""
    run(_list(as_json=as_json))


async def _list(*, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import index_page, tables

    async with database() as pgs:
        indexes = await pgs.indexes()
    if as_json:
        output.write_json({"indexes": [index_page.as_json(index) for index in indexes]})
    elif indexes:
        output.write_table(tables.indexes(indexes))
    else:
        output.note(
            "there is no full-text or vector index; 'pgs index create --graph NAME --text' and "
            "'pgs index create --graph NAME --vectors' create them"
        )


@index_app.command("drop")
def drop_index(as_json: JsonOption = False) -> None:
    """Drop the indexes that 'pgs index create' made. Others stay."""
    run(_drop_index(as_json=as_json))


async def _drop_index(*, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database

    async with database() as pgs:
        names = await pgs.indexes.drop()
    if as_json:
        output.write_json({"dropped": names})
    else:
        output.write_lines([f"{counted(len(names), 'index', 'indexes')} dropped"])
