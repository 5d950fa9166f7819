"""The options of `pgs ingest`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pgs_neo4j.errors import UsageError
from pgs_neo4j.model.documents import RecordColumns
from pgs_neo4j.text.extraction.schema import label_name

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", help="Files and folders: text, HTML, PDF, docx, CSV, JSON."),
]
GraphName = Annotated[str, typer.Option("--graph", "-g", help="Name of the graph.")]
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
SyncOption = Annotated[bool, typer.Option("--sync", help="Delete documents whose files are gone.")]
RefreshOption = Annotated[
    bool, typer.Option("--refresh", help="Extract again what another model extracted.")
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
