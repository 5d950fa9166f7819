"""Reads the rows of CSV and TSV as a stream."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TextIO

from pgs_neo4j.documents.read.limits import MOST_COLUMNS
from pgs_neo4j.documents.read.records.lines import Item, read_lines
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import RecordColumns
from pgs_neo4j.text.shown import counted

DELIMITERS = ",;\t|"
SHOWN = 80
"""Characters of a name that an error shows."""


def read_table(
    stream: TextIO, columns: RecordColumns, most: int, delimiter: str | None = None
) -> Iterator[Item]:
    """Yield the rows of a table with their lines, or what is wrong with them.

    The first line names the columns. Raises InputFileError where it cannot be read on.
    """
    csv.field_size_limit(most)
    lines = read_lines(stream, most)
    head = next(lines, "")
    delimiter = delimiter or max(DELIMITERS, key=head.count)
    rows = csv.reader(_chain(head, lines), delimiter=delimiter, strict=True)
    names: list[str] = []
    line = 1
    try:
        for row in rows:
            place, line = f"line {line:,}", rows.line_num + 1
            if not names:
                names = _names(row, columns)
            elif row and len(row) != len(names):
                reason = f"it has {counted(len(row), 'cell')} for {counted(len(names), 'column')}"
                yield Item(place, reason=reason)
            elif row:
                yield Item(place, dict(zip(names, row, strict=True)))
    except csv.Error as error:
        raise InputFileError(
            f"from line {line:,} on it is not CSV ({error}); check the quotation marks there"
        ) from None
    if not names:
        raise InputFileError("it has no line that names its columns")


def _names(row: list[str], columns: RecordColumns) -> list[str]:
    """Return the names of the columns. Raises InputFileError for one that is there twice or not."""
    if len(row) > MOST_COLUMNS:
        raise InputFileError(
            f"it has {len(row):,} columns; at most {MOST_COLUMNS:,} are read, so split it"
        )
    names = [name.strip() or f"column {number}" for number, name in enumerate(row, start=1)]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputFileError(f"its first line names the column {name[:SHOWN]!r} twice")
        seen.add(name)
    wanted = (columns.text, columns.title, columns.key, *(name for name, _ in columns.entities))
    if missing := next((name for name in wanted if name and name not in seen), None):
        shown = ", ".join(name[:SHOWN] for name in names[:20])
        raise InputFileError(f"it has no column {missing!r}; it has {shown}")
    return names


def _chain(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines
