"""Which names of a text an extraction lacks."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.local_extraction.proper_names import MOST_MISSED, capital_runs, missed_names
from tests.unit.text.conftest import chunk_of

TEXT = "They met Ann Lee and Bob Day in Oslo. The harbor was full of ships, as ships are."


def test_names_with_capitals_are_missed_and_words_are_not() -> None:
    assert {*missed_names([chunk_of(TEXT)], [])} == {"Ann Lee", "Bob Day", "Oslo"}


@pytest.mark.parametrize("found", ["Ann Lee", "ann lee", "Captain Ann Lee", "Lee"])
def test_a_name_is_found_by_a_longer_or_shorter_one(found: str) -> None:
    assert {*missed_names([chunk_of(TEXT)], [found])} == {"Bob Day", "Oslo"}


def test_a_name_is_missed_once_in_several_chunks() -> None:
    chunks = [chunk_of(TEXT), chunk_of("Later they saw Ann Lee again.")]
    assert sorted(missed_names(chunks, [])) == ["Ann Lee", "Bob Day", "Oslo"]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("Ships left. They met Ann Lee, Bob Day and the University of Oslo.",
         ["Ann Lee", "Bob Day", "University of Oslo"]),
        ("Ships left.\n\nAnn Lee saw C++ and NATO's B2B in 1999.",
         ["Ann Lee", "C++", "NATO B2B"]),
        ("Paris.", []),
    ],
)  # fmt: skip
def test_capitals_are_found_without_counting_words(text: str, runs: list[str]) -> None:
    assert [*capital_runs(chunk_of(text))] == runs


def test_scripts_without_capitals_miss_nothing() -> None:
    assert (
        missed_names([chunk_of("\u6771\u4eac\u306f\u65e5\u672c\u306b\u3042\u308b\u3002")], []) == []
    )


def test_what_is_told_is_bounded() -> None:
    names = (f"{first}{second}da" for first in "ABCDEFGH" for second in "aeiouy")
    text = " ".join(f"They saw {name}." for name in names)
    assert len(missed_names([chunk_of(text)], [])) <= MOST_MISSED
