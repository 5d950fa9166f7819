"""The tree of commands, and the process's entry point."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from typer.main import get_command

from pgs_neo4j import __version__
from pgs_neo4j.cli import output
from pgs_neo4j.cli.commands.graphs import inspect, load, partitions, purge
from pgs_neo4j.cli.commands.graphs.graph import graph_app
from pgs_neo4j.cli.commands.graphs.index import index_app
from pgs_neo4j.cli.commands.operations import demo, doctor, manual, repartition, schedule
from pgs_neo4j.cli.commands.operations.cache import cache_app
from pgs_neo4j.cli.commands.operations.config import config_app
from pgs_neo4j.cli.commands.operations.jobs import jobs_app
from pgs_neo4j.cli.commands.operations.local import local_app
from pgs_neo4j.cli.commands.questions import ask, export, plan, resume, show
from pgs_neo4j.cli.commands.questions.sessions import sessions_app
from pgs_neo4j.cli.run import report_fault

# Plain help needs no rich, which keeps it fast, and reads well in a pipe.
app = typer.Typer(
    name="pgs",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        output.write_lines([f"pgs {__version__}"])
        raise typer.Exit


@app.callback()
def pgs(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Partitioned Graph Synthesis on Neo4j: read all of a graph that matters, cite it, and say
    what is missing.

    Start with 'pgs demo', or point PGS_NEO4J_URI at your own Neo4j and run 'pgs inspect'.
    """
    del version


app.command("demo")(demo.demo)
app.command("plan")(plan.plan)
app.command("ask")(ask.ask)
app.command("resume")(resume.resume)
app.command("show")(show.show)
app.command("export")(export.export)
app.command("route")(partitions.route)
app.command("partition")(partitions.partition)
app.command("partitions")(partitions.partitions)
app.command("repartition")(repartition.repartition)
app.command("schedule")(schedule.schedule)
app.add_typer(jobs_app, name="jobs")
app.command("inspect")(inspect.inspect)
app.add_typer(graph_app, name="graph")
app.command("load")(load.load)
app.add_typer(sessions_app, name="sessions")
app.add_typer(cache_app, name="cache")
app.add_typer(index_app, name="index")
app.add_typer(local_app, name="local")
app.add_typer(config_app, name="config")
app.command("doctor")(doctor.doctor)
app.command("purge")(purge.purge)
app.command("help")(manual.show_help)


def main() -> None:
    """Run ``pgs`` with the arguments of the process, and leave with its exit code."""
    output.prepare()
    sys.excepthook = report_fault
    get_command(app)(prog_name="pgs")
