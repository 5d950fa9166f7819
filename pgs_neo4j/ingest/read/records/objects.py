"""Reads the objects of JSON and of lines of JSON as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.ingest.read.extra import missing_extra
from pgs_neo4j.ingest.read.records.lines import Item, read_lines
from pgs_neo4j.ingest.read.records.record import TEXTS


def read_json_lines(stream: TextIO, most: int) -> Iterator[Item]:
    """Yield the object of each line, or what is wrong with the line. Raises InputFileError."""
    for number, line in enumerate(read_lines(stream, most), start=1):
        if line.strip():
            yield _item(f"line {number:,}", line)


def _item(place: str, line: str) -> Item:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        return Item(place, reason=f"it is not JSON ({reason})")
    return _object(place, value)


def read_json(stream: TextIO, most: int) -> Iterator[Item]:
    """Yield the objects of a JSON file: of its list, of the first list in it, or itself.

    Raises InputFileError where it cannot be read on.
    """
    try:
        import ijson
    except ImportError as error:
        raise missing_extra(error, "reading JSON") from None
    number = 0
    try:
        prefix = _list_in(ijson.parse(_Pieces(stream, None), multiple_values=True))
        stream.seek(0)
        pieces = _Pieces(stream, most)
        for value in ijson.items(pieces, prefix, use_float=True, multiple_values=True):
            number += 1
            pieces.left = most
            yield _object(f"record {number:,}", value)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split()[:12])
        raise InputFileError(f"after record {number:,} it is not JSON ({reason})") from None


def _object(place: str, value: object) -> Item:
    if isinstance(value, dict):
        return Item(place, value)
    return Item(place, reason="it is not an object with names and values")


def _list_in(events: Iterator[tuple[str, str, Any]]) -> str:
    """Return where the objects are; empty if the file is one itself.

    An object is one if it has a text before any list of objects.
    """
    for prefix, event, _ in events:
        if not prefix and event == "start_array":
            return "item"
        if event == "start_map" and prefix.endswith(".item") and prefix.count(".") == 1:
            return prefix
        if (not prefix and event == "end_map") or (event == "string" and prefix.lower() in TEXTS):
            return ""
    return ""


@dataclass(slots=True)
class _Pieces:
    """A text in bytes of UTF-8; ``left`` is how much of it may be read for one record."""

    stream: TextIO
    left: int | None

    def read(self, size: int = -1) -> bytes:
        """Return some of the text. Raises InputFileError if a record has no end."""
        piece = self.stream.read(size).removeprefix("\ufeff").encode("utf-8", "replace")
        if self.left is not None:
            self.left -= len(piece)
            if self.left < -(2**20):
                raise InputFileError(
                    "a record of it is larger than a document may be; raise max_document_mb"
                )
        return piece
