"""Which stored value a misspelled one means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.near_values import LONGEST_VALUE, find_nearest, make_filter

STORED = (
    "Tom Hanks", "Keanu Reeves", "Hugo Weaving", "José Álvarez", "Bjørn Ærø", "Müller", "O'Hara",
    "The Matrix", "The Matrix Reloaded", "Rocky II", "Vitamin C", "Plan 9 from Outer Space",
    "C#", "C++", "C", "neo4j", "spring-boot", "directed-graph", "Iraq", "ALFKI", "D10001",
    "Straße", "Λόγος",
)  # fmt: skip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("tom hanks", "Tom Hanks"),
        ("TOM  HANKS", "Tom Hanks"),
        ("Tom Hank", "Tom Hanks"),
        ("Tmo Hanks", "Tom Hanks"),
        ("Tom Hankes", "Tom Hanks"),
        ("Reeves, Keanu", "Keanu Reeves"),
        ("Kaenu Reves", "Keanu Reeves"),
        ("Keanu Reeves actor", "Keanu Reeves"),
        ("Jose Alvarez", "José Álvarez"),
        ("bjorn aero", "Bjørn Ærø"),
        ("Mueller", "Müller"),
        ("ohara", "O'Hara"),
        ("Matrix, The", "The Matrix"),
        ("matrix", "The Matrix"),
        ("Matrx Reloaded", "The Matrix Reloaded"),
        ("rocky ii", "Rocky II"),
        ("Plan 9 from Outer Spce", "Plan 9 from Outer Space"),
        ("c", "C"),
        ("Neo4J", "neo4j"),
        ("Spring Boot", "spring-boot"),
        ("alfki", "ALFKI"),
        ("STRASSE", "Straße"),
        ("λογοσ", "Λόγος"),
    ],
)
def test_the_value_that_was_meant_is_found(written: str, meant: str) -> None:
    assert find_nearest(written, STORED) == meant


@pytest.mark.parametrize(
    "written",
    [
        "", "  ", "?", "Tom", "Tom Cruise", "Rocky III", "Rocky", "Vitamin D", "Vitamin", "C+", "D",
        "Plan 8 from Outer Space", "neo5j", "spring", "Iran", "Irak", "undirected-graph", "10001",
        "Matrix Revolutions", "x" * 300, "Hugo", "reeves weaving",
    ],
)  # fmt: skip
def test_another_value_is_not_taken_for_a_stored_one(written: str) -> None:
    assert find_nearest(written, STORED) is None


def test_none_is_chosen_if_several_are_equally_near() -> None:
    assert find_nearest("tom hanks", ["Tom Hanks", "TOM HANKS"]) is None
    assert find_nearest("Tom Hanky", ["Tom Hanks", "Tom Hanke"]) is None
    assert find_nearest("Tom Hanky", ["Tom Hanks", "Tom Hanks"]) == "Tom Hanks"
    assert find_nearest("the the", ["a the an"]) is None
    assert find_nearest("jose", ["José", "Joseph", "Jose."]) == "José"


def test_letters_stay_if_only_equal_ones_are_allowed() -> None:
    assert find_nearest("tom-hanks", STORED, exactly=True) == "Tom Hanks"
    assert find_nearest("Tom Hank", STORED, exactly=True) is None
    assert find_nearest("Hanks, Tom", STORED, exactly=True) is None


def test_long_values_are_texts_and_never_meant() -> None:
    long = "word " * (LONGEST_VALUE // 5) + "end"
    assert find_nearest(long[:-1], [long]) is None
    assert find_nearest(long[:-10], [long]) is None


NAMES = st.lists(
    st.text(st.characters(codec="ascii", categories=["L"]), min_size=2, max_size=9), max_size=6
).map(" ".join)


@given(NAMES, st.integers(0, 60), st.sampled_from("abxyz"), st.sampled_from("dars"))
def test_a_filter_lets_each_value_pass_that_may_be_chosen(
    value: str, place: int, letter: str, fault: str
) -> None:
    """The fault is a letter that is dropped, added, replaced, or swapped with the next."""
    at = place % (len(value) + 1)
    rest = value[at + 1 :]
    written = {
        "d": value[:at] + rest,
        "a": value[:at] + letter + value[at:],
        "r": value[:at] + letter + rest,
        "s": value[:at] + rest[:1] + value[at : at + 1] + rest[1:],
    }[fault]
    wanted = make_filter(written)
    if find_nearest(written, [value]) is not None:
        assert wanted.shortest <= len(value) <= wanted.longest
        assert sum(part in value.lower() for part in wanted.parts) >= wanted.least


def test_the_filter_of_a_long_value_tells_most_others_apart() -> None:
    wanted = make_filter("Plan 9 from Outer Spce")
    assert [
        value
        for value in STORED
        if wanted.shortest <= len(value) <= wanted.longest
        and sum(part in value.lower() for part in wanted.parts) >= wanted.least
    ] == ["Plan 9 from Outer Space"]
