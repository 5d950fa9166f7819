"""Converts parameters and bookmarks between values of this package and values of the driver."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neo4j import Record

PREFIX = "FB:"
HEAD = bytes((0x91, 0xCC, 16))  # A list whose first item has 16 bytes.
TAIL = bytes((0x90,))  # an empty list
WIDTHS = {0xC8: 1, 0xC9: 2, 0xCA: 4, 0xCB: 8}  # PackStream's markers of signed integers


def sent(params: Mapping[str, Any]) -> dict[str, Any]:
    """Wrap parameters so that logs never show user text."""
    return {name: _wrap_value(value) for name, value in params.items()}


def _wrap_value(value: Any) -> Any:
    if isinstance(value, str):
        return SentText(value)
    if isinstance(value, list | tuple):
        return SentList(value)
    return sent(value) if isinstance(value, dict) else value


class SentList(list[Any]):
    """A list whose ``repr`` shows only its length.

    The driver formats the parameters of each statement for its log, even when logging is off. For a
    large list, that takes ten times as long as sending it.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"[{len(self)} items]"


class SentText(str):
    """A text whose ``repr`` shows only its length, so that the driver's log contains no secret."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"'{len(self)} characters'"


def create_record(values: Mapping[str, object]) -> Record:
    """Return a record with the given values by name."""
    return Record(values)  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class Position:
    """The id of a store and the number of its last committed transaction."""

    store: str
    transaction: int


def parse_position(bookmark: str) -> Position | None:
    """Return the position in a bookmark; None if the form of the bookmark is unknown.

    By contract, bookmarks are opaque. In fact, each bookmark is a PackStream list of the store's id
    (16 bytes), the number of its last transaction, and an empty list. If a bookmark has another
    form, the caller must read the data instead.
    """
    if not bookmark.startswith(PREFIX):
        return None
    try:
        data = base64.b64decode(bookmark[len(PREFIX) :], validate=True)
    except binascii.Error:
        return None
    store, number = data[len(HEAD) : len(HEAD) + 16], data[len(HEAD) + 16 : -1]
    if not data.startswith(HEAD) or not data.endswith(TAIL) or not number:
        return None
    transaction = _parse_integer(number)
    return None if transaction is None else Position(store.hex(), transaction)


def _parse_integer(data: bytes) -> int | None:
    if len(data) == 1:
        return data[0] if data[0] < 0x80 else None  # a tiny integer is its own marker
    if len(data) != 1 + WIDTHS.get(data[0], 0):
        return None
    number = int.from_bytes(data[1:], "big", signed=True)
    return number if number >= 0 else None
