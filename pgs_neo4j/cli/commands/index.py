"""`pgs index …`: create, list, and drop full-text and vector indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import GraphOption, JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.text.shown import counted, one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import CreatedIndexes, SearchIndex


index_app = typer.Typer(
    no_args_is_help=True, help="Create, list, and drop full-text and vector indexes."
)
TextOption = Annotated[bool, typer.Option("--text", help="A full-text index on texts and titles.")]
FactsOption = Annotated[
    bool, typer.Option("--facts", help="Vector indexes on embeddings of relationships.")
]
VectorsOption = Annotated[
    bool, typer.Option("--vectors", help="Vector indexes on embeddings of nodes (default).")
]


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

    async with database() as pgs:
        created = await pgs.indexes.create(graph, text=text, facts=facts, vectors=vectors)
    if as_json:
        output.write_json(created_json(created))
    else:
        output.write_lines(created_lines(created))
        for note in created.notes:
            output.note(note)


def created_lines(created: CreatedIndexes) -> list[str]:
    """Return a line for each index, created now or already there."""
    return [
        *(f"created: {_index_line(index)}" for index in created.created),
        *(f"already there: {_index_line(index)}{_maker(index)}" for index in created.existing),
    ]


def _index_line(index: SearchIndex) -> str:
    kind = "full-text index" if index.kind == "text" else "vector index"
    labels, properties = (
        ", ".join(map(one_line, names)) for names in (index.labels, index.properties)
    )
    size = f", {index.dimensions:,} dimensions" if index.dimensions else ""
    return f"{kind} {one_line(index.name)} on {labels} ({properties}{size})"


def _maker(index: SearchIndex) -> str:
    """Return the words for an index that pgs did not make, with its analyzer if not ``english``.

    A full-text index with another analyzer compares words less well than an index made by pgs.
    """
    if index.own:
        return ""
    if index.kind == "text" and index.analyzer != "english":
        return f", made by others, with the analyzer {index.analyzer}"
    return ", made by others"


def created_json(created: CreatedIndexes) -> Json:
    """Return created indexes as JSON data."""
    return {
        "graph": created.graph,
        "dimensions": created.dimensions,
        "created": list(created.names),
        "existing": [index.name for index in created.existing],
        "indexes": [index_json(index) for index in (*created.created, *created.existing)],
        "notes": list(created.notes),
    }


@index_app.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the full-text and vector indexes of the database, and who made them."""
    run(_list(as_json=as_json))


async def _list(*, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.cli.pages import tables

    async with database() as pgs:
        indexes = await pgs.indexes()
    if as_json:
        output.write_json({"indexes": [index_json(index) for index in indexes]})
    elif indexes:
        output.write_table(tables.indexes(indexes))
    else:
        output.note(
            "there is no full-text or vector index; 'pgs index create --graph NAME --text' and "
            "'pgs index create --graph NAME --vectors' create them"
        )


def index_json(index: SearchIndex) -> Json:
    """Return an index as JSON data; ``label`` and ``property`` are its first label and property."""
    return {
        "name": index.name,
        "label": index.label,
        "property": index.property,
        "dimensions": index.dimensions,
        "similarity": index.similarity,
        "state": index.state,
        "own": index.own,
        "kind": index.kind,
        "on": index.entity,
        "labels": list(index.labels),
        "properties": list(index.properties),
        "analyzer": index.analyzer,
        "population": index.population,
        "failure": index.failure,
    }


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
