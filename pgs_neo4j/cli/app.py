"""The commands of pgs, and the process's entry point."""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from types import TracebackType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from pgs_neo4j import __version__

Click = Any  # typer brings click's classes along, by release under another name
HOME = "pgs_neo4j.cli.commands"
# Where each command is, and its line in the list: `pgs --help` imports none of them.
COMMANDS = {
    "demo": ("operations.demo:demo", "Try pgs on Python's standard library, with no setup."),
    "ask": ("questions.ask:ask", "Ask a graph a question."),
    "plan": ("questions.plan:plan", "Show what a question would read and cost."),
    "resume": ("questions.resume:resume", "Resume a run that ended early."),
    "show": ("questions.show:show", "Show the stored answer of a run."),
    "export": ("questions.export:export", "Write the stored answer of a run to a file."),
    "route": ("graphs.partitions:route", "Show which partitions a question would go to, and why."),
    "sessions": ("questions.sessions:sessions_app", "List, show, and delete sessions."),
    "inspect": ("graphs.inspect:inspect", "Inspect a database and propose a graph."),
    "graph": ("graphs.graph:graph_app", "Store, list, show, and remove named graphs."),
    "load": ("graphs.load:load", "Load a file and store it as a graph."),
    "partition": ("graphs.partitions:partition", "Divide a graph into partitions."),
    "partitions": (
        "graphs.partitions:partitions",
        "List, report on, or check the partitions of a graph.",
    ),
    "index": ("graphs.index:index_app", "Create and drop vector indexes on stored embeddings."),
    "repartition": (
        "operations.repartition:repartition",
        "Repartition graphs as jobs that leave a record.",
    ),
    "schedule": ("operations.schedule:schedule", "Repartition graphs at the times in pgs.toml."),
    "jobs": ("operations.jobs:jobs_app", "List and show jobs; release a graph."),
    "cache": ("operations.cache:cache_app", "Show and clear the cache of model replies."),
    "config": ("operations.config:config_app", "Show the settings in force."),
    "doctor": ("operations.doctor:doctor", "Check the setup and say how to fix it."),
    "local": ("operations.local:local_app", "Manage the local server: Neo4j and GDS."),
    "purge": ("graphs.purge:purge", "Remove everything pgs wrote from the database."),
    "help": ("operations.manual:show_help", "Read the manual."),
}


class _Commands(MutableMapping[str, Any]):
    """The commands by name, each imported when it is first looked up."""

    def __init__(self) -> None:
        self._imported: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._imported:
            self._imported[name] = _load(name, COMMANDS[name][0])
        return self._imported[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._imported[name] = command

    def __delitem__(self, name: str) -> None:
        del self._imported[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class LazyGroup(TyperGroup):
    """A group that lists its commands without importing them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands()

    def list_commands(self, ctx: Click) -> list[str]:  # noqa: ARG002
        """Return the names, in the order of COMMANDS."""
        return list(self.commands)

    def format_commands(self, ctx: Click, formatter: Click) -> None:  # noqa: ARG002
        """Write the list of commands for ``--help``."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def _load(name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    target = getattr(import_module(f"{HOME}.{module}"), attribute)
    if isinstance(target, typer.Typer):
        target.rich_markup_mode = None
        group = get_group(target)
        group.name = name
        return group
    single = _plain_app(add_completion=False)
    single.command(name)(target)
    return get_command(single)


def _plain_app(**settings: Any) -> typer.Typer:
    # Plain help needs no rich, which keeps it fast, and reads well in a pipe.
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, **settings)


app = _plain_app(
    name="pgs",
    cls=LazyGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"pgs {__version__}\n")
        raise typer.Exit


@app.callback()
def pgs(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Read all of a Neo4j graph that matters, cite it, and say what is missing.

    Start with 'pgs demo', or point PGS_NEO4J_URI at your own Neo4j and run 'pgs inspect'.
    """
    del version


def main() -> None:
    """Run ``pgs`` with the process's arguments, and exit with its code."""
    from pgs_neo4j.cli import output

    output.prepare()
    sys.excepthook = _report_fault
    get_command(app)(prog_name="pgs")


def _report_fault(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    from pgs_neo4j.cli.run import report_fault

    report_fault(kind, error, trace)
