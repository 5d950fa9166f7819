"""`pgs help`: show the manual, or the help of a command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pgs_neo4j.cli import output
from pgs_neo4j.cli.run import run as run_command

TopicArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TOPIC | COMMAND...]", help="Page, or help of a command; else lists all topics."
    ),
]


def show_help(topic: TopicArgument = None) -> None:
    """Read the manual.

    The name of a command prints its help, as with --help, unless a page has the same name.

    \b
      pgs help
      pgs help operations
      pgs help graph add
    """
    words = topic or []
    if words and _is_command(words):
        from pgs_neo4j.cli.app import app

        typer.main.get_command(app).main([*words, "--help"], "pgs", standalone_mode=False)
        return
    run_command(_show_help(words[0] if words else None))


def _is_command(words: list[str]) -> bool:
    """Return whether the words name a command.

    A single word that is also the name of a page in the manual means the page.
    """
    from pgs_neo4j.cli.app import COMMANDS
    from pgs_neo4j.manual import TOPICS

    return words[0] in COMMANDS and (len(words) > 1 or words[0] not in TOPICS)


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
                "Options of a command: 'pgs COMMAND --help', or 'pgs help COMMAND'.",
            ]
        )
    else:
        _write_page(read_page(topic))


def _write_page(text: str) -> None:
    """Write a page of the manual: rendered on a terminal, plain Markdown in a file or pipe."""
    if output.is_terminal(sys.stdout):
        from rich.markdown import Markdown

        output.write_table(Markdown(text, code_theme="ansi_dark"))
    else:
        output.write(text)
