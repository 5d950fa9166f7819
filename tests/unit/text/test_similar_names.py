"""How alike names are, and how many letters differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.similar_names import compare_names, edit_distance, split_name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HAS_CEO2", ("has", "ceo", "2")),
        ("nbrEmployees", ("nbr", "employees")),
        ("book45PageRank", ("book", "45", "page", "rank")),
        ("`Größe`", ("große",)),
        ("___", ()),
    ],
)
def test_a_name_is_split_into_words_and_numbers(name: str, words: tuple[str, ...]) -> None:
    assert split_name(name) == words


@pytest.mark.parametrize(
    ("written", "near", "far"),
    [
        ("ACTED", "ACTED_IN", "DIRECTED"),
        ("actedIn", "ACTED_IN", "ACTED"),
        ("AUTHORED", "author", "HAS_CEO"),
        ("MENTIONED_IN", "MENTIONS", "IN_CITY"),
        ("HAS_INDUSTRY", "IndustryCategory", "HAS_INVESTOR"),
        ("Persn", "Person", "Prison"),
        ("SPEAKS_LANGUAGE", "SPOKEN_IN_LANGUAGE", "IN_GENRE"),
        ("releaseYear", "release_year", "year"),
    ],
)
def test_the_nearer_name_is_more_alike(written: str, near: str, far: str) -> None:
    assert compare_names(written, near) > compare_names(written, far)
    assert compare_names(written, near) == compare_names(near, written) > 0.6


def test_names_are_equal_only_if_they_differ_in_case_and_signs() -> None:
    assert compare_names("HAS_CEO", "hasCeo") == 1.0
    assert compare_names("born", "bornIn") < 1.0
    assert compare_names("___", "___") == 0.0


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("matrix", "matrix", 0),
        ("matrix", "martix", 1),
        ("matrix", "matrx", 1),
        ("matrix", "maatrix", 1),
        ("matrix", "mitrix", 1),
        ("ab", "ba", 1),
        ("kitten", "sitting", 3),
        ("", "abc", 3),
    ],
)
def test_swapped_letters_are_one_change(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other, 3) == distance
    assert edit_distance(one, other, 1) == min(distance, 2)


@given(st.text(max_size=12), st.text(max_size=12), st.integers(0, 5))
def test_the_limit_only_bounds_the_distance(one: str, other: str, limit: int) -> None:
    whole = edit_distance(one, other, 30)
    assert whole == edit_distance(other, one, 30) <= max(len(one), len(other))
    assert edit_distance(one, other, limit) == min(whole, limit + 1)
