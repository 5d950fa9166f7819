"""Names in the order in which people count."""

from __future__ import annotations

from random import Random

from pgs_neo4j.text.natural_order import natural_key


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
