"""`pgs cache …`: model replies stored in the database for reuse."""

from __future__ import annotations

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption, YesOption
from pgs_neo4j.cli.pages.text import size
from pgs_neo4j.cli.run import run
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted

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
