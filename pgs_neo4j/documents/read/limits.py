"""The limits within which a document is read, each with its source.

They follow the size of a file, so that a small file can cost neither much memory nor much time,
while a large ordinary one has what it needs.
"""

from __future__ import annotations

from collections.abc import Mapping

INLINE_BYTES = 64_000
"""Bytes of a text that is read without another process: a few milliseconds for any content."""

LEAST_MB = 256
"""Memory of any document. Parsers hold 20 to 50 MB before they read anything."""
MOST_MB = 1536
"""Memory of a document of any size."""
MB_PER_MB: Mapping[str, int] = {"text": 20, "records": 2, "html": 100, "pdf": 40, "docx": 50}
"""Memory for each megabyte of a file, by its parser.

Ordinary ones take less: text outside of Latin 9, a page of which half is markup 75, and docx 12,
since it is converted in pieces. Records come one after another, so that a larger file
only has more keys that are taken.
"""

RESERVED_MB = 32
"""Memory beyond its limit with which a process still says that the limit was reached."""

LEAST_SECONDS = 15
"""CPU time of any document."""
SECONDS_PER_MB: Mapping[str, float] = {"text": 1, "records": 4, "html": 1, "pdf": 4, "docx": 15}
"""CPU time for each megabyte of a file, by its parser.

Ordinary ones take a third of it or less: a megabyte of a packed docx 5 seconds, of a PDF 0.8, and
a million records of two letters each 20.
"""

MOST_INDENTED = 20
"""Levels of nested lists that are shown by blanks before their items."""
MOST_ATTRIBUTES = 1_000
"""Attributes of a tag of a page, or of an element of a docx; those that tools write have tens."""
MOST_ELEMENTS = 500_000
"""Elements of a table of a docx, or of a part beside its body: some 70,000 cells of text."""
MOST_BLOCK = 100_000
"""Elements of a row or paragraph of a docx. A converter holds about 2 KB for each."""
MOST_CONVERTED = 250_000
"""Elements of a docx that are converted, formats not counted. A book of 1,000 pages has 100,000."""
MOST_OPEN = 1_000_000_000
"""Elements that are open at each tag of a page, summed over its tags: seconds for its parser.

A million tags at 50 levels have a twentieth of it.
"""
MOST_OPTIONS = 500
"""Options of a page from which its lists are read as such that allow several."""
MOST_DEPTH = 20
"""Levels of nested values in a record."""
MOST_VALUES = 200_000
"""Values in a record, about a hundred times those of the widest published tables."""
MOST_COLUMNS = 16_384
"""Columns of a table: those of the widest sheet of Excel and LibreOffice."""
MOST_RECORD = 40_000_000
"""Characters of a record, ten times those of the Bible; it is in memory several times at once."""
MOST_REFUSED = 1_000
"""Records of a file that are refused by name; of the others only the number is told."""
MOST_RATIO = 100
"""How many times its size a file may unpack to, or its records repeat the names of columns."""
SMALL_BYTES = 2**20
"""Unpacked bytes below which the ratio says nothing."""
MOST_MARKS = 30
"""Combining marks in a row, as in the Stream-Safe Text Format of Unicode (UAX 15, 13).

Ordering a run of them takes time with the square of its length.
"""


def memory_mb(kind: str, size: int) -> int:
    """Return the memory in which a document of ``size`` bytes is parsed, in MB."""
    return min(MOST_MB, int(LEAST_MB + MB_PER_MB.get(kind, 0) * size / 1e6))


def cpu_seconds(kind: str, size: int) -> int:
    """Return the CPU time in which a document of ``size`` bytes is parsed."""
    return int(LEAST_SECONDS + SECONDS_PER_MB.get(kind, 0) * size / 1e6)
