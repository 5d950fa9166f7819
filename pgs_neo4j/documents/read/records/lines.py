"""Opens files of records as text, and reads their lines, none longer than a document may be."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TextIO

from pgs_neo4j.documents.read.empty import EmptyDocumentError
from pgs_neo4j.documents.read.encoding import Decoded, cut_at_letter, encoding_of
from pgs_neo4j.documents.read.limits import MOST_RECORD
from pgs_neo4j.errors import InputFileError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer as Buffer

SAMPLE_BYTES = 1_000_000
"""Bytes from which the encoding of a file is told."""
SKIPPED = 1_000_000
"""Characters of a line that is too long that are read at a time up to its end."""


@dataclass(frozen=True, slots=True)
class Item:
    """A record of a file, with its place there; without ``fields``, the reason why it has none."""

    place: str
    fields: Mapping[str, object] | None = None
    reason: str = ""


def open_text(file: BinaryIO) -> tuple[io.TextIOWrapper, str]:
    """Return a file as text, and what was guessed. It is read once. Raises InputFileError."""
    sample = begin = file.read(SAMPLE_BYTES)
    if len(sample) == SAMPLE_BYTES:
        sample = cut_at_letter(sample)
    if not sample.strip():
        raise EmptyDocumentError("it is empty")
    encoding, guessed = encoding_of(sample)
    whole = io.BufferedReader(_Whole(begin, file), SAMPLE_BYTES)
    return io.TextIOWrapper(whole, encoding, newline=""), Decoded("", encoding, guessed).note


class _Whole(io.RawIOBase):
    """A file of which the beginning was read already."""

    def __init__(self, begin: bytes, rest: BinaryIO) -> None:
        self._begin, self._rest = memoryview(begin), rest

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Read some bytes of it."""
        view = memoryview(buffer).cast("B")
        piece = self._begin[: len(view)] or self._rest.read(len(view))
        self._begin = self._begin[len(view) :]
        view[: len(piece)] = piece
        return len(piece)


def advise_splitting(most: int) -> str:
    """Return what helps against a record of more than ``most`` characters."""
    return "split it" if most >= MOST_RECORD else "raise max_document_mb, or split it"


def read_lines(stream: TextIO, most: int) -> Iterator[str]:
    """Yield the lines of a text. Raises InputFileError for one that is too long or not text."""
    for number, line in enumerate(read_bounded_lines(stream, most), start=1):
        if line is None:
            raise InputFileError(f"line {number:,} is {longer_than(most)}")
        yield line


def read_bounded_lines(stream: TextIO, most: int) -> Iterator[str | None]:
    """Yield the lines of a text, None for each that is too long.

    No more than ``most`` characters are held of it. Raises InputFileError for one that is not text.
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
    """Return what is wrong with a line of more than ``most`` characters, and what helps."""
    return f"longer than {most / 1e6:,.6g} million characters; {advise_splitting(most)}"
