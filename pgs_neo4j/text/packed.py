"""Packs bytes for the database, and unpacks what is stored there up to a bound.

A few kilobytes can be packed from gigabytes. What the database holds may have been changed by
another program, so nothing is unpacked that this package would not have packed.
"""

from __future__ import annotations

import zlib

from pgs_neo4j.errors import StoredDataError

MOST_BYTES = 256 * 1024 * 1024
"""Bytes of what is packed at once: more than the postings of a bucket, or the words of a
partition, ever take, and less than what makes a server fail."""


def pack(plain: bytes) -> bytes:
    """Return packed bytes."""
    return zlib.compress(plain, 1)


def unpack(data: object, most: int | None = None) -> bytes:
    """Return what was packed, at most ``most`` bytes (unset: MOST_BYTES).

    Raises StoredDataError for anything else.
    """
    most = MOST_BYTES if most is None else most
    if not isinstance(data, bytes | bytearray):
        raise damaged()
    unpacking = zlib.decompressobj()
    try:
        plain = unpacking.decompress(data, most + 1)
    except zlib.error:
        raise damaged() from None
    if len(plain) > most or not unpacking.eof or unpacking.unused_data:
        raise damaged()
    return plain


def damaged() -> StoredDataError:
    """Return the error for packed data that cannot be read."""
    return StoredDataError(
        "an index that pgs stored was changed by another program, or is damaged; make it again "
        "with 'pgs partition --graph NAME --force', where NAME is its graph"
    )
