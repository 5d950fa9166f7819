"""Reads tables and JSON: each record of a file becomes a document with its own id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import BinaryIO, TextIO, cast

from pgs_neo4j.documents.read.limits import MOST_RATIO, MOST_RECORD, MOST_REFUSED
from pgs_neo4j.documents.read.records.lines import Item, open_text, read_table
from pgs_neo4j.documents.read.records.objects import read_json, read_json_lines
from pgs_neo4j.documents.read.records.record import (
    ChosenColumns,
    Fields,
    RecordText,
    choose_columns,
    fields_of,
    make_document,
)
from pgs_neo4j.errors import InputFileError
from pgs_neo4j.graph.hashes import digest, encoded, hash64
from pgs_neo4j.model.documents import LoadedDocument, RecordColumns, RefusedDocument

RECORDS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
"""Endings of files of records."""
SAMPLE_RECORDS, SAMPLE_LETTERS = 1_000, 1_000_000
"""Maximum records in the sample from which columns are chosen, and maximum characters in the
sample."""
CELL_LETTERS = 8
"""Characters that each cell adds to the sample's size. They limit a wide table with thousands of
empty cells."""


def read_records(
    file: BinaryIO, id_: str, ending: str, columns: RecordColumns, most: int
) -> Iterator[LoadedDocument | RefusedDocument]:
    """Yield the document of each record in a file, or the reason why it has no document.

    ``most`` limits the characters of a record. The file is read once, from its beginning. Raises
    InputFileError when the rest of the file cannot be read.
    """
    counted = _CountingFile(file)
    stream, note = open_text(cast(BinaryIO, counted))
    seen: set[int] = set()
    written = refused = 0
    try:
        records = _SampledItems(_read_items(stream, ending, columns, min(most, MOST_RECORD)))
        chosen = records.choose(id_)
        for item in records:
            try:
                made = _make_record_document(item, columns, chosen, seen)
                if made is None:
                    continue
            except InputFileError as error:
                refused += 1
                if refused <= MOST_REFUSED:
                    yield RefusedDocument(id=f"{id_}#{item.place}", reason=str(error))
                continue
            size = len(encoded(made.text.text))
            written += size
            if written > most and written > MOST_RATIO * counted.size:
                raise InputFileError(
                    "the names of its columns, repeated in each record, take over "
                    f"{MOST_RATIO} times the size of the file; shorten these names"
                )
            yield LoadedDocument(
                id=f"{id_}#{made.key}", text=made.text, size=size, name=made.title, note=note
            )
        if refused > MOST_REFUSED:
            more = f"{refused - MOST_REFUSED:,} more of its records cannot be read"
            yield RefusedDocument(id=f"{id_}#more", reason=more)
    finally:
        stream.detach()


@dataclass(slots=True)
class _CountingFile:
    """A file that counts the bytes read from it."""

    file: BinaryIO
    size: int = 0

    def read(self, most: int) -> bytes:
        """Return some bytes of the file."""
        piece = self.file.read(most)
        self.size += len(piece)
        return piece


def _read_items(stream: TextIO, ending: str, columns: RecordColumns, most: int) -> Iterator[Item]:
    if ending in (".csv", ".tsv"):
        return read_table(stream, columns, most, "\t" if ending == ".tsv" else None)
    return read_json(stream, most) if ending == ".json" else read_json_lines(stream, most)


def _make_record_document(
    item: Item, columns: RecordColumns, chosen: ChosenColumns, seen: set[int]
) -> RecordText | None:
    """Return the document of a record, None if the record has no values.

    Raises InputFileError for an invalid record, and if another record has its key.
    """
    if item.fields is None:
        raise InputFileError(item.reason)
    fields = fields_of(item.fields)
    if not any(fields.values()):
        return None
    made = make_document(fields, columns, chosen)
    if made.guessed and hash64(encoded(made.key)) in seen:
        # In the sample, the values of this column were unique, but they do repeat. So a hash of the
        # text becomes part of the key.
        made = replace(made, key=f"{made.key} {digest(made.text.text)[:8]}")
    key = hash64(encoded(made.key))
    if key in seen:
        raise InputFileError(f"an earlier record also has the key {made.key!r}")
    seen.add(key)
    return made


@dataclass(slots=True)
class _SampledItems:
    """Reads some records ahead to choose columns, and raises a fault only when it is reached."""

    items: Iterator[Item]
    _ahead: list[Item] = field(default_factory=list)
    _fault: InputFileError | None = None

    def choose(self, file: str) -> ChosenColumns:
        """Return the title and key columns, chosen from a sample of the first records."""
        sample: list[Fields] = []
        letters = 0
        try:
            for item in self.items:
                self._ahead.append(item)
                with suppress(InputFileError):  # The record is refused later.
                    sample += [fields_of(item.fields)] if item.fields is not None else []
                letters += (
                    _count_letters(sample[-1].values()) if item.fields and sample else CELL_LETTERS
                )
                if len(self._ahead) == SAMPLE_RECORDS or letters > SAMPLE_LETTERS:
                    break
        except InputFileError as error:
            self._fault = error
        return choose_columns(sample, file)

    def __iter__(self) -> Iterator[Item]:
        ahead, self._ahead = self._ahead, []
        yield from ahead
        if self._fault is not None:
            raise self._fault
        yield from self.items


def _count_letters(values: Iterable[tuple[str, ...]]) -> int:
    return sum(CELL_LETTERS + sum(map(len, column)) for column in values)
