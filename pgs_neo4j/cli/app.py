"""The commands of pgs, and the process's entry point."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import TracebackType
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from pgs_neo4j import __version__

Click = Any  # typer has its own copy of Click, and does not export these classes
HELP = {"-h", "--help", "--version"}
HOME = "pgs_neo4j.cli.commands"
# The commands in each panel of `pgs --help`: where each is defined, and its help line. Listing them
# here imports none of them.
PANELS: dict[str, dict[str, tuple[str, str]]] = {
    "Start": {
        "demo": ("demo:demo", "Try pgs on Python's standard library, with no setup."),
        "inspect": ("inspect:inspect", "Inspect a database and propose a graph."),
        "graph": ("graph:graph_app", "Store, list, show, and remove named graphs."),
        "ingest": ("ingest:ingest", "Make a graph of files, and keep it equal to them."),
        "documents": (
            "documents:documents_app",
            "List, show, and delete the documents of a graph.",
        ),
        "entities": (
            "entities:entities_app",
            "List, show, merge, and split the entities of a graph.",
        ),
        "load": ("ingest:load", "Load a file and store it as a graph."),
        "doctor": ("doctor:doctor", "Check the setup and say how to fix it."),
        "help": ("manual:show_help", "Read the manual."),
    },
    "Ask": {
        "ask": ("ask:ask", "Ask a graph a question."),
        "search": ("search:search", "Find what matches a question."),
        "cypher": ("cypher:cypher", "Read the database by a statement that can only read."),
        "plan": ("ask:plan", "Show what a question would read and cost."),
        "route": (
            "partitions:route",
            "Show which partitions a question would go to, and why.",
        ),
        "resume": ("ask:resume", "Resume a run or an ingestion that ended early."),
    },
    "Answers": {
        "show": ("answers:show", "Show the stored answer of a run."),
        "export": ("answers:export", "Write the stored answer of a run to a file."),
        "feedback": (
            "feedback:feedback",
            "Say whether an answer was useful.",
        ),
        "runs": ("runs:runs_app", "List the runs, the latest first."),
        "sessions": ("runs:sessions_app", "List, show, and delete sessions."),
    },
    "Partitions": {
        "partition": ("partitions:partition", "Divide a graph into partitions."),
        "partitions": (
            "partitions:partitions",
            "List, report on, or check the partitions of a graph.",
        ),
        "repartition": (
            "jobs:repartition",
            "Repartition graphs as jobs that leave a record.",
        ),
        "schedule": (
            "schedule:schedule",
            "Repartition graphs and ingest files at set times.",
        ),
        "jobs": ("jobs:jobs_app", "List and show jobs; release a graph."),
        "analogies": (
            "analogies:analogies",
            "Link texts that use other words for the same mechanism.",
        ),
        "index": (
            "index:index_app",
            "Create, list, and drop full-text and vector indexes.",
        ),
    },
    "Serve": {
        "mcp": ("serve:mcp", "Serve graphs to an agent over MCP."),
        "serve": ("serve:serve", "Serve an API to programs, and a page to people."),
        "token": ("serve:token", "Make a token for someone who may use the server."),
    },
    "Setup": {
        "config": ("config:config_app", "Show the settings in force."),
        "local": ("local:local_app", "Manage the local server: Neo4j and GDS."),
        "cache": ("purge:cache_app", "Show and clear the cache of model replies."),
        "purge": ("purge:purge", "Remove everything pgs wrote from the database."),
    },
}
COMMANDS = {name: place for panel in PANELS.values() for name, place in panel.items()}
_CHOICE = re.compile(r"'(.*)' is not one of (.*?)\.?")
_NAME = re.compile(r"'([^']*)'")
FIRST = "Options"
NAME_WIDTH = 30  # maximum columns for the names on the left, as in Click


class PanelCommand(TyperCommand):
    """A command whose options are listed by panel."""

    def format_options(self, ctx: Click, formatter: Click) -> None:
        """Write arguments and options for ``--help``."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], FIRST: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            panel = "Arguments" if parameter.param_type_name == "argument" else _panel(parameter)
            panels.setdefault(panel, []).append(record)
        write_panels(formatter, {name: rows for name, rows in panels.items() if rows})


