"""Cells of the text index: the compressed postings of the terms of one bucket.

A cell begins with a version and the width of its gaps in bytes. The rest is compressed: the number
of terms, the terms in ascending order, their numbers of postings, the gaps between the texts that
contain each term, and the impacts. The bytes of the gaps are stored in planes, lowest first,
because most of the high bytes are zero and compress well.

A few kilobytes can unpack to gigabytes, and another program may have changed the stored data. So
nothing is unpacked that this package would not have packed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.errors import StoredDataError
from pgs_neo4j.text.terms.spans import TEXT_BITS, IntArray, run_starts

TERM_BITS = 64 - TEXT_BITS
_VERSION = 1
WIDEST = 8  # maximum number of bytes of a gap
MOST_BYTES = 256 * 1024 * 1024
"""Maximum number of bytes that are unpacked at once. It is more than the postings of a bucket or
the words of a partition ever take, and too little to make a server fail."""


@dataclass(frozen=True, slots=True, eq=False)
class PostingList:
    """The texts ``(p,)`` with a term, ascending, and its impact on each ``(p,)``, 1 to 255."""

    texts: IntArray
    impacts: IntArray

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.texts)


def bucket_of(term: int, bits: int) -> int:
    """Return the bucket of a term in a segment with ``2**bits`` buckets."""
    return term >> (TERM_BITS - bits)


def cell_uid(segment: str, bucket: int) -> str:
    """Return the key under which a cell is stored."""
    return f"{segment}:{bucket}"


def read_cell(data: bytes, terms: Iterable[int], bits: int) -> dict[int, PostingList]:
    """Return the postings of terms from the cell of their bucket; there are ``2**bits`` buckets.

    Terms that no text contains are left out. Raises StoredDataError if the cell is damaged, or if
    another release wrote it in another format.
    """
    if not isinstance(data, bytes | bytearray) or data[:1] != bytes((_VERSION,)):
        raise damaged()
    try:
        cell = _Cell.of(unpack(data[2:]), data[1])
        found = {term: cell.read((term >> unused_bits(bits)) & 0xFFFFFFFF) for term in terms}
    except (ValueError, IndexError, OverflowError):  # the numbers in the cell contradict each other
        raise damaged() from None
    return {term: postings for term, postings in found.items() if postings is not None}


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """An unpacked cell: its terms, ascending, and the end of each term's postings."""

    plain: bytes
    width: int
    terms: NDArray[np.uint32]
    ends: IntArray

    @classmethod
    def of(cls, plain: bytes, width: int) -> _Cell:
        count = int.from_bytes(plain[:4], "little")
        ends = np.cumsum(np.frombuffer(plain, "<u4", count, 4 + 4 * count), dtype=np.int64)
        total = int(ends[-1]) if count else 0
        if width > WIDEST or len(plain) != 4 + 8 * count + (width + 1) * total:
            raise ValueError("the length of the cell contradicts its counts")
        return cls(plain, width, np.frombuffer(plain, "<u4", count, 4), ends)

    def read(self, term: int) -> PostingList | None:
        """Return the postings of a term, or None if the cell does not contain the term."""
        place = int(np.searchsorted(self.terms, term))
        if place == len(self.terms) or self.terms[place] != term:
            return None
        start, end = int(self.ends[place - 1]) if place else 0, int(self.ends[place])
        planes, total = 4 + 8 * len(self.terms), int(self.ends[-1])
        gaps = np.zeros(end - start, np.int64)
        for byte in range(self.width):
            plane = self._bytes(planes + byte * total + start, end - start)
            gaps += plane.astype(np.int64) << (8 * byte)
        impacts = self._bytes(planes + self.width * total + start, end - start)
        return PostingList(np.cumsum(gaps), impacts.astype(np.int64))

    def _bytes(self, start: int, count: int) -> NDArray[np.uint8]:
        return np.frombuffer(self.plain, np.uint8, count, start)


def write_cell(
    terms: NDArray[np.uint32], texts: NDArray[np.integer], impacts: NDArray[np.uint8], width: int
) -> bytes:
    """Return the cell of postings; all arrays are ``(p,)``, in order of term, then text.

    ``terms`` are the 32 bits of each term without its bucket and its unused bits. ``width`` is the
    number of bytes of a gap.
    """
    first = run_starts(terms)
    counts = np.diff(np.append(first, len(terms)))
    texts = texts.astype(np.int64)
    gaps = np.diff(texts, prepend=0)
    gaps[first] = texts[first]
    plain = b"".join(
        [
            len(first).to_bytes(4, "little"),
            terms[first].astype("<u4").tobytes(),
            counts.astype("<u4").tobytes(),
            *((gaps >> (8 * byte)).astype(np.uint8).tobytes() for byte in range(width)),
            impacts.tobytes(),
        ]
    )
    return bytes((_VERSION, width)) + pack(plain)


def unused_bits(bits: int) -> int:
    """Return how many of a term's last bits a cell leaves out."""
    return TERM_BITS - bits - 32


def pack(plain: bytes) -> bytes:
    """Return the bytes, compressed."""
    return zlib.compress(plain, 1)


def unpack(data: object, most: int | None = None) -> bytes:
    """Return the plain bytes of packed data.

    Raises StoredDataError for data that ``pack`` did not make, or with more than ``most`` bytes
    (``MOST_BYTES`` by default).
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
