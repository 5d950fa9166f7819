"""`pgs local …`: start, stop, show, fill, and reset the managed local server."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import JsonOption, QuietOption, VerboseOption, YesOption
from pgs_neo4j.cli.pages.text import size
from pgs_neo4j.cli.progress import Listener, progress
from pgs_neo4j.cli.run import run
from pgs_neo4j.errors import UsageError
from pgs_neo4j.text.json_data import plain_data
from pgs_neo4j.text.shown import counted, plain, seconds

if TYPE_CHECKING:
    from pgs_neo4j.database.local import LocalStatus

ReleaseOption = Annotated[
    str | None,
    typer.Option(
        "--release",
        metavar="5.26|2026",
        help="Release of Neo4j; default: 5.26.",
    ),
]

USER = "neo4j"

local_app = typer.Typer(
    no_args_is_help=True,
    help="Manage the local server: Neo4j and GDS.",
)


@local_app.command("start")
def start(
    release: ReleaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Start the local server if it is not running. Fetches it first, about 143 MB.

    Release 2026 is about 174 MB. Each release has its own data. PGS_LOCAL_RELEASE names the release
    that all commands use.
    """
    run(_start(release, progress(quiet=quiet, verbose=verbose), as_json=as_json))


async def _start(
    release: str | None, listening: AbstractContextManager[Listener], *, as_json: bool
) -> None:
    from pgs_neo4j.cli.connection import say_unknown_variables
    from pgs_neo4j.database import local

    say_unknown_variables()
    with listening as listener:
        options = local.options_from_environment(release=release)
        server = await local.ensure_running(options, listener)
    if release and local.status(local.options_from_environment()).data_dir != server.data_dir:
        output.note(
            f"set PGS_LOCAL_RELEASE={release}; otherwise, other commands start another server"
        )
    if as_json:
        document = {"uri": server.uri, "user": server.user, "pid": server.pid}
        document |= {"started": server.started, "data_dir": str(server.data_dir)}
        output.write_json({**document, "neo4j": server.neo4j, "gds": server.gds})
        return
    how = "started" if server.started else "was already running"
    about = f"Neo4j {server.neo4j} with GDS {server.gds}, process {server.pid}"
    output.write_lines([f"the local server {how} at {server.uri} ({about})"])


@local_app.command("stop")
def stop(release: ReleaseOption = None, as_json: JsonOption = False) -> None:
    """Stop the local server. Its data stays."""
    run(_stop(release, as_json=as_json))


async def _stop(release: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.database import local

    stopped = await local.stop(local.options_from_environment(release=release))
    if as_json:
        output.write_json({"stopped": stopped})
    else:
        outcome = "is stopped" if stopped else "was not running"
        output.write_lines([f"the local server {outcome}"])


@local_app.command("status")
def status(release: ReleaseOption = None, as_json: JsonOption = False) -> None:
    """Show whether the local server runs, its address, and its size."""
    run(_status(release, as_json=as_json))


async def _status(release: str | None, *, as_json: bool) -> None:
    from pgs_neo4j.database import local

    state = local.status(local.options_from_environment(release=release))
    if as_json:
        output.write_json(plain_data(state))
    else:
        output.write_lines(describe(state))


def describe(state: LocalStatus) -> list[str]:
    """Return the status of the local server as lines."""
    where = [f"data     {state.data_dir} ({size(state.size_bytes)})"]
    if not state.running:
        start = f"'pgs local start{_release_flag(state)}' starts it"
        return [f"the local server is not running; {start}", *where, _version(state)]
    memory = size(state.memory_bytes) if state.memory_bytes else "unknown"
    return [
        f"the local server runs at {state.uri} as process {state.pid}",
        *where,
        _version(state),
        f"memory   {memory} in use; heap {state.heap_mb} MiB, page cache {state.page_cache_mb} MiB",
        f"uptime   {seconds(state.uptime_s or 0.0)}",
    ]


def _version(state: LocalStatus) -> str:
    versions = f"Neo4j {state.version}, GDS {state.gds_version}"
    return f"release  {state.release} ({versions})"


def _release_flag(state: LocalStatus) -> str:
    from pgs_neo4j.database.local.lockfile import DEFAULT

    return "" if state.release == DEFAULT else f" --release {state.release}"


@local_app.command("shell")
def shell(release: ReleaseOption = None) -> None:
    """Open cypher-shell on the running local server, or say how to connect to it otherwise.

    cypher-shell is a program of Neo4j's; where it is on PATH, it gets address and password. Neo4j
    Browser and drivers take the same.
    """
    run(_shell(release))


async def _shell(release: str | None) -> None:
    from pgs_neo4j.database import local

    options = local.options_from_environment(release=release)
    state = local.status(options)
    if not state.running or state.uri is None:
        raise UsageError(
            f"the local server is not running; 'pgs local start{_release_flag(state)}' starts it"
        )
    password = local.password_file(options)
    program = shutil.which("cypher-shell")
    if program is None:
        output.write_lines(
            [
                "cypher-shell is not on PATH; connect Neo4j Browser or a driver:",
                f"  address   {state.uri}",
                f"  user      {USER}",
                f"  password  in the file {password}",
            ]
        )
        if not sys.stdin.isatty() and sys.stdin.read(1):
            raise UsageError(
                "the statements piped into 'pgs local shell' did not run, because cypher-shell is "
                "not on PATH; install it, or run the statements through a driver"
            )
        return
    # The password goes into the environment, because other users can see the arguments.
    secret = {"NEO4J_USERNAME": USER, "NEO4J_PASSWORD": password.read_text().strip()}
    os.execve(program, [program, "-a", state.uri], {**os.environ, **secret})


@local_app.command("log")
def log(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="Lines to show.")] = 50,
    release: ReleaseOption = None,
) -> None:
    """Show the last lines of the local server's log."""
    run(_log(lines, release))


