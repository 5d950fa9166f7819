"""Orders names as people count: ``line 8`` stands before ``line 15``."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"([0-9]{1,30})")
_HASH = re.compile(r"(?<=#)[0-9a-f]{16}\Z")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Return a key by which names are sorted, with their numbers in the order of the values.

    ``line 1,015`` has one number. Names that differ only in zeros before a number keep an order
    of their own, so that equal sets of names are always listed alike.
    """
    pieces = _DIGITS.split(_THOUSANDS.sub("", name))
    key = tuple(
        (0, int(piece), "") if place % 2 else (1, 0, piece)
        for place, piece in enumerate(pieces)
        if piece
    )
    return key, name


def document_key(id_: str, title: str) -> tuple[tuple[tuple[tuple[int, int, str], ...], str], str]:
    """Return a key by which documents are sorted: by their ids, with numbers as above.

    A record without a key is told apart by the hash of its text, whose digits mean nothing. Within
    its file it stands where its title would.
    """
    return natural_key(_HASH.sub(lambda _: title, id_)), id_
