"""`pgs demo`: get a cited answer about the standard library or the packages, with no setup."""

from __future__ import annotations

import platform
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgs_neo4j import __version__
from pgs_neo4j.cli import output
from pgs_neo4j.cli.options import QuietOption, VerboseOption
from pgs_neo4j.cli.progress import Listener, progress
from pgs_neo4j.cli.run import run

if TYPE_CHECKING:
    from pgs_neo4j.config import Loaded
    from pgs_neo4j.database.local import LocalServer
    from pgs_neo4j.engine import PGS

GRAPH = "stdlib"
PACKAGES = "packages"
PACKAGE_LABEL = "DemoPackage"
"""Label of the nodes in the graph of package descriptions."""
SESSION = "demo"
MARKER = "demo"


def demo(
    question: Annotated[
        str | None, typer.Option("--question", help="Ask this instead of the prepared question.")
    ] = None,
    documents: Annotated[
        bool, typer.Option("--documents", help="Use the READMEs of the installed packages.")
    ] = False,
    reset: Annotated[
        bool,
        typer.Option(
            "--reset", help="Repartition the demo graph; without --documents, also reload it."
        ),
    ] = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Try pgs on Python's standard library, with no setup.

    Starts the managed local server, even if PGS_NEO4J_URI is set. Loads the modules, classes,
    and functions of this Python with their docstrings, and asks a question. Needs no account
    and no key: without a language model, the extractive reader answers. The first run fetches
    Neo4j and GDS, about 143 MB.

    With --documents, uses the READMEs of the installed packages instead. Reading them calls no
    model.

    \b
      pgs demo
      pgs demo --question "What is there for hashing, and what is missing?"
      pgs demo --documents
    """
    listening = progress(quiet=quiet, verbose=verbose)
    run(_demo(question, listening, documents=documents, reset=reset))


async def _demo(
    question: str | None,
    listening: AbstractContextManager[Listener],
    *,
    documents: bool,
    reset: bool,
) -> int:
    from pgs_neo4j import config
    from pgs_neo4j.cli.commands.ask import request_sender
    from pgs_neo4j.cli.commands.delivery import answer_stream, ask_and_write_text, code_of
    from pgs_neo4j.cli.connection import engine
    from pgs_neo4j.database import local
    from pgs_neo4j.engine import DEMO_QUESTIONS, PACKAGE_QUESTIONS, Request

    graph, prepared = (PACKAGES, PACKAGE_QUESTIONS) if documents else (GRAPH, DEMO_QUESTIONS)
    asked = prepared[0] if question is None else question
    request = Request(asked, graph=graph, session=SESSION)
    loaded = config.load()
    if loaded.settings.neo4j_uri is not None:
        output.note("the demo uses the managed local server and ignores PGS_NEO4J_URI")
    with listening as listener:
        server = await local.ensure_running(local.options_from_environment(), listener)
        place = _local_settings(server, loaded)
        if documents:
            await _ingest_packages(listener, place)
        async with engine(listener, **place) as pgs:
            if not documents:
                await _load_if_missing(pgs, server.data_dir / MARKER, reload=reset)
            if reset:
                await pgs.partitions.build(graph, force=True)
            listener.stop()
            output.write(f"Question: {asked}\n\n")
            listener.start()
            answer = await ask_and_write_text(request_sender(pgs, request), answer_stream(listener))
    output.write_lines(next_steps(loaded, graph))
    return code_of(answer)


def _local_settings(server: LocalServer, loaded: Loaded) -> dict[str, object]:
    """Return the settings that connect to the local server."""
    return {
        "neo4j_uri": server.uri,
        "neo4j_user": server.user,
        "neo4j_password": server.password,
        "neo4j_database": "neo4j",
        "embedder": "hashing" if loaded.settings.embedder == "stored" else None,
    }


async def _ingest_packages(listener: Listener, place: dict[str, object]) -> None:
    """Update the graph of packages to the installed packages, without a model.

    Packages that did not change since the last demo cost nothing.
    """
    from pgs_neo4j.cli.connection import database
    from pgs_neo4j.engine import read_packages

    async with database(listener, **place) as pgs:
        # This label differs from the label derived from the name. So the ingestion refuses to write
        # into a graph that the user made under the same name.
        done = await pgs.ingest(read_packages(), PACKAGES, label=PACKAGE_LABEL)
        gone = [one.id for one in done.outcomes if one.state == "elsewhere"]
        if gone:
            await pgs.ingest.delete(PACKAGES, gone)


async def _load_if_missing(pgs: PGS, marker: Path, *, reload: bool) -> None:
    """Load the demo graph, unless it is loaded for this version of Python and of pgs.

    The file ``marker`` names the versions that were loaded. The graph must also be in the database,
    since either may have been deleted.
    """
    wanted = _loaded_versions()
    stored = any(graph.name == GRAPH for graph in await pgs.graphs())
    if stored and not reload and _read_marker(marker) == wanted:
        return
    await pgs.load.demo(GRAPH)
    _write_marker(marker, wanted)


def _loaded_versions() -> str:
    """Return the versions of Python and pgs, which determine the demo graph."""
    return f"Python {platform.python_version()}, pgs-neo4j {__version__}\n"


def _read_marker(marker: Path) -> str | None:
    try:
        return marker.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _write_marker(marker: Path, text: str) -> None:
    try:
        marker.write_text(text, "utf-8")
    except OSError as error:
        output.note(
            f"{marker} cannot be written ({error.strerror}), so the next demo loads the graph again"
        )


NEXT_QUESTIONS = {
    GRAPH: (
        "Which formats can be read but not written?",
        "What is there for hashing and encryption?",
    ),
    PACKAGES: ("Which of them parse files?", "What is there for testing?"),
}
"""A question to ask and one to route after the demo, by graph."""


def next_steps(loaded: Loaded, graph_name: str = GRAPH) -> list[str]:
    """Return commands to try after the demo, on its server."""
    origins = {name: loaded.origins[name] for name in ("neo4j_uri", "neo4j_database")}
    unset = "".join(f" -u PGS_{n.upper()}" for n, o in origins.items() if o == "environment")
    here = f"env{unset} " if unset else ""
    filed = [setting for setting, origin in origins.items() if origin == "file"]
    condition = f", with {' and '.join(filed)} removed from pgs.toml" if filed else ""
    graph = f"--graph {graph_name}"
    asked, routed = NEXT_QUESTIONS[graph_name]
    listed = [f"  {here}pgs documents list {graph}"] if graph_name == PACKAGES else []
    return [
        "",
        f"What to try now{condition}:",
        f"  {here}pgs ask {graph} --session {SESSION} --mode continue \\",
        f'      "{asked}"',
        f'  {here}pgs route {graph} "{routed}"',
        f"  {here}pgs partitions {graph}",
        *listed,
        "  pgs local stop",
        "",
        "Your own Neo4j: set PGS_NEO4J_URI, _USER and _PASSWORD, then pgs inspect.",
    ]
