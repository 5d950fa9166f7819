"""Names in the order in which people count."""

from __future__ import annotations

from random import Random

from pgs_neo4j.text.natural_order import document_key, natural_key


def test_numbers_in_names_are_in_the_order_of_their_values() -> None:
    places = ["a.csv#line 8", "a.csv#line 9", "a.csv#line 15", "a.csv#line 1,019", "b.csv#2"]
    shuffled = places[:]
    Random(1).shuffle(shuffled)
    assert sorted(shuffled, key=natural_key) == places
    names = ["2.md", "10.md", "a", "a/2/b", "a/10/b", "v1.2", "v1.10", "1,5"]
    assert sorted(sorted(names), key=natural_key) == [
        "1,5", "2.md", "10.md", "a", "a/2/b", "a/10/b", "v1.2", "v1.10",
    ]  # fmt: skip


def test_equal_numbers_keep_an_order_of_their_own() -> None:
    assert sorted(["a01", "a1", "a001"], key=natural_key) == ["a001", "a01", "a1"]
    assert natural_key("a01") != natural_key("a1")


def test_records_without_keys_are_in_the_order_of_their_titles() -> None:
    """Their hashes put line 15 before line 8, and look as if nothing were sorted."""
    documents = [
        ("a.csv#9", "Ninth"),
        ("a.csv#10", "Tenth"),
        ("lines.jsonl#c1983cd2920d1517", "Line 1"),
        ("lines.jsonl#38080b12b125fdc2", "Line 8"),
        ("lines.jsonl#48412a984831f2cd", "Line 15"),
        ("lines.jsonl#48412a984831f2ce", "Line 15"),
        ("notes.md", "A title"),
    ]
    shuffled = documents[:]
    Random(1).shuffle(shuffled)
    assert sorted(shuffled, key=lambda one: document_key(*one)) == documents
    assert document_key("notes.md", "A title") == document_key("notes.md", "")
