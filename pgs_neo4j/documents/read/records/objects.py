"""Streams the objects of JSON files and of JSON Lines.

Paths of values are not stored, and values that are nested too deeply or have too many parts are not
built. So memory depends only on the size of single records.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TextIO

from pgs_neo4j.documents.read.limits import MOST_DEPTH, MOST_VALUES
from pgs_neo4j.documents.read.records.lines import (
    Item,
    advise_splitting,
    longer_than,
    read_bounded_lines,
)
from pgs_neo4j.documents.read.records.record import TEXTS
from pgs_neo4j.documents.read.text import missing_extra
from pgs_neo4j.errors import InputFileError

BEGINS = ("start_map", "start_array")
ENDS = ("end_map", "end_array")
TOO_DEEP = f"it is nested more than {MOST_DEPTH} levels deep"
TOO_WIDE = f"it has more than {MOST_VALUES:,} values"

Event = tuple[str, Any]
"""An event of the parser: the beginning or end of a list or object, a name, or a value."""


def read_json_lines(stream: TextIO, most: int) -> Iterator[Item]:
    """Yield the object of each line, or the reason why it is invalid. Raises InputFileError."""
    for number, line in enumerate(read_bounded_lines(stream, most), start=1):
        place = f"line {number:,}"
        if line is None:
            yield Item(place, reason=f"it is {longer_than(most)}")
        elif line.strip():
            yield _parse_line(place, line)


def _parse_line(place: str, line: str) -> Item:
    try:
        # A line with this many commas may have too many values, so it is parsed with limits.
        value = _parse_bounded(line) if line.count(",") >= MOST_VALUES else json.loads(line)
    except InputFileError as error:
        return Item(place, reason=str(error))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply"
        if isinstance(error, ValueError):
            reason = error.msg if isinstance(error, json.JSONDecodeError) else _first_words(error)
        return Item(place, reason=f"it is not JSON ({reason})")
    return _make_item(place, value)


def _parse_bounded(line: str) -> object:
    """Return the value of a JSON line. Raises InputFileError if it has too many parts."""
    try:
        import ijson
    except ImportError as error:
        raise missing_extra(error, "reading such long lines of JSON") from None
    size = len(line)
    pieces = _Pieces(_Line(line), size, size)
    try:
        events = ijson.basic_parse(pieces, use_float=True)
        value = next(_Records(events, pieces, len(line)).whole())
    except ijson.JSONError as error:
        raise InputFileError(f"it is not JSON ({_first_words(error)})") from None
    if value.reason:
        raise InputFileError(value.reason)
    return value.built


def read_json(stream: TextIO, most: int) -> Iterator[Item]:
    """Yield the records of a JSON file.

    If the file is a list, its items are the records. If it is an object, the items of its first
    list of objects are the records. The object itself is the record if it has no list of objects,
    or if it has a text before this list. Raises InputFileError when the rest of the file cannot be
    read.
    """
    try:
        import ijson
    except ImportError as error:
        raise missing_extra(error, "reading JSON") from None
    pieces, number = _Pieces(stream, most, most), 0
    try:
        events = ijson.basic_parse(pieces, use_float=True, multiple_values=True)
        for value in _Records(events, pieces, most).values():
            number += 1
            pieces.left = most
            place = f"record {number:,}"
            yield (
                Item(place, reason=value.reason) if value.reason else _make_item(place, value.built)
            )
    # Invalid bytes raise ValueError, and numbers raise OverflowError.
    except (ijson.JSONError, ValueError, OverflowError) as error:
        reason = _first_words(error)
        raise InputFileError(f"after record {number:,} it is not JSON ({reason})") from None


def _first_words(error: Exception) -> str:
    return " ".join(str(error).split()[:12])


def _make_item(place: str, value: object) -> Item:
    if isinstance(value, dict):
        return Item(place, value)
    return Item(place, reason="it is not an object with names and values")


@dataclass(slots=True)
class _Value:
    """A value under construction. If there is a ``reason`` to refuse it, its parts are dropped.

    ``depth`` is the number of its open lists and objects.
    """

    most: int
    built: object = None
    reason: str = ""
    depth: int = 0
    parts: int = 0
    letters: int = 0
    _open: list[Any] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)

    def take(self, event: str, value: Any) -> None:
        """Process the next event of the value."""
        if event in ENDS:
            self.depth -= 1
            if not self.reason:
                self._open.pop()
                self._names.pop()
            return
        begins = event in BEGINS
        self.depth += begins
        if self.reason:
            return
        if isinstance(value, str):
            self.letters += len(value)
        if event == "map_key":
            self._names[-1] = value
            return
        self.parts += 1
        self._put({} if event == "start_map" else [] if event == "start_array" else value, begins)
        if self.depth > MOST_DEPTH:
            self.refuse(TOO_DEEP)
        elif self.parts > MOST_VALUES:
            self.refuse(TOO_WIDE)
        elif self.letters > self.most:
            self.refuse(f"it is larger than allowed; {advise_splitting(self.most)}")

    def refuse(self, reason: str) -> None:
        """Refuse the value, and drop all its parts."""
        self.reason, self.built = reason, None
        self._open.clear()
        self._names.clear()

    def _put(self, value: Any, begins: bool) -> None:
        if not self._open:
            self.built = value
        elif isinstance(self._open[-1], dict):
            self._open[-1][self._names[-1]] = value
        else:
            self._open[-1].append(value)
        if begins:
            self._open.append(value)
            self._names.append("")


class _Bounded(Protocol):
    """A source that has in ``left`` the number of characters that one record may still use."""

    left: int


@dataclass(slots=True)
class _Records:
    """Finds the records among the events of a JSON file."""

    events: Iterator[Event]
    pieces: _Bounded
    most: int

    def values(self) -> Iterator[_Value]:
        """Yield the records; a refused record is yielded before its end is read."""
        event, value = next(self.events, ("", None))
        if event == "start_array":
            yield from self._read_items()
            yield from self._read_lists()
        elif event == "start_map":
            first = _Value(self.most)
            first.take(event, value)
            name = self._find_list(first)
            if name is None:
                yield first
                self._skip(first.depth)
                yield from self.whole()
            else:
                yield from self._read_items(_begin_object(self.most))
                yield from self._read_members(name)
                yield from self._read_named_lists(name)
        elif event:
            yield self._build(event, value)
            yield from self.whole()

    def _find_list(self, whole: _Value) -> str | None:
        """Read an object up to its first list of objects, and return the name of this list.

        The beginning of the list's first object is also read. Returns None if there is no list of
        objects, or if there is a text before it. Then the object is read to its end or refused.
        """
        name, listed, text = "", False, False
        for event, value in self.events:
            self.pieces.left = self.most  # The object may contain many records.
            if whole.depth == 1:
                name = value if event == "map_key" else name
                text = text or (event == "string" and name.lower() in TEXTS)
                listed = event == "start_array"
            elif whole.depth == 2 and listed and event == "start_map" and not text:
                return name
            whole.take(event, value)
            if not whole.depth or (text and whole.reason):
                return None
        return None

    def whole(self) -> Iterator[_Value]:
        """Yield all top-level values."""
        for event, value in self.events:
            yield from self._read_record(event, value)

    def _read_lists(self) -> Iterator[_Value]:
        """Yield the items of all top-level lists."""
        for event, _ in self.events:
            if event == "start_array":
                yield from self._read_items()
            else:
                self._skip(event in BEGINS)

    def _read_named_lists(self, name: str) -> Iterator[_Value]:
        """Yield the items of all lists under a name, in all top-level objects."""
        for event, _ in self.events:
            if event == "start_map":
                yield from self._read_members(name)
            else:
                self._skip(event in BEGINS)

    def _read_members(self, wanted: str) -> Iterator[_Value]:
        """Yield the items of the lists under the name ``wanted`` in the open object."""
        name = ""
        for event, value in self.events:
            if event == "end_map":
                return
            if event == "map_key":
                name = value
            elif event == "start_array" and name == wanted:
                yield from self._read_items()
            else:
                self._skip(event in BEGINS)

    def _read_items(self, first: _Value | None = None) -> Iterator[_Value]:
        """Yield the items of the open list; the start event of the ``first`` was already read."""
        if first is not None:
            yield from self._finish(first)
        for event, value in self.events:
            if event == "end_array":
                return
            yield from self._read_record(event, value)

    def _read_record(self, event: str, value: Any) -> Iterator[_Value]:
        yield from self._finish(self._build(event, value))

    def _build(self, event: str, value: Any) -> _Value:
        built = _Value(self.most)
        built.take(event, value)
        return built

    def _finish(self, built: _Value) -> Iterator[_Value]:
        """Read the rest of a value, and yield the value; if the value is refused, skip the rest."""
        take, events = built.take, self.events
        while built.depth and not built.reason:
            take(*next(events))
        yield built
        self._skip(built.depth)

    def _skip(self, depth: int) -> None:
        """Skip events to the end of ``depth`` open lists and objects."""
        while depth:
            event, _ = next(self.events)
            self.pieces.left = self.most
            depth += (event in BEGINS) - (event in ENDS)


def _begin_object(most: int) -> _Value:
    """Return an object for which only the start event has been read."""
    value = _Value(most)
    value.take("start_map", None)
    return value


class _Readable(Protocol):
    """A source of text."""

    def read(self, size: int = -1, /) -> str:
        """Return some of the text."""
        ...


@dataclass(slots=True)
class _Line:
    """A line that is read in pieces. ``io.StringIO`` would need four bytes per character."""

    text: str
    place: int = 0

    def read(self, size: int = -1, /) -> str:
        """Return the next ``size`` characters of the line; all the rest if ``size`` is negative."""
        start = self.place
        self.place = len(self.text) if size < 0 else start + size
        return self.text[start : self.place]


@dataclass(slots=True)
class _Pieces:
    """A text as bytes of UTF-8; ``left`` of ``most`` characters may still be read for a record."""

    stream: _Readable
    most: int
    left: int

    def read(self, size: int = -1) -> bytes:
        """Return some of the text. Raises InputFileError if a record is too long."""
        piece = self.stream.read(size).removeprefix("\ufeff")
        self.left -= len(piece)
        if self.left < -(2**20):
            raise InputFileError(
                f"one of its records is larger than allowed; {advise_splitting(self.most)}"
            )
        return piece.encode("utf-8", "replace")
