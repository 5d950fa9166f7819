"""Segments of the text index as the database has them."""

from __future__ import annotations

from collections.abc import Sequence

from pgs_neo4j.search.text_index import SegmentRow
from pgs_neo4j.text.terms.postings import SegmentBuilder

TYPICAL = 10_000.0
"""The typical length of a text, so that lengths make no difference."""


def stored(
    name: str, texts: Sequence[str], partitions: list[tuple[int, int, int]]
) -> tuple[SegmentRow, dict[str, bytes]]:
    """The row of a segment, and its cells; a partition has an id, a first text, and a size."""
    builder = SegmentBuilder(TYPICAL)
    builder.add(texts)
    segment = builder.build()
    row: SegmentRow = {
        "id": name,
        "size": segment.size,
        "bits": segment.bits,
        "partitions": partitions,
    }
    return row, {f"{name}:{bucket}": data for bucket, data in segment.cells.items()}
