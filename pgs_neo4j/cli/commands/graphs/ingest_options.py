"""The options of `pgs ingest`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Annotated

import typer

from pgs_neo4j.cli.completion import complete_graphs
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.documents import DocumentSource, RecordColumns
from pgs_neo4j.text.extraction.schema import label_name

PathsArgument = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Files, folders, quoted patterns, URLs; - is stdin."),
]
GraphName = Annotated[
    str | None,
    typer.Option(
        "--graph",
        "-g",
        help="Name of the graph; optional if PGS_GRAPH names it.",
        autocompletion=complete_graphs,
    ),
]
LabelOption = Annotated[
    str | None, typer.Option(help="Label of its nodes; derived from the name by default.")
]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Types of entities and relations, as TOML or JSON; 'default' resets them.",
    ),
]
SyncOption = Annotated[
    bool,
    typer.Option(
        "--sync", help="Delete documents whose files are gone from the folders that are read."
    ),
]
ForgetOption = Annotated[
    bool,
    typer.Option("--forget", help="Also remove the text of answers that quote what is deleted."),
]
SyncForgetOption = Annotated[
    bool,
    typer.Option(
        "--forget",
        help="With --sync: also remove the text of answers that quote the deleted documents.",
    ),
]
RefreshOption = Annotated[
    bool, typer.Option("--refresh", help="Extract again what another model extracted.")
]
ArbiterOption = Annotated[
    bool, typer.Option("--arbiter", help="Ask the model whether close names are one entity.")
]
EmbedOption = Annotated[
    bool, typer.Option("--embed", help="Also make vectors of chunks, entities, and facts.")
]
PlanOption = Annotated[
    bool, typer.Option("--plan", help="Show what it would do and cost, and change nothing.")
]
NameOption = Annotated[
    str | None, typer.Option(metavar="FILE", help="What stdin is called, as in notes.md.")
]
PrivateOption = Annotated[
    bool, typer.Option("--allow-private", help="Fetch URLs of private addresses as well.")
]
TextOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Of records: the column of the text.")
]
TitleOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Of records: the column of the title.")
]
KeyOption = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Of records: the column that tells them apart.")
]
EntityOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=TYPE", help="Of records: a column that names entities; repeatable."
    ),
]


def check_stdin(paths: Sequence[str], name: str | None) -> None:
    """Raise UsageError unless stdin has a name where it is a path, and only there."""
    if "-" in paths and name is None:
        raise UsageError("- reads stdin, which needs a name: add --name notes.md")
    if "-" not in paths and name is not None:
        raise UsageError("--name says what stdin is called; name - as a path as well")


@contextmanager
def sources_named(
    paths: Sequence[str], name: str | None, most_bytes: int | None
) -> Iterator[list[str | DocumentSource]]:
    """Yield what to ingest, with the text on stdin for a dash.

    No more of it is read than tells that it has more than ``most_bytes``. Without that, a file
    keeps it, which may have any size. Raises UsageError if there is no room for it.
    """
    if name is None:
        yield [*paths]
    elif most_bytes is not None:
        stdin = DocumentSource(id=name, data=sys.stdin.buffer.read(most_bytes + 1))
        yield [stdin if path == "-" else path for path in paths]
    else:
        with TemporaryFile() as file:
            try:
                copyfileobj(sys.stdin.buffer, file)
                file.flush()
            except OSError as error:
                raise UsageError(f"stdin cannot be kept ({error.strerror}); name a file") from error
            stdin = DocumentSource(id=name, opened=file)
            yield [stdin if path == "-" else path for path in paths]


def columns_named(
    text: str | None, title: str | None, key: str | None, entities: Sequence[str] | None
) -> RecordColumns | None:
    """Return the columns that options name, None without any. Raises UsageError."""
    pairs = tuple(_pair(option) for option in entities or ())
    columns = RecordColumns(text=text, title=title, key=key, entities=pairs)
    return None if columns == RecordColumns() else columns


def _pair(option: str) -> tuple[str, str]:
    column, _, type_ = option.rpartition("=")
    label = label_name(type_)
    if not column.strip() or label is None:
        raise UsageError(
            f"--entity must be a column and the type of what it names, as in author=Person; got "
            f"{option[:80]!r}"
        )
    return column.strip(), label
