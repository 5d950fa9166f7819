"""`pgs cache …` and `pgs purge`: delete stored replies, or everything that pgs wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption, YesOption
from pgs_neo4j.cli.pages.text import size
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted, one_line

if TYPE_CHECKING:
    from pgs_neo4j.engine import Purged


cache_app = typer.Typer(no_args_is_help=True, help="Show and clear the cache of model replies.")


@cache_app.command("show")
def show(as_json: JsonOption = False) -> None:
    """Show how many model replies the database stores, and their size.

    The same question on the same text is answered from these replies, and a resumed run finds
    what it has paid for. Beyond cache_mb, the least recently used are removed.
    """
    run(_show(as_json=as_json))


async def _show(*, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database

    async with database() as pgs:
        cached, most = await pgs.kept_replies(), pgs.config.cache_mb
    if as_json:
        output.write_json({**plain_data(cached), "cache_mb": most})
    else:
        amount = counted(cached.replies, "reply", "replies")
        output.write_lines([f"{amount} stored, {size(cached.size_bytes)} of at most {most:g} MB"])


@cache_app.command("clear")
def clear(yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Delete the stored model replies.

    Answers, findings, and coverage stay, and so do replies that 'pgs resume' may need for runs
    of the last day. The next question pays for everything it reads.
    """
    run(_clear(yes=yes, as_json=as_json))


async def _clear(*, yes: bool, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import confirm, database

    async with database() as pgs:
        cached = await pgs.kept_replies()
        if cached.replies:
            confirm(
                f"this deletes {counted(cached.replies, 'stored reply', 'stored replies')}", yes=yes
            )
        done = await pgs.clear_cache()
    if as_json:
        output.write_json(plain_data(done))
    else:
        deleted = counted(done.replies, "stored reply", "stored replies")
        output.write_lines([f"{deleted} deleted, {size(done.size_bytes)}"])


def purge(yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Remove everything pgs wrote from the database.

    Your own graph stays as it is, and so do graphs made with 'pgs ingest' and 'pgs load'. Deletes
    stored graphs, partitions, and sessions: nodes labeled Pgs*, relationships PGS_*, their
    constraints, and the indexes of 'pgs index create'. Says what stays, and what removes that.
    Asks for confirmation; without a terminal, pass --yes.
    """
    run(_purge(yes=yes, as_json=as_json))


async def _purge(*, yes: bool, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import confirm, database

    async with database() as pgs:
        if not yes:
            names = ", ".join(graph.name for graph in await pgs.graphs()) or "none"
            confirm(f"this deletes all partitions and sessions (graphs: {names})", yes=yes)
        done = await pgs.purge()
    if as_json:
        output.write_json(plain_data(done))
        return
    deleted = (
        counted(done.nodes, "node"),
        counted(done.relationships, "relationship"),
        counted(done.constraints, "constraint"),
    )
    indexes = counted(done.indexes, "index", "indexes")
    output.write_lines([f"{', '.join(deleted)}, and {indexes} of pgs deleted"])
    for line in kept_lines(done):
        output.note(line)


def kept_lines(done: Purged) -> list[str]:
    """Return lines on the graphs, indexes, and constraints that a purge leaves.

    Each line says how to remove them.
    """
    lines: list[str] = []
    for one in done.kept:
        name, nodes = one_line(one.graph), counted(one.nodes, "node")
        if one.documents:
            documents = counted(one.documents, "document")
            removes = f"'pgs documents delete --all --graph {name}' deletes them"
            lines.append(f"graph {name} stays: {nodes} of {documents}; {removes}")
        else:
            where = f"label LoadedNode and graph {json.dumps(one.graph)}"
            removes = f"in Cypher, delete the nodes with {one_line(where)}"
            lines.append(f"graph {name} stays: {nodes} of a loaded file; {removes}")
    names = [*done.kept_indexes, *done.kept_constraints]
    if names:
        indexes = counted(len(done.kept_indexes), "index", "indexes")
        constraints = counted(len(done.kept_constraints), "constraint")
        lines.append(
            f"{indexes} and {constraints} of such graphs stay; in Cypher, drop {', '.join(names)}"
        )
    return lines
