"""Positions in bookmarks: real ones, and texts of no known form."""

import base64

import pytest

from pgs_neo4j.database.driver_values import Position, parse_position

STORE = bytes(range(16))


def bookmark(number: bytes, head: bytes = b"\x91\xcc\x10", tail: bytes = b"\x90") -> str:
    return "FB:" + base64.b64encode(head + STORE + number + tail).decode()


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (b"\x02", 2),
        (b"\x7f", 127),
        (b"\xc9\x5c\x72", 23_666),
        (b"\xca\x00\x00\xf8\xb7", 63_671),
        (b"\xcb\x00\x00\x00\x01\x00\x00\x00\x00", 2**32),
    ],
)
def test_integers_of_every_width(number: bytes, expected: int) -> None:
    assert parse_position(bookmark(number)) == Position(STORE.hex(), expected)


def test_what_a_server_answered() -> None:
    position = parse_position("FB:kcwQ5/Iya6tkQu2LiL4UK8p05MoAAPi3kA==")
    assert position == Position("e7f2326bab6442ed8b88be142bca74e4", 63_671)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "FB:",
        "FB:not base64!",
        "neo4j:bookmark:v1:tx42",
        bookmark(b""),
        bookmark(b"\xc9\x5c"),
        bookmark(b"\xf0"),
        bookmark(b"\xc8\xff"),
        bookmark(b"\x02", head=b"\x92\xcc\x10"),
        bookmark(b"\x02", tail=b""),
    ],
)
def test_anything_else_is_no_position(text: str) -> None:
    assert parse_position(text) is None
