"""`pgs index …`: vector indexes, made on request and never else."""

from __future__ import annotations

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import GraphOption, JsonOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.shown import counted

index_app = typer.Typer(no_args_is_help=True, help="Vector indexes for 'pgs ask --top-k'.")


@index_app.command("create")
def create_index(graph: GraphOption = None, as_json: JsonOption = False) -> None:
    """Create a cosine vector index on each label of a graph with stored embeddings.

    Nothing else ever creates one; without it the nearest nodes are found by reading all
    vectors.
    """
    run(_create_index(graph, as_json=as_json))


async def _create_index(graph: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.errors import MappingError
    from pgs_neo4j.retrieval.topk import create_indexes
    from pgs_neo4j.survey import survey
    from pgs_neo4j.survey.weighing import count_embedding_sizes

    async with database() as pgs:
        stored = await pgs.graph(graph)
        mapping = stored.mapping
        found = await survey(pgs.db, mapping.labels) if mapping.embedding else None
        sizes = count_embedding_sizes(found, mapping.embedding or "") if found else {}
        sizes.pop(0, None)
        if mapping.embedding and not sizes:
            raise MappingError(
                f"no sampled node of graph {stored.name} holds a vector in {mapping.embedding!r}, "
                "so there is nothing to index; correct it with 'pgs graph add'"
            )
        most = max(sizes, key=lambda size: (sizes[size], size), default=0)
        names = await create_indexes(pgs.db, mapping, most)
    if as_json:
        output.write_json({"graph": stored.name, "dimensions": most, "created": names})
    elif names:
        output.write_lines(
            [f"{counted(len(names), 'index', 'indexes')} of {most} dimensions created"]
        )
    else:
        output.write_lines(["every label has a vector index already"])


@index_app.command("drop")
def drop_index(as_json: JsonOption = False) -> None:
    """Drop the vector indexes that 'pgs index create' made; others stay."""
    run(_drop_index(as_json=as_json))


async def _drop_index(*, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.retrieval.topk import drop_indexes

    async with database() as pgs:
        names = await drop_indexes(pgs.db)
    if as_json:
        output.write_json({"dropped": names})
    else:
        output.write_lines([f"{counted(len(names), 'index', 'indexes')} dropped"])
