"""The reference of the benchmark of searches by words."""

from __future__ import annotations

import pytest

from tests.bench.by_words import Reference

pytest.importorskip("snowballstemmer", reason="the reference needs snowballstemmer")


def test_the_reference_knows_forms_of_words_and_counts_repeated_ones() -> None:
    reference = Reference({"a": "Melting glaciers", "b": "the courts decide", "c": "of the"})
    assert reference.rank("A glacier melted", 1.2, 0.75) == ["a"]
    assert reference.rank("glacier, court, courts", 1.2, 0.75) == ["b", "a"]
    assert reference.rank("of the", 1.2, 0.75) == []
