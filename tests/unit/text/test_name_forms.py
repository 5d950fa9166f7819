"""Names taken apart: what a spelling may leave out, and what it may not."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.name_forms import (
    NameForm,
    abbreviates,
    is_number,
    legal_form,
    looks_abbreviated,
    name_form,
    without_plural,
)


def form(name: str, kind: str = "Concept") -> NameForm:
    return name_form(normalize_name(name), kind)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("World Health Organization", "Organization", ("WORLD", "HEALTH", "ORGANIZATION")),
        ("Jean-Luc Picard", "Person", ("JEAN", "LUC", "PICARD")),
        ("Picard, Jean-Luc", "Person", ("JEAN", "LUC", "PICARD")),
        ("J.R. Smith", "Person", ("J", "R", "SMITH")),
        ("Dr. Who", "Person", ("DR", "WHO")),
        ("Johnson & Johnson", "Organization", ("JOHNSON", "AND", "JOHNSON")),
        ("Åsa Müller", "Person", ("ASA", "MULLER")),
        ("C++", "Technology", ("C++",)),
    ],
)
def test_words_of_a_name(name: str, kind: str, words: tuple[str, ...]) -> None:
    assert form(name, kind).words == words


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("e-mail", "email", True),
        ("W.H.O.", "WHO", True),
        ("O\u2019Brien", "OBrien", True),
        ("Python 3", "Python3", True),
        ("Café Noir", "Cafe Noir", True),
        ("Python 3.5", "Python 35", False),
        ("1-2", "12", False),
        ("Apollo 1 1", "Apollo 11", False),
        (".NET", "NET", False),
        ("かき", "がき", False),
        ("Henry IV", "Henry V", False),
    ],
)
def test_spellings_of_the_same_letters_words_and_numbers(one: str, other: str, same: bool) -> None:
    assert form(one).spells(form(other)) is same
    assert form(other).spells(form(one)) is same


@pytest.mark.parametrize(
    ("name", "words", "legal"),
    [
        ("Acme, Inc.", ("ACME",), "INC"),
        ("Acme Foods Co., Ltd.", ("ACME", "FOODS"), "LTD"),
        ("Acme Pty Ltd", ("ACME",), "LTD"),
        ("Acme", ("ACME",), ""),
        ("Limited", ("LIMITED",), ""),
        ("Apple Corps", ("APPLE", "CORPS"), ""),
    ],
)
def test_legal_form_of_a_company(name: str, words: tuple[str, ...], legal: str) -> None:
    found, ending = legal_form(form(name, "Organization"))
    assert (found.words, ending) == (words, legal)


def test_a_word_with_a_digit_is_a_number() -> None:
    assert is_number("B12")
    assert not is_number("XII")


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
