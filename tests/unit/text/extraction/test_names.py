from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgs_neo4j.text.extraction.names import (
    LONGEST,
    clean_name,
    entity_key,
    name_fault,
    normalize_name,
)

NAMES = st.text(max_size=40)


@pytest.mark.parametrize(
    ("name", "normalized"),
    [
        ("John Doe", "JOHN_DOE"),
        ("the company", "COMPANY"),
        ("a company", "COMPANY"),
        ("an apple", "APPLE"),
        ("John's team", "JOHN_TEAM"),
        ("John\u2019s team", "JOHN_TEAM"),
        ("James' team", "JAMES'_TEAM"),
        ("The", "THE"),
        ("Theater", "THEATER"),
        ("Another One", "ANOTHER_ONE"),
        ("C++", "C++"),
        ("C#", "C#"),
        (".NET", ".NET"),
        ("U.S.", "U.S."),
        ("Jean-Luc", "JEAN-LUC"),
        ("my_function", "MY_FUNCTION"),
        ('"Quoted"', "QUOTED"),
        ("**Bold**", "BOLD"),
        ("`code`", "CODE"),
        ("Name,", "NAME"),
        ("\uff2a\uff4f\uff48\uff4e", "JOHN"),
        ("Stra\u00dfe", "STRASSE"),
        ("E\u0301lan", "\u00c9LAN"),
        ("Pa\u200bris", "PARIS"),
        ("\ufb01nance", "FINANCE"),
        ("北京 大学", "北京_大学"),
        ("\u0436\u0436", "\u0416\u0416"),
        ("", ""),
        ("''", ""),
    ],
)
def test_spellings_of_a_name(name: str, normalized: str) -> None:
    assert normalize_name(name) == normalized


@given(NAMES)
def test_normalizing_twice_changes_nothing(name: str) -> None:
    once = normalize_name(name)
    assert normalize_name(once) == once


@given(NAMES)
def test_case_width_and_blanks_do_not_matter(name: str) -> None:
    wide = unicodedata.normalize("NFKC", name)
    assert normalize_name(f"  {clean_name(name)}\n") == normalize_name(name)
    assert normalize_name(wide.casefold()) == normalize_name(wide)


@given(NAMES)
def test_a_normalized_name_has_no_blank(name: str) -> None:
    assert not any(map(str.isspace, normalize_name(name)))


def test_a_key_keeps_types_apart() -> None:
    assert entity_key("Paris", "Person") != entity_key("Paris", "Location")
    assert entity_key("the Paris", "location") == entity_key("PARIS", "Location")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("Ada", None),
        ("AI", None),
        ("京", None),
        ("1999", None),
        ("the company", None),
        ("Them!", None),
        ("", "no name"),
        ("?!", "no name"),
        ("x", "no name"),
        ("a", "no name"),
        ("\u200b", "no name"),
        ("She", "pronoun"),
        ("it", "pronoun"),
        ("“they”", "pronoun"),
        ("thing", "generic"),
        ("N/A", "generic"),
        ("Not specified", "generic"),
        ("the entity", "generic"),
        ("x" * (LONGEST + 1), "too long"),
    ],
)
def test_some_texts_are_no_names(name: str, fault: str | None) -> None:
    assert name_fault(name) == fault


@given(NAMES)
def test_any_text_has_an_answer(name: str) -> None:
    if name_fault(name) is None:
        assert normalize_name(name)
        assert 0 < len(clean_name(name)) <= LONGEST


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("  Ada   Lovelace ", "Ada Lovelace"),
        ("Ada\nLovelace", "Ada Lovelace"),
        ('"Ada"', "Ada"),
        ("Ada\u202e", "Ada"),
        ("_Ada_", "Ada"),
        ("O'Brien", "O'Brien"),
        ("the Ada", "the Ada"),
    ],
)
def test_a_shown_name_keeps_its_spelling(name: str, cleaned: str) -> None:
    assert clean_name(name) == cleaned
