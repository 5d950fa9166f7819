"""Reads one JSON object as a stream, and its long lists item by item.

Python's own decoder reads each item, so values and errors are the same as with ``json.loads``. Only
the current item is in memory.

``documents.read`` reads records of any shape with ijson, but ijson is not suitable for a graph
file. It reports no line and column, and refuses NaN and integers beyond 64 bits before the faulty
node is known. It turns half a surrogate pair into "?". It takes more than twice as long when one
pass feeds both lists.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from pgs_neo4j.errors import InputFileError
from pgs_neo4j.model.ceilings import ITEM_BYTES, ITEM_PARTS

LIST_BEGINS = -1  # The place that marks the beginning of a list.
NEAR_END = 16  # Characters at a chunk's end in which a literal or escape may be cut off.

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_KINDS = {bool: "a boolean", str: "a string", list: "a list", dict: "an object"}

Member = tuple[str, int | None, Any]
"""A member of an object: a key, None, and its value. Or an item of a list: the list's key, the
item's place in the list, and the item."""


def kind_of(value: object) -> str:
    """Return a phrase for the kind of a JSON value, such as "a list"."""
    return "null" if value is None else _KINDS.get(type(value), "a number")


def read_members(chunks: Iterator[bytes], lists: Collection[str]) -> Iterator[Member]:
    """Yield the members of an object; lists under the keys ``lists`` are yielded item by item.

    A member with the place LIST_BEGINS precedes the items of a list. Raises InputFileError, with
    line and column, if the text is not JSON, and raises it if the text is not an object.
    """
    text = _Text(chunks)
    text.skip_blank()
    if text.at_end():
        raise InputFileError("the file is empty")
    if text.next() != "{":
        value = text.value()
        text.check_end()
        raise InputFileError(
            f"the file holds {kind_of(value)} where an object with nodes and edges is expected"
        )
    for key in _read_keys(text):
        if key in lists and text.next() == "[":
            yield key, LIST_BEGINS, None
            yield from _read_items(text, key)
        else:
            yield key, None, text.value()
    text.check_end()


def _read_keys(text: _Text) -> Iterator[str]:
    """Yield the keys of the object that begins here; the caller must read each value."""
    text.take("{")
    text.skip_blank()
    if text.next() == "}":
        text.take("}")
        return
    while True:
        if text.next() != '"':
            raise text.fault("Expecting property name enclosed in double quotes")
        key = text.value()
        text.skip_blank()
        if text.next() != ":":
            raise text.fault("Expecting ':' delimiter")
        text.take(":")
        text.skip_blank()
        yield key
        if text.ends("}"):
            return


def _read_items(text: _Text, key: str) -> Iterator[Member]:
    """Yield the items of the list that begins here."""
    text.take("[")
    text.skip_blank()
    if text.next() == "]":
        text.take("]")
        return
    place = 0
    while True:
        yield key, place, text.value()
        place += 1
        if text.ends("]"):
            return


class _Text:
    """The unread text of a file, with only a part in memory, and the position in the file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self._at, self._ended = "", 0, False
        self._lines = self._column = 0  # Position in the file at which ``_text`` begins.

    def next(self) -> str:
        """Return the next character without skipping it, empty at the end."""
        if self._at == len(self._text):
            self._fill(1)
        return self._text[self._at : self._at + 1]

    def at_end(self) -> bool:
        """Return whether the text has ended."""
        return not self.next()

    def take(self, expected: str) -> None:
        """Skip a character that ``next`` has returned."""
        self._at += len(expected)

    def skip_blank(self) -> None:
        """Skip white space."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._text) or not self._fill(1):
                return

    def ends(self, closing: str) -> bool:
        """Skip a comma, or the end of a list or object, and return whether it was the end."""
        comma = _COMMA.match(self._text, self._at)
        # Most items are followed by a comma in the same chunk, so this case comes first.
        if comma and comma.end() < len(self._text):
            self._at = comma.end()
            return False
        self.skip_blank()
        found = self.next()
        if found not in (",", closing) or not found:
            raise self.fault("Expecting ',' delimiter")
        self.take(found)
        if found == ",":
            self.skip_blank()
        return found == closing

    def check_end(self) -> None:
        """Raise InputFileError if anything follows."""
        self.skip_blank()
        if not self.at_end():
            raise self.fault("Extra data")

    def value(self) -> Any:
        """Return the value that begins here, and skip it.

        Raises InputFileError if the value is malformed or too large.
        """
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut_off = error.msg.startswith("Unterminated string")
                if self._ended or not (cut_off or error.pos >= len(self._text) - NEAR_END):
                    raise self.fault(error.msg, error.pos) from error
            except RecursionError as error:
                raise InputFileError("not a graph file: the JSON is nested too deeply") from error
            except ValueError as error:  # An integer has more digits than Python converts.
                raise InputFileError(f"not a graph file: {error}") from error
            else:
                # A number may be cut off after its point or exponent mark.
                cut_off = isinstance(value, int | float) and end >= len(self._text) - NEAR_END
                if self._ended or (end < len(self._text) and not cut_off):
                    self._at = end
                    return value
            pending = len(self._text) - self._at
            if pending > ITEM_BYTES:
                raise self.fault(f"a value of more than {ITEM_BYTES:,} characters")
            # All pending text belongs to one unfinished value. So the parts of this value can be
            # counted before the value is built, which would take much more memory than the text.
            parts = sum(self._text.count(mark, self._at) for mark in "{[") if pending else 0
            if parts > ITEM_PARTS:
                raise self.fault(f"a value of more than {ITEM_PARTS:,} lists and objects")
            self._fill(max(1, pending))

    def fault(self, problem: str, at: int | None = None) -> InputFileError:
        """Return the error for a position in the text, by default the current position."""
        place = self._at if at is None else at
        line = self._lines + self._text.count("\n", 0, place) + 1
        begin = self._text.rfind("\n", 0, place)
        column = place - begin if begin >= 0 else self._column + place + 1
        return InputFileError(f"line {line}, column {column}: not JSON ({problem})")

    def _fill(self, least: int) -> bool:
        """Read at least ``least`` characters, fewer at the end; return whether there were any."""
        parts: list[str] = []
        read = 0
        while read < least and not self._ended:
            chunk = next(self._chunks, b"")
            self._ended = not chunk
            parts.append(self._decode_chunk(chunk, parts))
            read += len(parts[-1])
        self._drop_read()
        self._text += "".join(parts)
        return read > 0

    def _drop_read(self) -> None:
        """Drop the text before the current position, and count the lines of the dropped text."""
        lines = self._text.count("\n", 0, self._at)
        begin = self._text.rfind("\n", 0, self._at)
        self._lines += lines
        self._column = self._at - begin - 1 if begin >= 0 else self._column + self._at
        self._text, self._at = self._text[self._at :], 0

    def _decode_chunk(self, chunk: bytes, before: list[str]) -> str:
        try:
            return self._decode.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            lines = self._lines + self._text.count("\n") + sum(part.count("\n") for part in before)
            line = lines + error.object[: error.start].count(b"\n") + 1
            raise InputFileError(
                f"line {line}: not UTF-8; save the file in that encoding"
            ) from error
