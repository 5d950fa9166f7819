"""`pgs help`: the manual in the terminal."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.run import run as run_command

TopicArgument = Annotated[
    str | None, typer.Argument(help="Page to read; without it, lists all topics.")
]


def show_help(topic: TopicArgument = None) -> None:
    """Read the manual.

    \b
      pgs help
      pgs help operations
    """
    run_command(_show_help(topic))


async def _show_help(topic: str | None) -> None:
    from pgs_neo4j.manual import TOPICS, read_page

    if topic is None:
        width = max(map(len, TOPICS))
        rows = [f"  {name:<{width}}  {summary}" for name, summary in TOPICS.items()]
        output.write_lines(
            [
                "Topics of the manual:",
                *rows,
                "",
                "Read one with 'pgs help TOPIC'.",
                "Options of a command: 'pgs COMMAND --help'.",
            ]
        )
    else:
        _write_page(read_page(topic))


def _write_page(text: str) -> None:
    """Write a page.

    It is laid out on a terminal, and plain Markdown in a file or pipe.
    """
    if output.is_terminal(sys.stdout):
        from rich.markdown import Markdown

        output.write_table(Markdown(text, code_theme="ansi_dark"))
    else:
        output.write(text)
