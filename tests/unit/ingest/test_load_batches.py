"""How a load is cut into batches and what its label is called."""

from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.ingest.batches import batches
from pgs_neo4j.ingest.load import graph_label, row_size


def rows(*lengths: int) -> list[dict[str, object]]:
    return [{"properties": {"text": "x" * length}, "labels": []} for length in lengths]


def test_a_batch_ends_at_the_number_of_rows() -> None:
    assert [
        len(b) for b in batches(iter(rows(*[1] * 7)), most=3, size=10_000, size_of=row_size)
    ] == [3, 3, 1]


def test_a_batch_ends_before_it_grows_too_large() -> None:
    found = list(batches(iter(rows(10, 10, 400, 10)), most=100, size=100, size_of=row_size))
    assert [len(b) for b in found] == [2, 1, 1]


def test_no_rows_give_no_batch() -> None:
    assert list(batches(iter([]), most=3, size=100, size_of=row_size)) == []


@given(st.lists(st.integers(0, 200)), st.integers(1, 5), st.integers(1, 300))
def test_batches_keep_every_row_in_order(lengths: list[int], most: int, size: int) -> None:
    given_rows = rows(*lengths)
    found = list(batches(iter(given_rows), most=most, size=size, size_of=row_size))
    assert [row for batch in found for row in batch] == given_rows
    assert all(0 < len(batch) <= most for batch in found)


def test_the_label_is_the_name_in_pascal_case() -> None:
    assert graph_label("physics2") == "Physics2"
    assert graph_label("my-graph of_things 2") == "MyGraphOfThings2"
    assert graph_label("größe") == "Größe"
    assert graph_label("…") == ""