def write_panels(formatter: Click, panels: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Write rows of names and texts under headings, all texts in one column."""
    names = [len(name) for rows in panels.values() for name, _ in rows]
    width = min(NAME_WIDTH, max(names, default=0))
    for panel, rows in panels.items():
        with formatter.section(panel):
            formatter.write_dl([(f"{name:<{width}}", text) for name, text in rows])


def _panel(option: Click) -> str:
    return str(getattr(option, "rich_help_panel", None) or FIRST)


class LazyGroup(TyperGroup):
    """A group that imports a command when it is first asked for.

    It follows the recipe for lazy subcommands in Click's documentation. Until then, an empty
    placeholder represents the command, so that lists, completion, and suggestions include all
    names.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (_, text) in COMMANDS.items():
            self.add_command(TyperCommand(name, short_help=text))
        self._imported: set[str] = set()

    def get_command(self, ctx: Click, cmd_name: str) -> Click:
        """Return a command by its name, or None."""
        if cmd_name in COMMANDS and cmd_name not in self._imported:
            self.add_command(_import_command(cmd_name), cmd_name)
            self._imported.add(cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Click, formatter: Click) -> None:  # noqa: ARG002
        """Write the lists of commands for ``--help``."""
        panels = {
            panel: [(name, text) for name, (_, text) in commands.items()]
            for panel, commands in PANELS.items()
        }
        write_panels(formatter, panels)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command, and exit with its code.

        With ``--json``, errors are JSON, including errors in the arguments.
        """
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        from pgs_neo4j.cli import logs, output

        words = list(sys.argv[1:] if args is None else args)
        as_json = "--json" in words[: words.index("--") if "--" in words else None]
        output.write_errors_as_json(as_json)
        logs.stop()
        try:
            code = super().main(words, prog_name, complete_var, False, windows_expand_args, **extra)
        except typer.TyperException as caught:
            error: Any = caught  # it has a method to print it; typer does not export its class
            error.message = explain_choice(error.message)
            if as_json or logs.is_on():
                output.report_error(error.format_message(), "UsageError", error.exit_code)
            else:
                error.show()
            code = error.exit_code
        except OSError as error:
            if words and not HELP & set(words):
                raise
            # Help could not be written to a full disk. Commands report this error themselves.
            code = _report_full_disk(error)
        finally:
            output.write_errors_as_json(False)
        logs.stop()  # skipped after an unexpected error, which the logs have yet to record
        sys.exit(code if isinstance(code, int) else 0)


def explain_choice(message: str) -> str:
    """Return a message about an invalid choice, with the most similar valid choice added."""
    message = message.removeprefix("Value error, ")
    refused = _CHOICE.fullmatch(message)
    if refused is None:
        return message
    from difflib import get_close_matches

    given, listed = refused.groups()
    near = get_close_matches(given.lower(), _NAME.findall(listed), n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{given!r} is not one of {listed}.{hint}"


def _report_full_disk(error: OSError) -> int:
    from pgs_neo4j.cli import output
    from pgs_neo4j.cli.run import code_of

    output.silence(sys.stdout)
    problem = output.unwritable(error)
    output.report_error(str(problem), type(problem).__name__, code_of(problem))
    return code_of(problem)


def _import_command(name: str) -> Any:
    module, _, attribute = COMMANDS[name][0].partition(":")
    target = getattr(import_module(f"{HOME}.{module}"), attribute)
    if isinstance(target, typer.Typer):
        target.rich_markup_mode = None
        group = get_group(target)
        group.name = name
        return group
    single = _plain_app(add_completion=False)
    single.command(name, cls=PanelCommand)(target)
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
    log_format: Annotated[
        Literal["text", "json"] | None,
        typer.Option(
            "--log-format",
            envvar="PGS_LOG_FORMAT",
            show_envvar=False,
            help="What stderr has: lines of text, or JSON log records.  [default: text]",
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="PROPERTY=VALUE",
            help="See only nodes with this value, and graphs of this scope; repeatable.",
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help='See only nodes that meet this, such as "year >= 2020".',
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="DATE",
            help="See only what is valid at this date, as in 2024-05-01.",
        ),
    ] = None,
) -> None:
    """Read all of a Neo4j graph that matters, cite it, and say what is missing.

    Start with 'pgs demo', or point PGS_NEO4J_URI at your own Neo4j and run 'pgs inspect'.
    """
    del version
    from pgs_neo4j.cli import logs
    from pgs_neo4j.cli import scope as scopes

    logs.choose(log_format)
    scopes.choose(scope or (), where, as_of)


def main() -> None:
    """Run ``pgs`` with the process's arguments, and exit with its code."""
    from pgs_neo4j.cli import output

    output.prepare()
    sys.excepthook = _report_fault
    get_command(app)(prog_name="pgs")


def _report_fault(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    from pgs_neo4j.cli.run import report_fault, report_interruption

    if issubclass(kind, KeyboardInterrupt):
        report_interruption()
        return
    report_fault(kind, error, trace)