async def _log(lines: int, release: str | None) -> None:
    from pgs_neo4j.database import local

    options = local.options_from_environment(release=release)
    tail = local.log_tail(options, lines)
    if tail:
        output.write_lines([plain(line) for line in tail])
    else:
        output.note(f"there is no log yet in {local.log_paths(options)[0].parent}")


@local_app.command("reset")
def reset(
    yes: YesOption = False, release: ReleaseOption = None, as_json: JsonOption = False
) -> None:
    """Stop the local server and delete its databases, logs, and password.

    The fetched files stay in the cache. Asks for confirmation; without a terminal, pass --yes.
    """
    run(_reset(release, yes=yes, as_json=as_json))


async def _reset(release: str | None, *, yes: bool, as_json: bool) -> None:
    from pgs_neo4j.cli.connection import confirm
    from pgs_neo4j.database import local

    options = local.options_from_environment(release=release)
    state = local.status(options)
    if state.size_bytes:
        confirm(f"this deletes all data in {state.data_dir} ({size(state.size_bytes)})", yes=yes)
    existed = await local.reset(options)
    if as_json:
        output.write_json({"reset": existed})
    else:
        outcome = "is reset" if existed else "had no data"
        output.write_lines([f"the local server {outcome}"])


@local_app.command("import")
def import_(
    nodes: Annotated[
        list[str] | None,
        typer.Option("--nodes", help="CSV of nodes, [LABEL=]FILE[,FILE]; repeatable."),
    ] = None,
    relationships: Annotated[
        list[str] | None,
        typer.Option(
            "--relationships", help="CSV of relationships, [TYPE=]FILE[,FILE]; repeatable."
        ),
    ] = None,
    flags: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- FLAGS]", help="Flags for Neo4j's importer, after --."),
    ] = None,
    dump: Annotated[
        Path | None,
        typer.Option(
            "--dump", metavar="FILE", help="A dump of 'neo4j-admin database dump', instead of CSV."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the content of the database.")
    ] = False,
    release: ReleaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Fill the local server from CSV files, for millions of nodes, or from a dump.

    Stops the server and replaces the whole database, with Neo4j's offline importer. Each file
    begins with a header, such as id:ID,title,abstract for nodes and :START_ID,:END_ID for
    relationships.

    A dump is that of a database of Neo4j 5. Its store is built beside the database, which it
    replaces once it is complete. Neither replaces a database with data without --overwrite.

    \b
      pgs local import --dump movies.dump
      pgs local import --nodes Paper=papers.csv --relationships CITES=cites.csv
      pgs local import --nodes n.csv --overwrite -- --array-delimiter=";"
    """
    sources = (nodes or [], relationships or [], flags or [])
    listening = progress(quiet=quiet, verbose=verbose)
    if dump is not None:
        if any(sources):
            raise UsageError("--dump loads a whole database; leave out --nodes and the like")
        run(_load_dump(release, dump, listening, overwrite=overwrite, as_json=as_json))
        return
    run(_import(release, *sources, listening, overwrite=overwrite, as_json=as_json))


async def _import(
    release: str | None,
    nodes: list[str],
    relationships: list[str],
    flags: list[str],
    listening: AbstractContextManager[Listener],
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    from pgs_neo4j.database import local

    if not nodes:
        raise UsageError(
            "there is no file of nodes; name one, as in "
            "pgs local import --nodes Paper=papers.csv --relationships CITES=cites.csv"
        )
    with listening as listener:
        result = await local.bulk_import(
            local.options_from_environment(release=release),
            nodes=list[str | Path](nodes),
            relationships=list[str | Path](relationships),
            overwrite=overwrite,
            flags=flags,
            on_event=listener,
        )
    if as_json:
        output.write_json(plain_data(result))
        return
    amount = f"{counted(result.nodes, 'node')} and {counted(result.relationships, 'relationship')}"
    output.write_lines([f"{amount} imported; next, run 'pgs local start' and 'pgs inspect'"])


async def _load_dump(
    release: str | None,
    dump: Path,
    listening: AbstractContextManager[Listener],
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    from pgs_neo4j.database import local

    with listening as listener:
        result = await local.load_dump(
            local.options_from_environment(release=release),
            dump=dump,
            overwrite=overwrite,
            on_event=listener,
        )
    if as_json:
        output.write_json(plain_data(result))
        return
    stopped = "; the server was stopped" if result.stopped_server else ""
    loaded = f"the dump ({size(result.size_bytes)}) is loaded{stopped}"
    output.write_lines([f"{loaded}; next, run 'pgs local start' and 'pgs inspect'"])
