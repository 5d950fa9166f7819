"""Names taken apart: what a spelling may leave out, and what it may not."""

from __future__ import annotations

import pytest

from pgs_neo4j.text.extraction.names import normalize_name
from pgs_neo4j.text.variants.forms import NameForm, is_number, legal_form, name_form


def form(name: str, kind: str = "Concept") -> NameForm:
    return name_form(normalize_name(name), kind)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("World Health Organization", "Organization", ("WORLD", "HEALTH", "ORGANIZATION")),
        ("Jean-Luc Picard", "Person", ("JEAN", "LUC", "PICARD")),
        ("Picard, Jean-Luc", "Person", ("JEAN", "LUC", "PICARD")),
        ("Paris, France", "Location", ("PARIS", "FRANCE")),
        ("J.R. Smith", "Person", ("J", "R", "SMITH")),
        ("Prof. Dr. Ada Byron", "Person", ("ADA", "BYRON")),
        ("Dr. Who", "Person", ("DR", "WHO")),
        ("Johnson & Johnson", "Organization", ("JOHNSON", "AND", "JOHNSON")),
        ("Åsa Müller", "Person", ("ASA", "MULLER")),
        ("C++", "Technology", ("C++",)),
        (".NET", "Technology", (".NET",)),
    ],
)
def test_words_of_a_name(name: str, kind: str, words: tuple[str, ...]) -> None:
    assert form(name, kind).words == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("e-mail", "email"),
        ("data-driven", "data driven"),
        ("W.H.O.", "WHO"),
        ("U.S.A.", "USA"),
        ("O\u2019Brien", "OBrien"),
        ("Python 3", "Python3"),
        ("COVID-19", "COVID 19"),
        ("Node.js", "NodeJS"),
        ("AT&T", "AT&T."),
        ("Café Noir", "Cafe Noir"),
        ("St. Louis", "St Louis"),
    ],
)
def test_spellings_of_the_same_letters(one: str, other: str) -> None:
    assert form(one).spells(form(other))
    assert form(other).spells(form(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Python 3.5", "Python 35"),
        ("1-2", "12"),
        ("Apollo 1 1", "Apollo 11"),
        ("New Port", "Newport"),
        ("C++", "C"),
        (".NET", "NET"),
        ("かき", "がき"),
        ("Henry IV", "Henry V"),
    ],
)
def test_other_letters_words_or_numbers(one: str, other: str) -> None:
    assert not form(one).spells(form(other))


@pytest.mark.parametrize(
    ("name", "words", "legal"),
    [
        ("Acme, Inc.", ("ACME",), "INC"),
        ("Acme Incorporated", ("ACME",), "INC"),
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
