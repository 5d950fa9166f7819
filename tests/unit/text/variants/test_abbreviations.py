"""Letters that abbreviate the words beside them, and letters that only stand there."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.variants.abbreviations import (
    abbreviates,
    looks_abbreviated,
    without_plural,
)


@pytest.mark.parametrize(
    ("short", "words", "abbreviated"),
    [
        ("WHO", "WORLD HEALTH ORGANIZATION", True),
        ("DOD", "DEPARTMENT OF DEFENSE", True),
        ("DNA", "DEOXYRIBONUCLEIC ACID", True),
        ("XML", "EXTENSIBLE MARKUP LANGUAGE", True),
        ("MSFT", "MICROSOFT", True),
        ("R&D", "RESEARCH AND DEVELOPMENT", True),
        ("NATO", "NATO", False),
        ("CO", "COLORADO SPRINGS", False),
        ("OHW", "WORLD HEALTH ORGANIZATION", False),
        ("W", "WORLD", False),
        ("AAAAAAAAAAAA", "A A A A A A A A A A A A", False),
        ("ABC", "A " * 12 + "B C", False),
        ("WH", "", False),
    ],
)
def test_each_word_gives_its_first_letter(short: str, words: str, abbreviated: bool) -> None:
    assert abbreviates(short, words.split()) is abbreviated


def test_an_abbreviation_is_one_word_with_two_capitals() -> None:
    assert all(map(looks_abbreviated, ("WHO", "IoT", "U.N.", "R&D", "mRNA", "CO2")))
    assert not any(map(looks_abbreviated, ("Who", "aid", "W H O", "(WHO)", "A", "ABCDEFGHIJK")))


def test_a_plural_loses_its_small_letter_only() -> None:
    assert [*map(without_plural, ("CNNs", "AIDS", "iOS", "s"))] == ["CNN", "AIDS", "iOS", "s"]
