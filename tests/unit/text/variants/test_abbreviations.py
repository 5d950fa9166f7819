"""Letters that abbreviate the words beside them, and letters that only stand there."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.variants.abbreviations import (
    abbreviates,
    looks_abbreviated,
    without_plural,
)


@pytest.mark.parametrize(
    ("short", "words"),
    [
        ("WHO", "WORLD HEALTH ORGANIZATION"),
        ("DOD", "DEPARTMENT OF DEFENSE"),
        ("FAO", "FOOD AND AGRICULTURE ORGANIZATION"),
        ("DNA", "DEOXYRIBONUCLEIC ACID"),
        ("XML", "EXTENSIBLE MARKUP LANGUAGE"),
        ("HTML", "HYPERTEXT MARKUP LANGUAGE"),
        ("MRNA", "MESSENGER RNA"),
        ("MSFT", "MICROSOFT"),
        ("R&D", "RESEARCH AND DEVELOPMENT"),
        ("UK", "UNITED KINGDOM"),
    ],
)
def test_each_word_gives_its_first_letter(short: str, words: str) -> None:
    assert abbreviates(short, words.split())


@pytest.mark.parametrize(
    ("short", "words"),
    [
        ("CO", "COLORADO SPRINGS"),
        ("MIT", "TOM MITCHELL"),
        ("OHW", "WORLD HEALTH ORGANIZATION"),
        ("WHOX", "WORLD HEALTH ORGANIZATION"),
        ("W", "WORLD"),
        ("NATO", "NATO"),
        ("AAAAAAAAAAAA", "A A A A A A A A A A A A"),
        ("ABC", "A " * 12 + "B C"),
        ("PSF", "PYTHON"),
        ("WH", ""),
    ],
)
def test_other_letters_abbreviate_nothing(short: str, words: str) -> None:
    assert not abbreviates(short, words.split())


def test_an_abbreviation_is_one_word_with_two_capitals() -> None:
    assert all(map(looks_abbreviated, ("WHO", "IoT", "U.N.", "R&D", "mRNA", "CO2")))
    assert not any(map(looks_abbreviated, ("Who", "aid", "W H O", "(WHO)", "A", "ABCDEFGHIJK")))


def test_a_plural_loses_its_small_letter_only() -> None:
    assert [*map(without_plural, ("CNNs", "AIDS", "iOS", "s"))] == ["CNN", "AIDS", "iOS", "s"]
