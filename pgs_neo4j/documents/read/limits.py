"""Defines the limits within which a document is read, each with its reason.

Memory and time depend on the size of a file. So a small file cannot use much of either, but a large
ordinary file gets what it needs.
"""

from __future__ import annotations

from collections.abc import Mapping

INLINE_BYTES = 64_000
"""Maximum bytes of a text that is read without a second process. This takes a few milliseconds."""

LEAST_MB = 256
"""Memory in MB that any document may use. Parsers need 20 to 50 MB before they read anything."""
MOST_MB = 1536
"""Maximum memory in MB for a document of any size."""
MB_PER_MB: Mapping[str, int] = {"text": 20, "records": 2, "html": 100, "pdf": 40, "docx": 50}
"""Additional memory in MB for each megabyte of a file, by parser.

Ordinary files need less: 9 for text in a script other than Latin, 75 for a page that is half
markup, and 12 for docx, which is converted in pieces. Records are read one after another, so a
larger file needs more memory only for their keys.
"""

RESERVED_MB = 32
"""Reserved memory in MB beyond the limit, with which a process can report that it reached the
limit."""

LEAST_SECONDS = 15
"""CPU time in seconds that any document may use."""
SECONDS_PER_MB: Mapping[str, float] = {"text": 1, "records": 4, "html": 1, "pdf": 4, "docx": 15}
"""Additional CPU time in seconds for each megabyte of a file, by parser.

Ordinary files need at most a third of this: 5 seconds for a megabyte of packed docx, 0.8 for a
megabyte of PDF, and 20 for a million records of two letters.
"""

MOST_INDENTED = 20
"""Maximum levels of nested lists to show by indentation."""
MOST_ATTRIBUTES = 1_000
"""Maximum attributes of a tag in a page, or of an element in a docx. Programs write fewer than
100."""
MOST_ELEMENTS = 500_000
"""Maximum elements of a table in a docx, or of a part outside its body: about 70,000 cells of
text."""
MOST_BLOCK = 100_000
"""Maximum elements of a row or paragraph in a docx. The converter needs about 2 KB for each
element."""
MOST_CONVERTED = 250_000
"""Maximum elements of a docx to convert, without formats. A book of 1,000 pages has 100,000."""
MOST_OPEN = 1_000_000_000
"""Maximum of the number of open elements, summed over all tags of a page.

The parser takes seconds for this many. A million tags at 50 levels reach a twentieth of the limit.
"""
MOST_OPTIONS = 500
"""Number of options in a page above which its selection lists are changed to allow several
choices."""
MOST_DEPTH = 20
"""Maximum levels of nested values in a record."""
MOST_VALUES = 200_000
"""Maximum values in a record, about a hundred times as many as in the widest published tables."""
MOST_COLUMNS = 16_384
"""Maximum columns of a table, the same as in Excel and LibreOffice."""
MOST_RECORD = 40_000_000
"""Maximum characters of a record, ten times the length of the Bible. Memory contains several copies
of a record."""
MOST_REFUSED = 1_000
"""Maximum refused records of a file to name. Further refused records are only counted."""
MOST_RATIO = 100
"""Maximum factor by which unpacking or repeated column names may multiply a file's size."""
SMALL_BYTES = 2**20
"""Unpacked bytes up to which the ratio is not checked."""
MOST_MARKS = 30
"""Maximum consecutive combining marks, as in Unicode's Stream-Safe Text Format (UAX 15, 13).

The time to sort combining marks grows with the square of their number.
"""


def memory_mb(kind: str, size: int) -> int:
    """Return the memory limit for parsing a document of ``size`` bytes, in MB."""
    return min(MOST_MB, int(LEAST_MB + MB_PER_MB.get(kind, 0) * size / 1e6))


def cpu_seconds(kind: str, size: int) -> int:
    """Return the limit of CPU time for parsing a document of ``size`` bytes, in seconds."""
    return int(LEAST_SECONDS + SECONDS_PER_MB.get(kind, 0) * size / 1e6)
