"""Opens files of records as text, and streams their lines, or their rows of CSV and TSV.

A line may be no longer than a document may be.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TextIO

from pgs_neo4j.documents.read.limits import MOST_COLUMNS, MOST_RECORD
from pgs_neo4j.documents.read.text import Decoded, EmptyDocumentError, cut_at_letter, encoding_of
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.documents import RecordColumns
from pgs_neo4j.text.shown import counted

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer


SAMPLE_BYTES = 1_000_000
"""Number of bytes at the beginning of a file that determine its encoding."""
SKIPPED = 1_000_000
"""Number of characters to skip at a time in a line that is too long."""
DELIMITERS = ",;\t|"
SHOWN = 80
"""Maximum characters of a name to show in an error."""


@dataclass(frozen=True, slots=True)
class Item:
    """A record with its place in the file; if ``fields`` is None, ``reason`` says why."""

    place: str
    fields: Mapping[str, object] | None = None
    reason: str = ""


def open_text(file: BinaryIO) -> tuple[io.TextIOWrapper, str]:
    """Return a file as a text stream, and a note if its encoding was guessed.

    The file is read once. Raises InputFileError.
    """
    sample = begin = file.read(SAMPLE_BYTES)
    if len(sample) == SAMPLE_BYTES:
        sample = cut_at_letter(sample)
    if not sample.strip():
        raise EmptyDocumentError("it is empty")
    encoding, guessed = encoding_of(sample)
    whole = io.BufferedReader(_Whole(begin, file), SAMPLE_BYTES)
    return io.TextIOWrapper(whole, encoding, newline=""), Decoded("", encoding, guessed).note


class _Whole(io.RawIOBase):
    """A file whose beginning has already been read."""

    def __init__(self, begin: bytes, rest: BinaryIO) -> None:
        self._begin, self._rest = memoryview(begin), rest

    def readable(self) -> bool:
        """Return True, because the file can be read."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Read some bytes into ``buffer``, and return their number."""
        view = memoryview(buffer).cast("B")
        piece = self._begin[: len(view)] or self._rest.read(len(view))
        self._begin = self._begin[len(view) :]
        view[: len(piece)] = piece
        return len(piece)


def advise_splitting(most: int) -> str:
    """Return the advice for a record of more than ``most`` characters."""
    return "split it" if most >= MOST_RECORD else "raise max_document_mb, or split it"


def read_lines(stream: TextIO, most: int) -> Iterator[str]:
    """Yield the lines of a text. Raises InputFileError if a line is too long or is not text."""
    for number, line in enumerate(read_bounded_lines(stream, most), start=1):
        if line is None:
            raise InputFileError(f"line {number:,} is {longer_than(most)}")
        yield line


def read_bounded_lines(stream: TextIO, most: int) -> Iterator[str | None]:
    """Yield the lines of a text, None for a line of more than ``most`` characters.

    A longer line is never completely in memory. Raises InputFileError if a line is not text.
    """
    number = 0
    while True:
        number += 1
        try:
            line = stream.readline(most + 1)
            long = len(line) > most
            while long and line and not line.endswith("\n"):
                line = stream.readline(SKIPPED)
        except UnicodeDecodeError as error:
            raise InputFileError(
                f"near line {number:,} it is not {error.encoding.upper()}; save it as UTF-8"
            ) from None
        if long:
            yield None
        elif line:
            yield line
        else:
            return


def longer_than(most: int) -> str:
    """Return a phrase for a line of more than ``most`` characters, with advice."""
    return f"longer than {most / 1e6:,.6g} million characters; {advise_splitting(most)}"


def read_table(
    stream: TextIO, columns: RecordColumns, most: int, delimiter: str | None = None
) -> Iterator[Item]:
    """Yield the rows of a table with their line numbers, or the reason why a row is invalid.

    The first line names the columns. Raises InputFileError when the rest cannot be read.
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
                names = _name_columns(row, columns)
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
        raise InputFileError("it has no header row; add one with the names of its columns")


def _name_columns(row: list[str], columns: RecordColumns) -> list[str]:
    """Return the names of the columns. Raises InputFileError for a repeated or missing one."""
    if len(row) > MOST_COLUMNS:
        raise InputFileError(
            f"it has {len(row):,} columns; at most {MOST_COLUMNS:,} are read, so split it"
        )
    names = [name.strip() or f"column {number}" for number, name in enumerate(row, start=1)]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputFileError(f"its header row has the column {name[:SHOWN]!r} twice")
        seen.add(name)
    wanted = (columns.text, columns.title, columns.key, *(name for name, _ in columns.entities))
    if missing := next((name for name in wanted if name and name not in seen), None):
        shown = ", ".join(name[:SHOWN] for name in names[:20])
        raise InputFileError(f"it has no column {missing!r}; it has {shown}")
    return names


def _chain(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines
