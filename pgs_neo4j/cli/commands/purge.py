"""`pgs purge`: nothing of ours stays."""

from __future__ import annotations

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption, YesOption
from pgs_neo4j.cli.run import run
from pgs_neo4j.cli.text import counted


def purge(yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Take all that pgs wrote out of the database.

    Your own graph stays as it is. Deletes graphs, partitions, and sessions: nodes labelled
    Pgs*, relationships PGS_*, and their constraints. Asks first; where nobody can be asked it
    needs --yes.
    """
    run(_purge(yes=yes, as_json=as_json))


async def _purge(*, yes: bool, as_json: bool) -> None:
    from pgs_neo4j.cli import as_json as json_of
    from pgs_neo4j.cli.connection import confirm, database

    async with database() as pgs:
        if not yes:
            names = ", ".join(each.name for each in await pgs.graphs()) or "none"
            confirm(f"all partitions and sessions go (graphs: {names})", yes=yes)
        done = await pgs.purge()
    if as_json:
        output.write_json(json_of.plain_data(done))
        return
    nodes, relationships = counted(done.nodes, "node"), counted(done.relationships, "relationship")
    output.write_lines(
        [f"{nodes}, {relationships} and {counted(done.constraints, 'constraint')} of ours deleted"]
    )
