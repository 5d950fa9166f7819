"""Blanks the names of columns before the values of a record, which are its only content."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from pgs_neo4j.model.documents import Chunk
from pgs_neo4j.text.line_labels import find_label


def blank_labels(chunk: Chunk) -> Chunk:
    """Return a chunk with blanks for the labels of its lines; all places stay as they are.

    The colon stays, so that a name behind it is not taken for the beginning of a sentence.
    """
    if not chunk.labels:
        return chunk
    labels = _set_of(chunk.labels)
    lines = (_blank(line, labels) for line in chunk.text.split("\n"))
    return replace(chunk, text="\n".join(lines))


def _blank(line: str, labels: frozenset[str]) -> str:
    end = find_label(line, labels)
    return " " * end + line[end:] if end else line


@lru_cache(maxsize=8)
def _set_of(labels: tuple[str, ...]) -> frozenset[str]:
    return frozenset(labels)
