"""Finds the column names that begin a record's lines, as in ``city: Oslo``, and blanks them out."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import lru_cache

from pgs_neo4j.model.documents import Chunk

AFTER = ": "
MOST_TRIED = 8
"""Maximum number of colons that are tried as the end of a label; column names rarely have one."""


def find_label(line: str, labels: Set[str]) -> int:
    """Return the end of the label that begins a line, or 0 if none of ``labels`` does."""
    end = -1
    for _ in range(MOST_TRIED):
        end = line.find(AFTER, end + 1)
        if end < 0:
            return 0
        if line[:end] in labels:
            return end
    return 0


def blank_labels(chunk: Chunk) -> Chunk:
    """Return a chunk with blanks in place of the labels of its lines; all places stay the same.

    The colon stays, so that a name after it does not look like the beginning of a sentence.
    """
    if not chunk.labels:
        return chunk
    labels = _make_set(chunk.labels)
    lines = (_blank_line(line, labels) for line in chunk.text.split("\n"))
    return replace(chunk, text="\n".join(lines))


def _blank_line(line: str, labels: frozenset[str]) -> str:
    end = find_label(line, labels)
    return " " * end + line[end:] if end else line


@lru_cache(maxsize=8)
def _make_set(labels: tuple[str, ...]) -> frozenset[str]:
    return frozenset(labels)
