"""Numbers that are said have to stand in the sources, in whatever spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.extraction.numbers import keep_known_numbers, numbers_in


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2,100,000", "2100000", True),
        ("on 01.", "on 1", True),
        ("\uff11\uff19\uff19\uff19", "1999", True),
        ("the 1990s", "in 1990", True),
        ("0", "000", True),
        ("1,5", "1,5", True),
        ("19", "1999", False),
        ("1.5", "15", False),
        ("1,5", "15", False),
        ("x", "1", False),
    ],
)
def test_a_number_is_the_same_in_other_spellings(one: str, other: str, same: bool) -> None:
    assert (numbers_in(one) == numbers_in(other)) is same
    assert numbers_in(other)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("It began in 1850.", "It began in 1850."),
        ("It began in 1851.", ""),
        (
            "It began in 1851. It grows tea. It has 1,850 ships.",
            "It grows tea. It has 1,850 ships.",
        ),
        ("", ""),
    ],
)
def test_sentences_with_other_numbers_are_left_out(said: str, kept: str) -> None:
    assert keep_known_numbers(said, numbers_in("In 1850 there were 7.")) == kept


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_other_number_is_ever_kept(said: str, source: str) -> None:
    known = numbers_in(source)
    assert numbers_in(keep_known_numbers(said, known)) <= known
    assert keep_known_numbers(said, numbers_in(said)) == said
