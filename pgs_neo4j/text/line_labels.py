"""Finds the names of columns that begin lines of a record, as in ``city: Oslo``."""

from __future__ import annotations

from collections.abc import Set

AFTER = ": "
MOST_TRIED = 8
"""Colons of a line behind which its value may begin; the name of a column has hardly any."""


def find_label(line: str, labels: Set[str]) -> int:
    """Return where the label that begins a line ends, 0 if none of ``labels`` does."""
    end = -1
    for _ in range(MOST_TRIED):
        end = line.find(AFTER, end + 1)
        if end < 0:
            return 0
        if line[:end] in labels:
            return end
    return 0
