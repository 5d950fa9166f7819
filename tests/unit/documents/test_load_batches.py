"""How a load is cut into batches."""

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.documents.batches import batches
from pgs_neo4j.documents.loading.load import row_size


def cut(lengths: list[int], most: int, size: int) -> list[list[int]]:
    """The lengths of the texts in each batch of rows."""
    rows: Iterator[dict[str, Any]] = (
        {"properties": {"text": "x" * length}, "labels": []} for length in lengths
    )
    found = batches(rows, most=most, size=size, size_of=row_size)
    return [[len(row["properties"]["text"]) for row in batch] for batch in found]


def test_a_batch_ends_at_the_number_of_rows_or_before_it_grows_too_large() -> None:
    assert [*map(len, cut([1] * 7, most=3, size=10_000))] == [3, 3, 1]
    assert cut([10, 10, 400, 10], most=100, size=100) == [[10, 10], [400], [10]]
    assert cut([], most=3, size=100) == []


@given(st.lists(st.integers(0, 200)), st.integers(1, 5), st.integers(1, 300))
def test_batches_keep_every_row_in_order(lengths: list[int], most: int, size: int) -> None:
    found = cut(lengths, most, size)
    assert [length for batch in found for length in batch] == lengths
    assert all(0 < len(batch) <= most for batch in found)
