"""`pgs cache …`: replies of models that the database keeps, so that nothing is paid for twice."""

from __future__ import annotations

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption, YesOption
from pgs_neo4j.cli.pages.text import size
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted

cache_app = typer.Typer(no_args_is_help=True, help="Replies of models that are kept.")


@cache_app.command("show")
def show(as_json: JsonOption = False) -> None:
    """Show how many replies the database keeps, and their size.

    The same question on the same text is answered from them, and a run that goes on finds what
    it has paid for. Those used longest ago go when they exceed cache_mb.
    """
    run(_show(as_json=as_json))


async def _show(*, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import database

    async with database() as pgs:
        found, most = await pgs.kept_replies(), pgs.config.cache_mb
    if as_json:
        output.write_json({**plain_data(found), "cache_mb": most})
    else:
        kept = counted(found.replies, "reply", "replies")
        output.write_lines([f"{kept} kept, {size(found.size_bytes)} of at most {most:g} MB"])


@cache_app.command("clear")
def clear(yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Delete the replies that the database keeps.

    Answers, findings, and coverage stay, and so do the replies of runs of the last day that
    'pgs resume' may go on with. The next question pays for all that it reads.
    """
    run(_clear(yes=yes, as_json=as_json))


async def _clear(*, yes: bool, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import confirm, database

    async with database() as pgs:
        found = await pgs.kept_replies()
        if found.replies:
            confirm(f"{counted(found.replies, 'kept reply', 'kept replies')} go", yes=yes)
        done = await pgs.clear_cache()
    if as_json:
        output.write_json(plain_data(done))
    else:
        deleted = counted(done.replies, "kept reply", "kept replies")
        output.write_lines([f"{deleted} deleted, {size(done.size_bytes)}"])
