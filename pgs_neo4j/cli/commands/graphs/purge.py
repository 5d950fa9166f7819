"""`pgs purge`: remove everything pgs wrote."""

from __future__ import annotations

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption, YesOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted


def purge(yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Remove everything pgs wrote from the database.

    Your own graph stays as it is, and so do graphs made with 'pgs ingest' and 'pgs load'. Deletes
    stored graphs, partitions, and sessions: nodes labeled Pgs*, relationships PGS_*, their
    constraints, and the indexes of 'pgs index create'.
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
