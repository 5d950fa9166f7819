"""Reads the number of the last transaction from a bookmark.

Bookmarks are opaque by contract. In fact they are PackStream lists of the store's id (16 bytes),
the number of its last transaction, and a list. A bookmark of another form has no position, and the
caller must read the data instead.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

PREFIX = "FB:"
HEAD = bytes((0x91, 0xCC, 16))  # a list whose first item has 16 bytes
TAIL = bytes((0x90,))  # an empty list
WIDTHS = {0xC8: 1, 0xC9: 2, 0xCA: 4, 0xCB: 8}  # PackStream's markers of signed integers


@dataclass(frozen=True, slots=True)
class Position:
    """A store and the number of its last committed transaction."""

    store: str
    transaction: int


def parse_position(bookmark: str) -> Position | None:
    """Return the position in a bookmark; None if its form is unknown."""
    if not bookmark.startswith(PREFIX):
        return None
    try:
        data = base64.b64decode(bookmark[len(PREFIX) :], validate=True)
    except binascii.Error:
        return None
    store, number = data[len(HEAD) : len(HEAD) + 16], data[len(HEAD) + 16 : -1]
    if not data.startswith(HEAD) or not data.endswith(TAIL) or not number:
        return None
    transaction = _integer(number)
    return None if transaction is None else Position(store.hex(), transaction)


def _integer(data: bytes) -> int | None:
    if len(data) == 1:
        return data[0] if data[0] < 0x80 else None  # a tiny integer is its own marker
    if len(data) != 1 + WIDTHS.get(data[0], 0):
        return None
    number = int.from_bytes(data[1:], "big", signed=True)
    return number if number >= 0 else None
